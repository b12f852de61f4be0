"""What a run found out: one outcome a conversation, and the sum of them."""

from __future__ import annotations

from typing import Literal

import msgspec

from jarvis_ops.model.conversation import Kind
from jarvis_ops.model.finding import Finding

SCHEMA = "jarvis-ops/1"

Status = Literal["clean", "found", "planned", "applied", "left", "skipped", "failed"]
# From harmless to grave; the status of a report is the gravest of its outcomes.
STATUSES: tuple[Status, ...] = ("clean", "applied", "found", "planned", "left", "skipped", "failed")


class Problem(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that could not be done, as the `errors` of a report list it."""

    code: str
    message: str
    conversation: str | None = None


class Outcome(msgspec.Struct, kw_only=True):
    """What came of one conversation; `conversation` None is the store as a whole."""

    conversation: str | None
    status: Status
    session_id: str | None = None
    parent: str | None = None
    dialect: str | None = None
    records: int = 0
    bytes: int = 0
    accepted: int = 0
    findings: list[Finding] = []
    errors: list[Problem] = []


class SessionOutcome(Outcome, kw_only=True):
    """One conversation as `sessions` lists it.

    `last_record_at` and `archived_at` are UTC instants (ISO 8601), None when not known. `state` is the one in
    the metadata, else active or idle by the age of the last record.
    """

    kind: Kind
    parts: int = 0
    last_record_at: str | None = None
    state: str = "idle"
    archived_at: str | None = None


class Counts(msgspec.Struct, kw_only=True):
    """Sums over all outcomes of a run; `findings` counts by rule.

    `unchanged` were judged clean by an earlier run and not read again. `unlisted` findings, or conversations of
    a listing, are counted but were left out of it (`--limit`).
    """

    conversations: int = 0
    clean: int = 0
    found: int = 0
    planned: int = 0
    applied: int = 0
    left: int = 0
    skipped: int = 0
    failed: int = 0
    records: int = 0
    bytes: int = 0
    accepted: int = 0
    unchanged: int = 0
    unlisted: int = 0
    findings: dict[str, int] = {}


class Report(msgspec.Struct, kw_only=True):
    """The JSON document that a command prints."""

    schema: str = SCHEMA
    command: str
    store: str
    store_from: str
    status: Status = "clean"
    exit_code: int = 0
    counts: Counts = msgspec.field(default_factory=Counts)
    outcomes: list[Outcome] = []
    errors: list[Problem] = []


class SessionsReport(Report, kw_only=True):
    """The JSON document of `sessions`."""

    outcomes: list[SessionOutcome] = []  # type: ignore[assignment]


class OutcomeLine(Outcome, kw_only=True, tag_field="type", tag="outcome"):
    """One outcome as a line of `--output jsonl`."""


class SessionLine(SessionOutcome, kw_only=True, tag_field="type", tag="outcome"):
    """One conversation as a line of `sessions --output jsonl`."""


class ErrorLine(Problem, frozen=True, tag_field="type", tag="error"):
    """One error as a line of `--output jsonl`."""


class SummaryLine(msgspec.Struct, kw_only=True, tag_field="type", tag="summary"):
    """The last line of `--output jsonl`."""

    schema: str = SCHEMA
    command: str
    store: str
    store_from: str
    status: Status
    exit_code: int
    counts: Counts
