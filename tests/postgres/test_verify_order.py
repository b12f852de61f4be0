"""What only rows can show: ties, numbers, units, compaction, lost conversations, sequences and indexes."""

from __future__ import annotations

import json
from typing import Any

import psycopg
import pytest

from jarvis_ops.model.finding import Finding
from jarvis_ops.model.settings import Settings
from tests.generate import NOW, START
from tests.postgres.conftest import Connect
from tests.postgres.loading import findings_in
from tests.postgres.tables import NEWEST, NUMBERED, Variant, add_rows, add_sessions, create

Row = dict[str, Any]
PLAIN = Variant(seq="bigint")


def ask(time: int, *calls: str, **more: Any) -> Row:
    listed = json.dumps([{"id": call, "name": "look", "arguments": {}} for call in calls])
    return {"role": "assistant", "timestamp": START + time, "tool_calls": listed, **more}


def reply(time: int, call: str, **more: Any) -> Row:
    return {"role": "tool", "timestamp": START + time, "tool_call_id": call, "content": '"x"', **more}


def say(time: int, role: str = "assistant", **more: Any) -> Row:
    return {"role": role, "timestamp": START + time, "content": '"words"', **more}


def put(connection: psycopg.Connection[Any], *rows: Row, session: str = "talk") -> None:
    """Add rows to a conversation; each gets a key, a to z, in the order given."""
    add_sessions(connection, session)
    count = connection.execute("SELECT count(*) FROM jarvis_entries").fetchone()
    first = count[0] if count else 0
    keyed = ({"id": chr(97 + first + number), "session_id": session, **row} for number, row in enumerate(rows))
    add_rows(connection, keyed)


def told(findings: list[Finding]) -> list[tuple[str, str, str | None]]:
    """Rule, severity and key of each finding, infos left out."""
    return [(one.rule, one.severity, one.position.key) for one in findings if one.severity != "info"]


@pytest.fixture
def rows(connect: Connect) -> psycopg.Connection[Any]:
    """A database with JARVIS's tables and no numbers."""
    connection = connect()
    create(connection, NEWEST)
    return connection


@pytest.fixture
def numbered(connect: Connect) -> psycopg.Connection[Any]:
    """A database with JARVIS's tables and a column of numbers that nothing fills."""
    connection = connect()
    create(connection, PLAIN)
    return connection


def test_ties_are_judged_in_the_order_in_which_they_pair(rows: psycopg.Connection[Any], database: str) -> None:
    """In the worst order, and twice the same: no finding but the tie."""
    turn = [say(5), reply(5, "3"), ask(5, "3"), reply(5, "2"), reply(5, "1"), ask(5, "1", "2"), say(5, "user")]
    put(rows, say(1, "user"), say(2), *turn)
    (tie, missing) = findings_in(database)
    assert (tie.rule, tie.severity, tie.facts["rows"]) == ("order-tie", "error", 7)
    assert (missing.rule, missing.severity, missing.position.table) == ("missing-seq", "error", "jarvis_entries")


def test_a_tie_of_which_no_pair_depends_is_a_warning(rows: psycopg.Connection[Any], database: str) -> None:
    put(rows, say(1, "user"), ask(2, "1", "2"), reply(3, "1"), reply(3, "2"), say(4))
    assert told(findings_in(database)) == [("order-tie", "warning", "c"), ("missing-seq", "error", None)]


def test_a_fault_among_ties_is_still_found(rows: psycopg.Connection[Any], database: str) -> None:
    put(rows, say(1, "user"), reply(2, "gone"), ask(2, "1"), reply(2, "1"), say(2))
    assert ("orphan-result", "error", "b") in told(findings_in(database))


def test_ties_among_compacted_rows_are_infos(rows: psycopg.Connection[Any], database: str) -> None:
    old = {"compacted_at": "2026-01-01", "compacted_by": "d"}
    put(rows, say(1, "user", **old), ask(2, "1", **old), reply(2, "1", **old), say(3), say(4, "user"), say(5))
    assert told(findings_in(database)) == [("missing-seq", "error", None)]
    full = told(findings_in(database, Settings(now=NOW, scope="full")))
    assert full == [("order-tie", "error", "b"), ("missing-seq", "error", None)]


