"""What healing means for rows: which of them change, who is waited for, and what is refused."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import psycopg
import pytest

from jarvis_ops.errors import RefusedError
from jarvis_ops.model.profile import Profile
from jarvis_ops.stores.postgres.profiles import LANGCHAIN
from jarvis_ops.stores.postgres.writable import WritablePostgres
from tests.commands import Answer, command
from tests.postgres.conftest import Connect
from tests.postgres.healing import add_talk, healed, in_order, opened, table, taken_back, unanswered
from tests.postgres.tables import NEWEST, NUMBERED, Variant, add_rows, create

START = 1_790_000_000_000
CALL = [{"id": "talk-call", "name": "look", "arguments": {}}]


def numbered(connection: psycopg.Connection[Any], rows: list[dict[str, Any]], variant: Variant = NUMBERED) -> list[str]:
    """A table with one conversation, `talk`; all of its rows."""
    create(connection, variant)
    add_talk(connection, "talk", rows)
    if variant.seq:
        connection.execute("SELECT setval('jarvis_entries_seq_seq', 100)")
    return table(connection)


def without_numbers(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name != "seq"} for row in rows]


def run_on(database: str, home: Path, name: str, *options: str) -> Answer:
    """A command as a user types it."""
    return command(name, *options, store=database, home=home)  # type: ignore[arg-type]


def journal(connection: psycopg.Connection[Any]) -> list[dict[str, Any]]:
    rows = connection.execute("SELECT to_jsonb(j) FROM jarvis_ops_journal j WHERE n > 0 ORDER BY at, run, n")
    return [row[0] for row in rows]


def test_only_what_must_changes(connect: Connect, database: str) -> None:
    connection = connect()
    numbered(connection, unanswered("talk"))
    add_talk(connection, "other", [{"id": "o1", "role": "user", "timestamp": START, "seq": 2}])
    with opened(database) as store:
        (outcome,) = healed(store, "talk")
    assert (outcome.status, outcome.errors) == ("applied", [])
    rows = in_order(connection, "talk")
    assert [(row["timestamp"] - START, row["seq"]) for row in rows] == [(0, 1), (0, 2), (0, 3), (1, 4), (1, 101)]
    kept = journal(connection)
    assert [(one["key"], one["before"], one["after"]) for one in kept[1:]] == [
        ("talk3", {"seq": 3}, {"seq": 4}),
        ("talk4", {"seq": 4}, {"seq": 101}),
    ]
    assert (kept[0]["before"], kept[0]["after"]["tool_call_id"]) == (None, "talk-call")


def test_a_result_that_goes_back_takes_the_time_of_its_call(connect: Connect, database: str) -> None:
    rows = unanswered("talk")
    late = {"id": "late", "role": "tool", "tool_call_id": "talk-call", "timestamp": START + 1, "seq": 5}
    connection = connect()
    before = numbered(connection, [*rows, late])
    with opened(database) as store:
        (outcome,) = healed(store)
    assert outcome.status == "applied"
    found = [(row["id"], row["timestamp"] - START, row["seq"]) for row in in_order(connection, "talk")]
    assert found == [("talk1", 0, 1), ("talk2", 0, 2), ("late", 0, 3), ("talk3", 1, 4), ("talk4", 1, 5)]
    with opened(database) as store:
        assert taken_back(store, str(outcome.run))[0].errors == []
    assert table(connection) == before


@pytest.mark.parametrize("unique", ["(seq)", "(session_id, seq)"])
def test_numbers_that_must_be_unique(unique: str, connect: Connect, database: str) -> None:
    connection = connect()
    late = {"id": "late", "role": "tool", "tool_call_id": "talk-call", "timestamp": START + 1, "seq": 5}
    before = numbered(connection, [*unanswered("talk"), late])
    connection.execute(f"CREATE UNIQUE INDEX ON jarvis_entries {unique}".encode())
    with opened(database) as store:
        (outcome,) = healed(store)
    assert (outcome.status, outcome.errors) == ("applied", [])
    with opened(database) as store:
        assert taken_back(store, str(outcome.run))[0].errors == []
    assert table(connection) == before


def test_no_digit_is_lost(connect: Connect, database: str) -> None:
    rows = unanswered("talk")
    rows[1]["usage"] = {"cost": 1}
    orphan = {"id": "orphan", "role": "tool", "tool_call_id": "none", "timestamp": START + 1, "seq": 5}
    connection = connect()
    numbered(connection, [*rows, orphan])
    connection.execute(
        """UPDATE jarvis_entries SET usage = '{"cost": 0.12345678901234567890, "n": 123456789012345678901234}'"""
    )
    before = table(connection)
    with opened(database) as store:
        (outcome,) = healed(store)
    assert (outcome.status, outcome.lines_quarantined) == ("applied", 1)
    assert "orphan" not in [row["id"] for row in in_order(connection, "talk")]
    with opened(database) as store:
        assert taken_back(store, str(outcome.run))[0].errors == []
    assert table(connection) == before


def test_a_change_that_would_lose_digits_is_refused(connect: Connect, database: str) -> None:
    rows = unanswered("talk")[:2]
    calls = '[{"id": "c", "name": "f", "arguments": "text"}, {"id": "d", "arguments": {"x": 0.12345678901234567890}}]'
    results = [
        {"id": f"r{one}", "role": "tool", "tool_call_id": one, "timestamp": START + 1, "seq": 5 + number}
        for number, one in enumerate("cd")
    ]
    connection = connect()
    before = numbered(connection, [rows[0], {**rows[1], "tool_calls": calls}, *results])
    with opened(database) as store:
        (outcome,) = healed(store)
    assert [problem.code for problem in outcome.errors] == ["refused"]
    assert "lose digits" in outcome.errors[0].message
    assert table(connection) == before


def test_an_undo_can_be_taken_back(connect: Connect, database: str, tmp_path: Path) -> None:
    connection = connect()
    before = numbered(connection, unanswered("talk"))
    run = run_on(database, tmp_path, "heal", "--all", "--apply").run
    after = table(connection)
    plan = run_on(database, tmp_path, "undo", run)
    assert (plan.code, len(plan.steps)) == (1, 3)
    assert table(connection) == after
    undone = run_on(database, tmp_path, "undo", run, "--apply")
    assert undone.code == 0
    assert table(connection) == before
    assert run_on(database, tmp_path, "undo", undone.run, "--apply").code == 0
    assert table(connection) == after
    states = [(one["command"], one["state"]) for one in run_on(database, tmp_path, "runs").report["outcomes"]]
    assert states == [("undo", "done"), ("undo", "undone"), ("heal", "undone")]
    again = run_on(database, tmp_path, "heal", "--all", "--apply")
    assert (again.code, again.run) == (0, "")


def test_what_an_agent_adds_stays(connect: Connect, database: str) -> None:
    connection = connect()
    before = numbered(connection, unanswered("talk"))
    with opened(database) as store:
        (outcome,) = healed(store)
    added = {"id": "new", "session_id": "talk", "role": "user", "content": '"more"', "timestamp": START + 900}
    add_rows(connection, [added])
    with opened(database) as store:
        assert taken_back(store, str(outcome.run))[0].errors == []
    assert [row["id"] for row in in_order(connection, "talk")] == [*(json.loads(row)["id"] for row in before), "new"]


@pytest.mark.parametrize("kind", ["refers", "changed"])
def test_an_undo_that_would_break_something_is_refused(kind: str, connect: Connect, database: str) -> None:
    connection = connect()
    numbered(connection, unanswered("talk"))
    with opened(database) as store:
        (outcome,) = healed(store)
    (key,) = [row["id"] for row in in_order(connection, "talk") if row["id"].startswith("jarvis_ops_")]
    if kind == "refers":
        connection.execute("UPDATE jarvis_entries SET compacted_by = %s WHERE id = 'talk1'", (key,))
    else:
        connection.execute("UPDATE jarvis_entries SET content = '\"mine\"' WHERE id = %s", (key,))
    state = table(connection)
    with opened(database) as store:
        (undone,) = taken_back(store, str(outcome.run))
    assert [problem.code for problem in undone.errors] == ["refused"]
    assert table(connection) == state


@pytest.mark.parametrize("what", ["session", "row", "advisory"])
def test_who_is_busy_is_not_waited_for(what: str, connect: Connect, database: str, tmp_path: Path) -> None:
    connection = connect()
    before = numbered(connection, unanswered("talk"))
    statement = {
        "session": "SELECT FROM jarvis_sessions WHERE id = 'talk' FOR UPDATE",
        "row": "SELECT FROM jarvis_entries WHERE id = 'talk3' FOR UPDATE",
        "advisory": "SELECT pg_advisory_xact_lock(hashtextextended('jarvis-ops:heal:jarvis_entries:talk', 0))",
    }[what]
    holder = connect(autocommit=False)
    holder.execute(statement.encode())
    answer = run_on(database, tmp_path, "heal", "talk", "--apply", "--wait", "0s")
    assert answer.code == 4
    assert table(connection) == before
    holder.rollback()
    assert run_on(database, tmp_path, "heal", "talk", "--apply", "--wait", "0s").code == 0


def test_a_running_turn_is_left_alone(connect: Connect, database: str, tmp_path: Path) -> None:
    connection = connect()
    before = numbered(connection, unanswered("talk"))
    connection.execute("UPDATE jarvis_sessions SET state = 'running', turn_id = 't9', turn_started_at = now()")
    assert run_on(database, tmp_path, "heal", "talk", "--apply", "--wait", "0s").code == 4
    assert table(connection) == before


def test_a_turn_that_begins_meanwhile(connect: Connect, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = connect()
    before = numbered(connection, unanswered("talk"))
    with opened(database) as store:
        apply = store.apply

        def late(*arguments: Any) -> Any:
            connection.execute("UPDATE jarvis_sessions SET state = 'running', turn_id = 't9', turn_started_at = now()")
            return apply(*arguments)

        monkeypatch.setattr(store, "apply", late)
        (outcome,) = healed(store)
    assert (outcome.status, [one.code for one in outcome.errors]) == ("skipped", ["busy"])
    assert table(connection) == before


def test_a_plan_that_is_carried_out_later(connect: Connect, database: str, tmp_path: Path) -> None:
    connection = connect()
    numbered(connection, unanswered("talk"))
    add_talk(connection, "other", unanswered("other", first=50))
    plan = str(tmp_path / "plan.json")
    assert run_on(database, tmp_path, "heal", "--all", "--plan-out", plan).code == 1
    connection.execute("UPDATE jarvis_entries SET content = '\"mine\"' WHERE id = 'other1'")
    answer = run_on(database, tmp_path, "heal", "--all", "--plan", plan, "--apply", "--wait", "0s")
    by_name = {one["conversation"]: one for one in answer.report["outcomes"]}
    assert by_name["talk"]["status"] == "applied"
    assert [one["code"] for one in by_name["other"]["errors"]] == ["stale"]
    assert len(in_order(connection, "talk")) == 5
    assert len(in_order(connection, "other")) == 4


def test_without_numbers_order_is_not_made_up(connect: Connect, database: str, tmp_path: Path) -> None:
    connection = connect()
    rows = without_numbers(unanswered("talk"))
    for number, row in enumerate(rows):
        row["timestamp"] = START + 10 * number
    before = numbered(connection, rows, NEWEST)
    answer = run_on(database, tmp_path, "heal", "--all", "--apply")
    assert "migrate-seq" in str(answer.report["outcomes"][0]["refused"])
    assert table(connection) == before
    healed_now = run_on(database, tmp_path, "heal", "--all", "--apply", "--spread-ms")
    assert healed_now.code == 0
    assert [row["timestamp"] - START for row in in_order(connection, "talk")] == [0, 10, 11, 20, 30]
    assert run_on(database, tmp_path, "undo", healed_now.run, "--apply").code == 0
    assert table(connection) == before


@pytest.mark.parametrize("kind", ["bigint", "timestamptz"])
def test_rows_of_one_time_are_moved_apart(kind: str, connect: Connect, database: str, tmp_path: Path) -> None:
    connection = connect()
    rows = [
        {"id": "b", "role": "tool", "tool_call_id": "talk-call", "timestamp": START},
        {"id": "c", "role": "assistant", "timestamp": START},
        {"id": "a", "role": "assistant", "tool_calls": CALL, "timestamp": START},
        {"id": "z", "role": "user", "timestamp": START},
        {"id": "d", "role": "user", "timestamp": START + 4},
    ]
    numbered(connection, rows, NEWEST)
    if kind == "timestamptz":
        connection.execute(
            'ALTER TABLE jarvis_entries ALTER "timestamp" TYPE timestamptz'
            " USING to_timestamp(\"timestamp\" / 1000.0) + interval '77 microseconds'"
        )
    before = table(connection)
    left = run_on(database, tmp_path, "heal", "talk", "--apply", "--assume-idle")
    assert "migrate-seq" in str(left.report["outcomes"][0]["refused"])
    answer = run_on(database, tmp_path, "heal", "talk", "--apply", "--spread-ms", "--assume-idle")
    assert answer.run, answer.report
    assert [row["id"] for row in in_order(connection, "talk")] == ["z", "a", "b", "c", "d"]
    rules = [one["rule"] for one in run_on(database, tmp_path, "verify-pairs").findings]
    assert "order-tie" not in rules
    assert run_on(database, tmp_path, "undo", answer.run, "--apply").code == 0
    assert table(connection) == before


def test_never_past_the_next_row(connect: Connect, database: str, tmp_path: Path) -> None:
    connection = connect()
    before = numbered(connection, without_numbers(unanswered("talk")), NEWEST)
    answer = run_on(database, tmp_path, "heal", "talk", "--apply", "--spread-ms")
    assert answer.run == ""
    assert answer.code in {1, 3}
    assert table(connection) == before


def test_what_this_version_only_reads(connect: Connect, database: str) -> None:
    connection = connect()
    connection.execute(
        "CREATE TABLE chat_history (id bigserial, session_id text, message jsonb, created_at timestamptz)"
    )
    with pytest.raises(RefusedError, match="only reads"):
        open_and_close(database, LANGCHAIN)
    connection.execute('CREATE TABLE plain (id text, session_id text, role text, content text, "timestamp" bigint)')
    with pytest.raises(RefusedError, match="being the same"):
        open_and_close(database, Profile(name="jarvis", entries="plain"))


def open_and_close(dsn: str, profile: Profile) -> None:
    WritablePostgres(dsn, profile).transaction.close()


def test_gc_forgets(connect: Connect, database: str, tmp_path: Path) -> None:
    connection = connect()
    numbered(connection, unanswered("talk"))
    assert run_on(database, tmp_path, "runs").report["outcomes"] == []
    run = run_on(database, tmp_path, "heal", "--all", "--apply").run
    connection.execute("UPDATE jarvis_ops_journal SET at = at - interval '1 day'")
    assert run_on(database, tmp_path, "gc", "--older-than", "2d", "--apply").code == 0
    assert len(journal(connection)) == 3
    assert run_on(database, tmp_path, "gc", "--older-than", "1h", "--apply").code == 0
    assert journal(connection) == []
    assert run_on(database, tmp_path, "undo", run).code == 2
    assert run_on(database, tmp_path, "recover", "--all").code == 0


def test_writers_lose_nothing(connect: Connect, database: str) -> None:
    connection = connect()
    create(connection, NUMBERED)
    names = [f"talk{number}" for number in range(12)]
    for number, name in enumerate(names):
        add_talk(connection, name, unanswered(name, first=1 + 10 * number))
    connection.execute("SELECT setval('jarvis_entries_seq_seq', 1000)")
    stop, failed, written = threading.Event(), list[Exception](), list[str]()

    def write(which: int) -> None:
        try:
            with psycopg.connect(database, autocommit=True) as own:
                number = 0
                while not stop.is_set():
                    row = {
                        "id": f"w{which}-{number}",
                        "session_id": names[
                            (2 * number + which) % len(names)
                        ],  # an agent has a conversation for itself
                        "role": "system",
                        "content": '"written"',
                        "timestamp": START + 1_000 + number,
                    }
                    add_rows(own, [row])
                    written.append(row["id"])  # type: ignore[arg-type]
                    number += 1
                    time.sleep(0.002)
        except Exception as error:  # noqa: BLE001 - the test tells of it
            failed.append(error)

    writers = [threading.Thread(target=write, args=(which,)) for which in range(2)]
    for one in writers:
        one.start()
    runs = set[str]()
    for _ in range(6):
        with opened(database) as store:
            runs |= {str(outcome.run) for outcome in healed(store) if outcome.run}
    stop.set()
    for one in writers:
        one.join()
    assert failed == []
    with opened(database) as store:
        assert [one.errors for one in healed(store)] == [[]] * len(names)
    rows = [json.loads(row) for row in table(connection)]
    assert {row["id"] for row in rows} >= set(written)
    assert len(rows) == len(written) + 5 * len(names)
    assert len({row["seq"] for row in rows}) == len(rows)
