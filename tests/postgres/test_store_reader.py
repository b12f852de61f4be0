"""A conversation of a database as lines: whole for who wants to see it, reduced for judging, the same in every form."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import orjson
import psycopg
import pytest

from jarvis_ops.dialects.jarvis import Jarvis
from jarvis_ops.errors import StoreError, UnreadableError
from jarvis_ops.model.conversation import PartFile
from jarvis_ops.model.record import Row
from jarvis_ops.stores.base import Place
from jarvis_ops.stores.postgres.profiles import JARVIS
from jarvis_ops.stores.postgres.reader import RowsSnapshot
from jarvis_ops.stores.postgres.store import PostgresStore
from tests.generate import START, JarvisWriter
from tests.postgres.conftest import Connect
from tests.postgres.loading import findings_in, load, messages
from tests.postgres.tables import NEWEST, NUMBERED, OLDEST, Variant, add_sessions, create

TEXT = Variant(content="text")
FORMS = {"newest": NEWEST, "numbered": NUMBERED, "text": TEXT, "inside": Variant(calls=False, later=False)}


@contextmanager
def opened(database: str) -> Iterator[PostgresStore]:
    store = PostgresStore(database, JARVIS)
    yield store
    store.transaction.close()


def talk(connection: psycopg.Connection[Any], variant: Variant) -> list[dict[str, Any]]:
    """A conversation in the database, and its messages."""
    create(connection, variant)
    lines = [line.raw for line in JarvisWriter(random.Random(8), marks=False).turns(6).lines]
    load(connection, "talk", lines, variant)
    return messages(lines)


def whole(store: PostgresStore) -> RowsSnapshot:
    (conversation,) = store.inventory().conversations
    return store.snapshot(conversation, whole=True)


@pytest.mark.parametrize("form", FORMS)
def test_lines_say_what_was_said(form: str, connect: Connect, database: str) -> None:
    said = talk(connect(), FORMS[form])
    with opened(database) as store:
        lines = [orjson.loads(record.raw) for record in whole(store).records()]
    assert [line["id"] for line in lines] == [one["id"] for one in said]
    for line, one in zip(lines, said, strict=True):
        assert line["role"] == one["role"]
        # What a column of text holds is text, blocks as well, where calls have a column of their own.
        if form != "inside" and (form != "text" or not isinstance(one["content"], list)):
            assert line["content"] == one["content"]
            assert line.get("tool_calls") == one.get("tool_calls")
        assert START <= line["timestamp"] < START + 1000


@pytest.mark.parametrize("form", FORMS)
def test_reduced_lines_say_the_same_of_pairs(form: str, connect: Connect, database: str) -> None:
    talk(connect(), FORMS[form])
    decode = Jarvis().decode
    with opened(database) as store:
        (conversation,) = store.inventory().conversations
        ways = [store.snapshot(conversation, whole=full) for full in (True, False)]
        full, reduced = ([decode(orjson.loads(one.raw)) for one in way.records()] for way in ways)
        sizes = [way.size("talk") for way in ways]
    for one, other in zip(full, reduced, strict=True):
        assert (one.id, one.role, one.time, one.typed, one.fault) == (
            other.id, other.role, other.time, other.typed, other.fault,
        )  # fmt: skip
        assert one.results == other.results
        if form != "text":
            assert one.calls == other.calls
    assert sizes[1] < sizes[0]


def test_every_way_to_read_gives_the_same_bytes(connect: Connect, database: str) -> None:
    talk(connect(), NUMBERED)
    with opened(database) as store:
        snapshot = whole(store)
        records = list(snapshot.records())
        text = b"".join(record.raw for record in records)
        (part,) = snapshot.parts
        assert part.size == snapshot.size("talk") == len(text)
        assert b"".join(b"".join(chunk.lines) for chunk in snapshot.chunks()) == text
        assert [one.raw for one in snapshot.newest_first()] == [one.raw for one in reversed(records)]
        third = records[3]
        assert [one.raw for one in snapshot.newest_first(Place(0, third.offset))] == [
            one.raw for one in reversed(records[:3])
        ]
        assert snapshot.read("talk", 5, third.offset + 7) == text[5 : third.offset + 7]
        (chunk,) = snapshot.chunks(Place(0, third.offset), Place(0, records[5].offset))
        assert (chunk.first_line, chunk.first_offset, chunk.lines) == (
            4,
            third.offset,
            [one.raw for one in records[3:5]],
        )
        assert list(snapshot.lines_at("talk", [third.offset])) == [(third.offset, 4)]
        assert snapshot.digest(part) == hashlib.sha256(text).hexdigest()
        assert snapshot.digest(part, 9) == hashlib.sha256(text[:9]).hexdigest()
        assert snapshot.writer() is False
        for ask in (snapshot.size, lambda name: snapshot.read(name, 0, 1)):
            with pytest.raises(KeyError):
                ask("other")


def test_a_row_knows_its_place(connect: Connect, database: str) -> None:
    talk(connect(), NUMBERED)
    with opened(database) as store:
        second = list(whole(store).records())[1]
    assert isinstance(second, Row)
    told = second.position("tool_calls[0]").told()
    assert (told.table, told.key, told.path) == ("jarvis_entries", second.key, "tool_calls[0]")
    assert (told.file, told.line, told.offset) == ("", None, None)


def test_metadata(connect: Connect, database: str) -> None:
    connection = connect()
    create(connection, NEWEST)
    add_sessions(connection, "talk")
    connection.execute("UPDATE jarvis_sessions SET agent_id = 'main', updated_at = to_timestamp(1767225600)")
    with opened(database) as store:
        (conversation,) = store.inventory().conversations
        assert conversation.metadata == PartFile("talk", "talk", table="jarvis_sessions")
        told = json.loads(store.companion(PartFile("talk", "talk", table="jarvis_sessions")))
        assert told == {"id": "talk", "agent_id": "main", "updated_at": START}
        with pytest.raises(UnreadableError, match="table jarvis_sessions has no row gone"):
            store.companion(PartFile("gone", "gone", table="jarvis_sessions"))
        with store.open(conversation) as snapshot:
            assert list(snapshot.records()) == []


def test_the_oldest_tables_name_the_agent_otherwise(connect: Connect, database: str) -> None:
    connection = connect()
    create(connection, OLDEST)
    connection.execute("INSERT INTO jarvis_sessions (id, agent) VALUES ('talk', 'main')")
    with opened(database) as store:
        store.inventory()
        assert store.metadata("talk") == {"id": "talk", "agent_id": "main"}


@pytest.mark.parametrize("time", ["bigint", "numeric", "float8", "text", "timestamptz", "timestamp", "date"])
@pytest.mark.parametrize("kind", ["jsonb", "json", "text"])
def test_columns_of_any_kind(time: str, kind: str, connect: Connect, database: str) -> None:
    """One pair of which the call lies in a column of its own and in the content, and a call without a result."""
    connection = connect()
    connection.execute(
        f"CREATE TABLE jarvis_entries (id int PRIMARY KEY, session_id varchar(9), role varchar(9), content {kind},"
        f' tool_calls {kind}, tool_call_id text, "timestamp" {time})'.encode()
    )
    calls = json.dumps([{"id": "1", "function": {"name": "look", "arguments": "{}"}}, {"id": "2", "arguments": {}}])
    rows = [("user", '"x"', None, None), ("assistant", '""', calls, None), ("tool", '"y"', None, "1")]
    for number, (role, content, listed, result) in enumerate(rows, start=1):
        moment: Any = f"2026-01-0{number}"
        if time in {"bigint", "numeric", "float8"}:
            moment = START + number * 1000 + 0.5 * (time == "float8")
        connection.execute(
            "INSERT INTO jarvis_entries VALUES (%s, 'talk', %s, %s, %s, %s, %s)",
            (number, role, content, listed, result, moment),
        )
    (finding,) = findings_in(database)
    assert (finding.rule, finding.call_id, finding.position.key) == ("unanswered-call", "2", "2")


def test_a_time_without_end(connect: Connect, database: str) -> None:
    connection = connect()
    create(connection, Variant(time="timestamptz", seq="bigint"))
    add_sessions(connection, "talk")
    for number, time in enumerate(("-infinity", "2026-01-01", "infinity"), start=1):
        connection.execute(
            'INSERT INTO jarvis_entries (id, session_id, role, "timestamp", seq) VALUES (%s, %s, %s, %s, %s)',
            (f"m{number}", "talk", "assistant", time, number),
        )
    assert findings_in(database) == []


def test_one_transaction_for_the_whole_run(connect: Connect, database: str) -> None:
    connection = connect()
    talk(connection, NUMBERED)
    with opened(database) as store:
        before = [record.raw for record in whole(store).records()]
        connection.execute("DELETE FROM jarvis_entries")
        assert [record.raw for record in whole(store).records()] == before
        with pytest.raises(StoreError, match="read-only transaction"):
            store.transaction.all(psycopg.sql.SQL("DELETE FROM {}").format(psycopg.sql.Identifier("jarvis_entries")))