def test_numbers_end_ties(numbered: psycopg.Connection[Any], database: str) -> None:
    put(numbered, say(1, "user", seq=1), ask(2, "1", seq=2), reply(2, "1", seq=3), say(2, seq=4))
    assert findings_in(database) == []


def test_equal_numbers_are_a_tie(numbered: psycopg.Connection[Any], database: str) -> None:
    put(numbered, say(1, "user", seq=1), ask(2, "1", seq=2), reply(2, "1", seq=2), say(3, seq=4))
    assert told(findings_in(database)) == [("order-tie", "error", "b")]


def test_rows_without_a_number(numbered: psycopg.Connection[Any], database: str) -> None:
    put(numbered, say(1, "user", seq=1), ask(2, "1"), reply(2, "1"), say(3, seq=4))
    assert told(findings_in(database)) == [("order-tie", "error", "b"), ("seq-null", "warning", "b")]


def test_numbers_against_times(numbered: psycopg.Connection[Any], database: str) -> None:
    put(numbered, say(1, "user", seq=2), say(2, seq=1), say(3, "user", seq=3), say(4, seq=4))
    assert told(findings_in(database)) == [("order-conflict", "warning", "b")]


def test_numbers_against_times_where_a_pair_depends_on_them(numbered: psycopg.Connection[Any], database: str) -> None:
    put(numbered, say(1, "user", seq=1), ask(2, "1", seq=3), reply(3, "1", seq=2), say(4, seq=4))
    assert told(findings_in(database)) == [("order-conflict", "error", "c")]


