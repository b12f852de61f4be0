"""Conversations written as lines, put into tables; and the findings of a store, by what they are about."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import psycopg

from jarvis_ops.model.finding import Finding
from jarvis_ops.model.profile import Profile
from jarvis_ops.model.report import Outcome
from jarvis_ops.model.settings import Settings
from jarvis_ops.operations.rows import verify_rows
from jarvis_ops.stores.postgres.profiles import JARVIS
from jarvis_ops.stores.postgres.store import PostgresStore
from tests.faults_jarvis import (
    Fault,
    answer_between,
    bad_arguments,
    bad_call_id,
    bad_shape,
    duplicate_call_id,
    duplicate_result,
    orphan_result,
    result_first,
    unanswered_call,
    user_between,
)
from tests.generate import NOW, START
from tests.postgres.tables import Variant, add_rows, add_sessions

# What a row can have as well as a line.
FAULTS: tuple[Fault, ...] = (
    answer_between, bad_arguments, bad_call_id, bad_shape, duplicate_call_id, duplicate_result, orphan_result,
    result_first, unanswered_call, user_between,
)  # fmt: skip
# What a finding is about, wherever it stands: its rule, severity, record and call.
About = tuple[str, str, str | None, str | None]


def messages(lines: Iterable[bytes]) -> list[dict[str, Any]]:
    """The messages among the lines of a log. What has no id gets one, since a row has a key."""
    numbers = itertools.count(1)
    values = [json.loads(line) for line in lines if line.strip()]
    return [{"id": f"row{next(numbers)}", **value} for value in values if "role" in value]


def row_of(message: Mapping[str, Any], session: str, number: int, variant: Variant) -> dict[str, Any]:
    """A message as a row. Every row has a millisecond of its own where no number orders them."""
    content = message.get("content")
    row: dict[str, Any] = {"id": message["id"], "session_id": session, "role": message["role"]}
    inner = {name: message[name] for name in ("tool_calls", "tool_call_id") if name in message}
    if variant.calls:
        row |= inner
    elif inner:
        content = {"text": content if isinstance(content, str) else "", **inner}
    stored = content is None or (variant.content == "text" and isinstance(content, str))
    row["content"] = content if stored else json.dumps(content)
    row["timestamp"] = START + (number // 4 if variant.seq else number)
    if variant.seq:
        row["seq"] = number
    return row


def load(connection: psycopg.Connection[Any], session: str, lines: Iterable[bytes], variant: Variant) -> None:
    """Put the messages of a log into the tables, in its order."""
    add_sessions(connection, session)
    add_rows(connection, (row_of(one, session, number, variant) for number, one in enumerate(messages(lines), start=1)))


def outcomes_in(dsn: str, settings: Settings | None = None, profile: Profile = JARVIS) -> list[Outcome]:
    """What `verify-pairs` says of every conversation of a database, in this process."""
    store = PostgresStore(dsn, profile)
    try:
        inventory = store.inventory()
        judged = verify_rows(
            store, inventory, inventory.conversations, settings or Settings(now=NOW), whole=True, advance=lambda _: None
        )
        found = list(judged)
    finally:
        store.transaction.close()
    assert [problem for outcome in found for problem in outcome.errors] == []
    return found


def findings_in(dsn: str, settings: Settings | None = None, profile: Profile = JARVIS) -> list[Finding]:
    """All findings of a database."""
    return [finding for outcome in outcomes_in(dsn, settings, profile) for finding in outcome.findings]


def about_rows(findings: Iterable[Finding]) -> Counter[About]:
    """What findings about rows are about; the record is the row at which they stand."""
    return Counter((one.rule, one.severity, one.position.key, one.call_id) for one in findings)


def about_lines(findings: Iterable[Finding], files: Mapping[str, list[bytes]]) -> Counter[About]:
    """What findings about lines are about; the record is the one in the line at which they stand."""
    return Counter((one.rule, one.severity, record_at(one, files), one.call_id) for one in findings)


def record_at(finding: Finding, files: Mapping[str, list[bytes]]) -> str | None:
    """The id of the record in the line of a finding."""
    line = finding.position.line
    value = json.loads(files[finding.position.file][line - 1]) if line is not None else {}
    return str(value["id"]) if "id" in value else None


def files_of(folder: Path) -> dict[str, list[bytes]]:
    """The lines of all logs of a store, by the name that findings give them."""
    return {
        str(path.relative_to(folder)): path.read_bytes().splitlines(keepends=True) for path in folder.rglob("*.jsonl")
    }
