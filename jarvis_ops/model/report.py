"""What a run found out: one outcome a conversation, and the sum of them."""

from __future__ import annotations

from typing import Literal

import msgspec

from jarvis_ops.model.conversation import Kind
from jarvis_ops.model.finding import Finding
from jarvis_ops.model.plan import Step
from jarvis_ops.model.run import Freed, Level, Recovered, RunState

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


class HealOutcome(Outcome, kw_only=True):
    """What is planned for one conversation, or was done to it; `undoes` is the run that is taken back, if any.

    `steps` are in the order of the record. `run` is set once something was changed. `recovered` are sentences on what
    an interrupted run had left and was dealt with first. `held` counts repairs that wait for an option, by what they
    are (lossy, asked, sealed). `refused` are sentences on what cannot be mended and why. `reachable` are the messages
    that a tree's last leaf leads to, before and after. `unbinds` counts signed thinking blocks that no longer stand
    behind the history they were signed with, `references` places outside the log that name a record which is taken
    away. `writer_check` says how it was known that nobody else was writing; `late_lines` were written all the same,
    and kept. The other `lines_` count records; `lines_changed` keep their place and get other bytes.
    """

    run: str | None = None
    undoes: str | None = None
    steps: list[Step] = []
    recovered: list[str] = []
    held: dict[str, int] = {}
    refused: list[str] = []
    reachable: tuple[int, int] | None = None
    unbinds: int = 0
    references: int = 0
    writer_check: Level | None = None
    late_lines: int = 0
    lines_kept: int = 0
    lines_moved: int = 0
    lines_added: int = 0
    lines_quarantined: int = 0
    lines_changed: int = 0
    bytes_quarantined: int = 0


class RecoverOutcome(Outcome, kw_only=True):
    """What interrupted runs left of one conversation: `unfinished` names them, `recovered` says what was done."""

    unfinished: list[str] = []
    recovered: list[Recovered] = []


class RunOutcome(Outcome, kw_only=True):
    """One conversation of a run that is remembered; `bytes_held` is what its backups cost, in bytes.

    `undoes` is the run that this one took back. `backups` are files.
    """

    run: str
    command: str
    state: RunState
    steps: list[Step] = []
    backups: list[str] = []
    bytes_held: int = 0
    undoes: str | None = None


class GcOutcome(Outcome, kw_only=True):
    """What our own folders hold from before an instant (UTC, ISO 8601), and need hold no longer."""

    before: str
    files: list[Freed] = []


class Undecided(msgspec.Struct, frozen=True):
    """Rows of one conversation that have one time and whose order is not certain, and why; the time as stored."""

    conversation: str
    time: str
    rows: int
    why: str


class MigrateOutcome(Outcome, kw_only=True):
    """What numbering the rows of a table will do, or did; `records` are its rows as far as the database knows.

    `column` is the state in which the order column was found. `moments` are the groups of rows of one conversation
    that have one time, `changed` those of them that pair only in another order than the one in which their rows are
    numbered or were written, `undecided` those of which more than one order is possible. `updated` and `traceless` are
    rows in them of whose writing nothing is known any more. `seconds`, `disk_bytes` and `wal_bytes` are what the work
    takes at most, by estimate. `roles` may add rows and could not number them. `waited_ms` is the longest time for
    which others were kept from the table.
    """

    table: str = ""
    column: Literal["missing", "partial", "complete", ""] = ""
    steps: list[str] = []
    notes: list[str] = []
    moments: int = 0
    changed: int = 0
    undecided: list[Undecided] = []
    updated: int = 0
    traceless: int = 0
    seconds: float = 0
    disk_bytes: int = 0
    wal_bytes: int = 0
    roles: list[str] = []
    run: str | None = None
    waited_ms: int | None = None


class Counts(msgspec.Struct, kw_only=True):
    """Sums over all outcomes of a run; `findings` counts by rule.

    `unchanged` were judged clean by an earlier run and not read again. `unlisted` findings, or conversations of
    a listing, are counted but were left out of it (`--limit`). `held` counts repairs that wait for an option, by what
    they are. The `lines_` fields sum those of the outcomes.
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
    held: dict[str, int] = {}
    lines_kept: int = 0
    lines_moved: int = 0
    lines_added: int = 0
    lines_quarantined: int = 0
    lines_changed: int = 0
    bytes_quarantined: int = 0


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


class HealReport(Report, kw_only=True):
    """The JSON document of `heal` and of `undo`."""

    outcomes: list[HealOutcome] = []  # type: ignore[assignment]


class RecoverReport(Report, kw_only=True):
    """The JSON document of `recover`."""

    outcomes: list[RecoverOutcome] = []  # type: ignore[assignment]


class RunsReport(Report, kw_only=True):
    """The JSON document of `runs`."""

    outcomes: list[RunOutcome] = []  # type: ignore[assignment]


class GcReport(Report, kw_only=True):
    """The JSON document of `gc`."""

    outcomes: list[GcOutcome] = []  # type: ignore[assignment]


class MigrateReport(Report, kw_only=True):
    """The JSON document of `migrate-seq`."""

    outcomes: list[MigrateOutcome] = []  # type: ignore[assignment]


class OutcomeLine(Outcome, kw_only=True, tag_field="type", tag="outcome"):
    """One outcome as a line of `--output jsonl`."""


class SessionLine(SessionOutcome, kw_only=True, tag_field="type", tag="outcome"):
    """One conversation as a line of `sessions --output jsonl`."""


class HealLine(HealOutcome, kw_only=True, tag_field="type", tag="outcome"):
    """One conversation as a line of `heal --output jsonl` and of `undo`."""


class RecoverLine(RecoverOutcome, kw_only=True, tag_field="type", tag="outcome"):
    """One conversation as a line of `recover --output jsonl`."""


class RunLine(RunOutcome, kw_only=True, tag_field="type", tag="outcome"):
    """One conversation of a run as a line of `runs --output jsonl`."""


class GcLine(GcOutcome, kw_only=True, tag_field="type", tag="outcome"):
    """All of it as a line of `gc --output jsonl`."""


class MigrateLine(MigrateOutcome, kw_only=True, tag_field="type", tag="outcome"):
    """The numbering of a table as a line of `migrate-seq --output jsonl`."""


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
