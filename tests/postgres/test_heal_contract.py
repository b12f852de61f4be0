"""The same broken conversations, healed as files and as rows, have the same records in the same order."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from jarvis_ops.stores.open import open_store
from tests.generate import Line, write_jarvis
from tests.postgres.conftest import Connect
from tests.postgres.healing import healed, in_order, opened, table, taken_back, talk
from tests.postgres.loading import FAULTS, findings_in, load
from tests.postgres.tables import NUMBERED, Variant, create

FORMS = {
    "numbered": NUMBERED,
    "timestamptz": NUMBERED,
    "text": Variant(content="text", seq="bigserial"),
    "inside": Variant(calls=False, later=False, seq="bigserial"),
    "uuid": Variant(key="uuid", seq="bigserial"),
}
SEEDS = 4
NAMES = [fault.__name__ for fault in FAULTS]


def told(message: Mapping[str, Any], *, names: bool) -> tuple[Any, ...]:
    """What a message is: its id, unless it was put in; its role, its calls, and what it answers."""
    content = message.get("content")
    if isinstance(content, str) and content.startswith("[{"):
        content = json.loads(content)
    blocks = content if isinstance(content, list) else []
    inner = content if isinstance(content, dict) else {}
    calls = message.get("tool_calls") or inner.get("tool_calls") or []
    answers = message.get("tool_call_id") or inner.get("tool_call_id")
    # Of what is put in, a table has no column for some, and its own form.
    was_put_in = str(message["id"]).startswith("jarvis_ops_") or not names
    return (
        None if was_put_in else message["id"],
        "tool" if message["role"] in {"toolResult", "tool_result"} else message["role"],
        [(call.get("id"), json.dumps(call.get("arguments"), sort_keys=True)) for call in calls],
        answers,
        [(block.get("type"), block.get("id") or block.get("tool_use_id")) for block in blocks],
    )


def with_numbers(messages: list[tuple[Any, ...]], known: bytes) -> str:
    """Messages as text in which call ids that were made up, from the bytes of a line, are numbered as they come."""
    text = json.dumps(messages)
    made = dict.fromkeys(one for one in re.findall(r'"([\w-]+[0-9a-f]{12})"', text) if one.encode() not in known)
    for number, one in enumerate(made):
        text = text.replace(one, f"<{number}>")
    return text


def uuids(lines: Sequence[Line]) -> list[Line]:
    """Lines with ids that a column of UUIDs takes, always the same."""
    numbers = random.Random(b"".join(line.raw for line in lines))
    values = [{**json.loads(line.raw), "id": f"{numbers.getrandbits(128):032x}"} for line in lines]
    return [
        Line(json.dumps(value).encode() + b"\n", line.starts_turn) for value, line in zip(values, lines, strict=True)
    ]


@pytest.mark.parametrize("form", FORMS)
def test_the_same_order_in_files_and_rows(form: str, connect: Connect, database: str, tmp_path: Path) -> None:
    variant = FORMS[form]
    talks = {
        f"{fault.__name__}-{seed}": talk(seed, fault, f"{fault.__name__}-{seed}-")
        for fault in FAULTS
        for seed in range(SEEDS)
        if not (form == "text" and fault.__name__ == "bad_shape")
    }
    if variant.key == "uuid":
        talks = {name: uuids(lines) for name, lines in talks.items()}
    connection = connect()
    create(connection, variant)
    for name, lines in talks.items():
        load(connection, name, (line.raw for line in lines), variant)
    if form == "timestamptz":
        # As exact as the column can be, so that milliseconds are not all that there is.
        connection.execute(
            'ALTER TABLE jarvis_entries ALTER "timestamp" TYPE timestamptz'
            " USING to_timestamp(\"timestamp\" / 1000.0) + interval '123 microseconds'"
        )
    connection.execute("SELECT setval('jarvis_entries_seq_seq', (SELECT max(seq) FROM jarvis_entries))")
    before = table(connection)
    with opened(database) as store:
        outcomes = {one.conversation: one for one in healed(store)}
    changed = 0
    for name, lines in talks.items():
        outcome = outcomes[name]
        assert outcome.errors == [], (name, outcome.errors)
        files = in_files(tmp_path / name, lines)
        names = variant.key != "uuid"
        known = b"".join(line.raw for line in lines)
        rows = [told(row, names=names) for row in in_order(connection, name)]
        wanted = [told(message, names=names) for message in files]
        assert with_numbers(rows, known) == with_numbers(wanted, known), name
        changed += outcome.run is not None
    assert changed >= (len(NAMES) - 2) * SEEDS
    errors = [one for one in findings_in(database) if one.severity == "error" and one.rule != "bad-shape"]
    assert errors == []
    run = next(one.run for one in outcomes.values() if one.run)
    assert run is not None
    with opened(database) as store:
        for one in taken_back(store, run):
            assert (one.errors, one.status) == ([], "applied")
    assert table(connection) == before


def in_files(folder: Path, lines: Sequence[Line]) -> list[dict[str, Any]]:
    """The messages of a conversation after it was healed as a file."""
    write_jarvis(folder, list(lines), [])
    (outcome,) = healed(open_store(str(folder)))
    assert outcome.errors == []
    (log,) = folder.glob("*.jsonl")
    return [value for value in map(json.loads, log.read_bytes().splitlines()) if "role" in value]