def test_seconds_among_milliseconds(rows: psycopg.Connection[Any], database: str) -> None:
    put(rows, say(1, "user"), say(2), say(3, "user", timestamp=START // 1000), say(4))
    assert [one for one in told(findings_in(database)) if one[0] == "mixed-units"] == [("mixed-units", "error", "c")]


def test_seconds_in_another_conversation(rows: psycopg.Connection[Any], database: str) -> None:
    put(rows, say(1, "user"), say(2))
    put(rows, say(3, "user", timestamp=START // 1000), say(4, timestamp=START // 1000 + 1), session="other")
    assert told(findings_in(database)) == [("mixed-units", "error", None)]


def test_a_pair_on_both_sides_of_a_compaction(rows: psycopg.Connection[Any], database: str) -> None:
    old = {"compacted_at": "2026-01-01", "compacted_by": "c"}
    put(rows, say(1, "user", **old), ask(2, "1", **old), say(3), reply(4, "1"), say(5))
    assert told(findings_in(database)) == [("pair-split", "error", "c")]


def test_faults_of_compacted_rows_are_infos(rows: psycopg.Connection[Any], database: str) -> None:
    old = {"compacted_at": "2026-01-01", "compacted_by": "c"}
    put(rows, say(1, "user", **old), ask(2, "1", **old), say(3), say(4, "user"), say(5))
    (finding,) = findings_in(database)
    assert (finding.rule, finding.severity) == ("unanswered-call", "info")
    assert told(findings_in(database, Settings(now=NOW, scope="full"))) == [("unanswered-call", "error", "b")]


def test_a_compaction_whose_summary_is_gone(rows: psycopg.Connection[Any], database: str) -> None:
    old = {"compacted_at": "2026-01-01", "compacted_by": "gone"}
    put(rows, say(1, "user", **old), say(2, **old), say(3), say(4, "user"), say(5))
    assert told(findings_in(database)) == [("compaction-dangling", "error", "a")]


def test_rows_of_a_conversation_that_is_gone(connect: Connect, database: str) -> None:
    connection = connect()
    create(connection, PLAIN)
    connection.execute("ALTER TABLE jarvis_entries DROP CONSTRAINT jarvis_entries_session_id_fkey")
    put(connection, say(1, "user", seq=1), say(2, seq=2))
    connection.execute("DELETE FROM jarvis_sessions")
    (finding,) = findings_in(database)
    assert (finding.rule, finding.severity, finding.position.key) == ("orphan-row", "warning", "a")
    assert finding.facts == {"rows": 2}


def test_a_store_without_a_table_of_conversations(connect: Connect, database: str) -> None:
    connection = connect()
    create(connection, Variant(seq="bigint", sessions=False, indexed=False))
    add_rows(connection, [{"id": "a", "session_id": "talk", "seq": 1, **say(1)}])
    assert findings_in(database) == []


def test_a_turn_that_runs(rows: psycopg.Connection[Any], database: str) -> None:
    put(rows, say(1, "user"), ask(2, "1"))
    rows.execute("UPDATE jarvis_sessions SET state = 'running', turn_started_at = to_timestamp(%s)", (NOW / 1000 - 60,))
    assert [(one.rule, one.severity) for one in findings_in(database)] == [("open-call", "info")]
    rows.execute("UPDATE jarvis_sessions SET turn_started_at = to_timestamp(%s)", (NOW / 1000 - 6000,))
    found = {(one.rule, one.position.table, one.position.key) for one in findings_in(database)}
    assert found == {("unanswered-call", "jarvis_entries", "b"), ("stale-running", "jarvis_sessions", "talk")}


def test_a_branch_that_was_cut_inside_a_pair(rows: psycopg.Connection[Any], database: str) -> None:
    put(rows, say(1, "user"), ask(2, "1"), reply(3, "1"), say(4))
    put(rows, say(1, "user"), ask(2, "1"), session="zweig")
    rows.execute("UPDATE jarvis_sessions SET parent_id = 'talk' WHERE id = 'zweig'")
    assert told(findings_in(database)) == [("pair-split", "error", "f")]


def test_an_index_that_is_not_valid(numbered: psycopg.Connection[Any], database: str) -> None:
    put(numbered, say(1, "user", seq=1), say(2, seq=1))
    with pytest.raises(psycopg.errors.UniqueViolation):
        numbered.execute("CREATE UNIQUE INDEX CONCURRENTLY half_built ON jarvis_entries (seq)")
    found = [(one.rule, one.position.table) for one in findings_in(database)]
    assert found == [("invalid-index", "half_built")]


def test_a_sequence_of_a_healthy_store(connect: Connect, database: str) -> None:
    connection = connect()
    create(connection, NUMBERED)
    assert findings_in(database) == []
    put(connection, say(1, "user"), say(2))
    assert findings_in(database) == []
    connection.execute("ALTER SEQUENCE jarvis_entries_seq_seq RESTART")
    (finding,) = findings_in(database)
    assert (finding.rule, finding.facts) == ("sequence-behind", {"stored": 0, "actual": 2})


def test_a_column_that_is_missing_beside_its_partner(connect: Connect, database: str) -> None:
    connection = connect()
    create(connection, PLAIN)
    connection.execute("ALTER TABLE jarvis_entries DROP COLUMN compacted_by")
    assert [(one.rule, one.facts) for one in findings_in(database)] == [("missing-column", {"column": "compacted_by"})]


@pytest.mark.parametrize("sessions", [True, False])
@pytest.mark.parametrize("indexed", [True, False])
@pytest.mark.parametrize("collation", ["C", "und-x-icu", "default"])
def test_every_conversation_is_judged_whatever_sorts_their_ids(
    collation: str, indexed: bool, sessions: bool, connect: Connect, database: str
) -> None:
    """A locale sorts a before B before c, and bytes do not."""
    connection = connect()
    if not connection.execute("SELECT FROM pg_collation WHERE collname = %s", (collation,)).rowcount:
        pytest.skip("this server was built without locales")
    create(connection, Variant(seq="bigint", sessions=sessions, indexed=indexed))
    connection.execute(f'ALTER TABLE jarvis_entries ALTER session_id TYPE text COLLATE "{collation}"'.encode())
    names = ["B", "a", "c", "D", "ä", "_", "a-b", "ab", "나", "z"]
    for number, name in enumerate(names):
        if sessions:
            add_sessions(connection, name)
        add_rows(connection, [{"id": name, "session_id": name, "seq": number, **ask(number, name)}])
    found = findings_in(database, Settings(now=NOW, assume_idle=True))
    assert [one.call_id for one in found] == sorted(names)


def test_an_odd_call_with_a_number_that_no_float_holds(numbered: psycopg.Connection[Any], database: str) -> None:
    calls = '[{"id": "1", "arguments": {"q": 1e400}}, {"id": "2", "arguments": 1e400}]'
    asked = ask(2, seq=2, tool_calls=calls)
    put(numbered, say(1, "user", seq=1), asked, reply(3, "1", seq=3), reply(3, "2", seq=4), say(4, seq=5))
    (finding,) = findings_in(database)
    assert (finding.rule, finding.call_id) == ("bad-arguments", "2")
