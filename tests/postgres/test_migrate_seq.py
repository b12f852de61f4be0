"""`migrate-seq` from the plan to the end: what it says, what it leaves, and that each step can be the last of a run."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import psycopg
import pytest

from jarvis_ops.errors import RefusedError, UsageError
from jarvis_ops.operations.migrate_seq import Numbering, Wishes
from jarvis_ops.stores.postgres.profiles import JARVIS
from jarvis_ops.stores.postgres.seq.backfill import Pace
from jarvis_ops.stores.postgres.seq.hearing import Hearing
from tests.postgres.conftest import Connect
from tests.postgres.live import QUIET, ROOT, check, fill, migrate, nothing_left
from tests.postgres.tables import VARIANTS, add_rows, add_sessions, create
from tests.postgres.turns import Writer, update_some, worth

CASES = Path(__file__).parent / "cases"
TURNS = 300
NEW = {"id": "new1", "session_id": "s1", "role": "user", "content": '"hi"', "timestamp": 1_800_000_000_000}
RELATIONS = b"SELECT oid, relname, relfilenode FROM pg_class ORDER BY 1"


def run(dsn: str, hearing: Hearing = QUIET, **wishes: Any) -> Numbering:
    return Numbering(dsn, JARVIS, Wishes(**wishes), hearing)


def one(connection: psycopg.Connection[Any], statement: str) -> Any:
    row = connection.execute(statement.encode()).fetchone()
    return row[0] if row is not None else None


@pytest.fixture
def admin(connect: Connect) -> psycopg.Connection[Any]:
    connection = connect()
    fill(connection, TURNS)
    return connection


class StopError(Exception):
    """A run ends here, as if it were killed: its connection is cut off."""


def stopping(kind: str, number: int) -> Hearing:
    """Stops a run at its `number`-th step ("say"), or when so often rows were read or numbered."""
    events, part = Counter[str](), [""]

    def meet(what: str) -> None:
        events[what] += 1
        if what == kind and events[what] == number:
            raise StopError

    def begin(_: int, what: str) -> None:
        part[0] = what

    return Hearing(lambda _: meet("say"), begin, lambda _: meet(part[0]))


def stopped(dsn: str, kind: str = "numbering", number: int = 1) -> bool:
    """Run up to an event; whether it came to it."""
    try:
        run(dsn, stopping(kind, number), pace=Pace(max_wait=20)).apply(0)
    except StopError:
        return True
    return False


# The conversation of the report that began all this: 29 messages, and rows of one turn share a millisecond.


def twenty_nine() -> list[dict[str, Any]]:
    """Its rows in the order in which they are written, under ids that sort otherwise."""
    chance, rows = random.Random(29), list[dict[str, Any]]()
    for turn, blocks in enumerate(((2, 1), (2, 1), (2, 1), (1,), (1,))):
        moment = 1_790_000_000_000 + 60_000 * turn
        texts: list[dict[str, Any]] = [{"role": "user", "content": "and now?", "timestamp": moment}]
        for block, calls in enumerate(blocks):
            ids = [f"call_{turn}_{block}_{call}" for call in range(calls)]
            listed = [{"id": one, "name": "look", "arguments": {}} for one in ids]
            texts.append({"role": "assistant", "content": "", "tool_calls": listed})
            texts += [{"role": "tool", "content": "seen", "tool_call_id": one} for one in ids]
        texts.append({"role": "assistant", "content": "that is it"})
        for text in texts:
            key = f"{chance.randrange(1 << 60):015x}"
            content = json.dumps(text.pop("content"))
            rows.append({"id": key, "session_id": "s1", "content": content, "timestamp": moment + 800, **text})
    return rows


def verified(dsn: str) -> dict[str, Any]:
    """What `verify-pairs` says."""
    line = [sys.executable, "-m", "jarvis_ops", "verify-pairs", "--store", dsn, "--json"]
    done = subprocess.run(line, cwd=ROOT, check=False, capture_output=True, text=True)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def test_the_conversation_that_began_it_all(connect: Connect, database: str) -> None:
    admin = connect()
    create(admin)
    add_sessions(admin, "s1")
    rows = twenty_nine()
    assert len(rows) == 29
    with admin.transaction():
        add_rows(admin, rows)
    by_chance = [row[0] for row in admin.execute('SELECT id FROM jarvis_entries ORDER BY "timestamp", id')]
    assert by_chance != [row["id"] for row in rows]
    assert {"missing-seq", "order-tie"} <= verified(database)["counts"]["findings"].keys()
    outcome = run(database).apply(0)
    assert (outcome.status, outcome.undecided) == ("applied", [])
    read = [row[0] for row in admin.execute('SELECT id FROM jarvis_entries ORDER BY "timestamp", seq')]
    assert read == [row["id"] for row in rows]
    assert verified(database)["counts"]["findings"] == {}
    again = migrate(database, "--apply")
    assert again.returncode == 0
    assert again.stdout.startswith("Nothing to do")


def test_a_plan_creates_nothing(admin: psycopg.Connection[Any], database: str) -> None:
    before = admin.execute(RELATIONS).fetchall()
    planned = migrate(database)
    assert planned.returncode == 1
    assert "add column public.jarvis_entries.seq" in planned.stdout
    assert "takes about" in planned.stdout
    assert f"jarvis-ops migrate-seq --store {database} --apply" in planned.stdout
    assert admin.execute(RELATIONS).fetchall() == before


def test_a_plan_says_what_is_in_the_way(admin: psycopg.Connection[Any], connect: Connect, database: str) -> None:
    admin.execute("CREATE RULE twice AS ON UPDATE TO jarvis_entries DO ALSO NOTHING")
    admin.execute("CREATE PUBLICATION everything FOR TABLE jarvis_entries")
    holder = connect(autocommit=False)
    holder.execute("LOCK TABLE jarvis_entries IN ROW EXCLUSIVE MODE")
    notes = "\n".join(run(database).plan().notes)
    assert "in the way: updating public.jarvis_entries would fire twice" in notes
    assert "published by everything" in notes
    assert f"process {holder.info.backend_pid}" in notes
    holder.rollback()


EVENTS = [
    ("say", 1), ("reading", 1), ("reading", 200), ("say", 2), ("numbering", 1), ("numbering", 2), ("say", 3),
    ("say", 4), ("say", 5),
]  # fmt: skip


@pytest.mark.parametrize("first", range(len(EVENTS)), ids=[f"{kind}-{number}" for kind, number in EVENTS])
def test_each_step_can_be_the_last_of_a_run(admin: psycopg.Connection[Any], database: str, first: int) -> None:
    assert stopped(database, *EVENTS[first])
    assert "was interrupted" in run(database).plan().steps[0]
    for event in EVENTS[first + 1 :: 2]:
        stopped(database, *event)
    run(database).apply(0)
    check(admin, [])
    assert run(database).finish().status == "applied"
    assert nothing_left(admin)
    assert run(database).plan().status == "clean"


def test_a_plan_that_was_lost_is_made_again_for_what_is_left(admin: psycopg.Connection[Any], database: str) -> None:
    assert stopped(database)
    assert 0 < one(admin, "SELECT count(*) FROM jarvis_entries WHERE seq IS NULL") < TURNS * 6
    admin.execute("DROP TABLE jarvis_ops_seq_plan_jarvis_entries")
    run(database).apply(0)
    check(admin, [])


@pytest.mark.parametrize("name", [name for name in VARIANTS if name != "numbered"])
def test_every_form_of_the_tables(connect: Connect, database: str, name: str) -> None:
    admin, variant = connect(), VARIANTS[name]
    create(admin, variant)
    add_sessions(admin, "s1")
    keys = [f"{letter * 8}-0000-4000-8000-000000000001" for letter in "fea"]
    calls = [{"id": "c1", "name": "look", "arguments": {}}]
    said: list[dict[str, Any]] = [
        {"role": "assistant", "content": {} if variant.calls else {"tool_calls": calls}},
        {"role": "tool", "content": {"text": "seen"} if variant.calls else {"tool_call_id": "c1", "text": "seen"}},
        {"role": "assistant", "content": {"text": "that is it"}},
    ]
    if variant.calls:
        said[0]["tool_calls"], said[1]["tool_call_id"], said[2]["tool_call_id"] = calls, "c1", None
    moment = "2026-03-10 09:00:05.123+00" if variant.time == "timestamptz" else 1_790_000_000_000
    rows = [{"id": key, "session_id": "s1", "timestamp": moment, **row} for key, row in zip(keys, said, strict=True)]
    # All lost but the pairs: written the wrong way round, in one statement.
    with admin.transaction():
        add_rows(admin, reversed(rows))
    admin.execute("CREATE TABLE copy AS SELECT * FROM jarvis_entries")
    admin.execute("TRUNCATE jarvis_entries")
    admin.execute("INSERT INTO jarvis_entries SELECT * FROM copy")
    run(database).apply(0)
    read = [str(row[0]) for row in admin.execute('SELECT id FROM jarvis_entries ORDER BY "timestamp", seq')]
    assert read == keys


def test_a_wide_wait_lets_more_rows_be_numbered_at_once(admin: psycopg.Connection[Any], database: str) -> None:
    outcome = run(database, pace=Pace(max_wait=2000)).apply(0)
    assert outcome.steps[-1] == "all rows were numbered in one transaction"
    check(admin, [])


def test_what_takes_too_long_at_once_is_done_in_batches(
    admin: psycopg.Connection[Any], database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jarvis_ops.stores.postgres.seq.migration.ROWS_PER_MS", 10_000)
    outcome = run(database, pace=Pace(max_wait=10)).apply(0)
    assert "writing all at once would keep others waiting, so it is done in batches" in outcome.steps
    check(admin, [])


def test_an_unfinished_numbering_is_taken_back(admin: psycopg.Connection[Any], database: str) -> None:
    assert stopped(database)
    add_rows(admin, [NEW])
    outcome = run(database).undo()
    assert (outcome.status, outcome.run is not None) == ("applied", True)
    assert nothing_left(admin)
    assert one(admin, "SELECT count(*) FROM pg_class WHERE relkind = 'S'") == 0
    assert one(admin, "SELECT count(*) FROM pg_attribute WHERE attrelid = 'jarvis_entries'::regclass AND attnum > 0"
                      " AND attname = 'seq'") == 0  # fmt: skip
    with pytest.raises(RefusedError, match="no numbering"):
        run(database).undo()


def test_a_numbering_that_rows_rely_on_is_not_taken_back(admin: psycopg.Connection[Any], database: str) -> None:
    run(database).apply(0)
    add_rows(admin, [NEW])
    with pytest.raises(RefusedError, match="rows were added since"):
        run(database).undo()
    admin.execute("DELETE FROM jarvis_entries WHERE id = 'new1'")
    assert run(database).undo().status == "applied"


def test_numbers_that_were_put_right_are_put_back(admin: psycopg.Connection[Any], database: str) -> None:
    admin.execute("ALTER TABLE jarvis_entries ADD COLUMN seq bigserial")
    admin.execute("UPDATE jarvis_entries SET seq = seq + CASE WHEN tool_call_id LIKE '%b' THEN 2 ELSE 0 END")
    before = admin.execute("SELECT id, seq FROM jarvis_entries ORDER BY id").fetchall()
    assert run(database).apply(0).status == "applied"
    assert admin.execute("SELECT id, seq FROM jarvis_entries ORDER BY id").fetchall() != before
    run(database).undo()
    assert admin.execute("SELECT id, seq FROM jarvis_entries ORDER BY id").fetchall() == before


def test_an_unfinished_numbering_cannot_be_finished(admin: psycopg.Connection[Any], database: str) -> None:
    assert stopped(database)
    with pytest.raises(RefusedError, match="not at its end"):
        run(database).finish()
    assert one(admin, "SELECT count(*) FROM jarvis_ops_seq_plan_jarvis_entries") == TURNS * 6


@pytest.mark.parametrize(
    "fault",
    [
        "ALTER SEQUENCE jarvis_entries_seq_seq OWNED BY NONE",
        "ALTER TABLE jarvis_entries ALTER COLUMN seq DROP DEFAULT",
        "DROP SEQUENCE jarvis_entries_seq_seq CASCADE",
    ],
)
def test_sequence_faults_are_mended_without_touching_numbers(
    admin: psycopg.Connection[Any], database: str, fault: str
) -> None:
    run(database).apply(0)
    run(database).finish()
    before = admin.execute("SELECT id, seq, xmin FROM jarvis_entries ORDER BY id").fetchall()
    admin.execute("SELECT setval('jarvis_entries_seq_seq', 11)")
    admin.execute(fault.encode())
    plan = run(database).plan()
    assert plan.column == "complete"
    assert plan.steps[0].startswith("mend: ")
    run(database).apply(0)
    add_rows(admin, [NEW])
    check(admin, [])
    assert admin.execute("SELECT id, seq, xmin FROM jarvis_entries WHERE id <> 'new1' ORDER BY id").fetchall() == before


def test_a_restored_table_is_put_right_as_reported(connect: Connect, database: str) -> None:
    admin = connect()
    admin.execute((CASES / "sequence-behind.sql").read_bytes())
    plan = migrate(database)
    assert plan.returncode == 1
    assert "sequence public.jarvis_entries_seq_seq stands at 11, below 337" in plan.stdout
    assert migrate(database, "--apply").returncode == 0
    rows = admin.execute('SELECT right(id::text, 1), seq FROM jarvis_entries ORDER BY "timestamp", seq').fetchall()
    assert rows == [("1", 336), ("2", 337), ("3", 338)]
    assert one(admin, "SELECT last_value FROM jarvis_entries_seq_seq") == 338
    assert one(admin, "SELECT pg_get_serial_sequence('jarvis_entries', 'seq')") == "public.jarvis_entries_seq_seq"
    assert migrate(database, "--apply").stdout.startswith("Nothing to do")


def test_numbers_that_two_rows_have_are_given_anew(admin: psycopg.Connection[Any], database: str) -> None:
    run(database).apply(0)
    run(database).finish()
    admin.execute("UPDATE jarvis_entries SET seq = seq - seq % 2 WHERE seq < 600")
    assert any("on more than one row" in step for step in run(database).plan().steps)
    run(database).apply(0)
    assert one(admin, "SELECT count(*) - count(DISTINCT seq) FROM jarvis_entries") == 0
    assert run(database).plan().status == "clean"


def test_a_narrow_column_has_room_or_is_refused(admin: psycopg.Connection[Any], database: str) -> None:
    admin.execute("ALTER TABLE jarvis_entries ADD COLUMN seq int")
    run(database).apply(0)
    check(admin, [])
    admin.execute("ALTER TABLE jarvis_entries ALTER COLUMN seq DROP NOT NULL")
    admin.execute("UPDATE jarvis_entries SET seq = NULL WHERE seq = 7")
    admin.execute("UPDATE jarvis_entries SET seq = 2147480000 WHERE seq = 8")
    with pytest.raises(RefusedError, match="too narrow"):
        run(database).apply(0)


def test_saved_evidence_outlives_a_column_that_the_agent_adds(connect: Connect, database: str, tmp_path: Path) -> None:
    admin = connect()
    create(admin)
    writer = Writer([connect() for _ in range(4)], seed=7)
    writer.write([f"s{number}" for number in range(6)], 12)
    update_some(admin, 0.05, random.Random(7))
    saved = tmp_path / "order.jsonl"
    outcome = run(database, save=str(saved)).plan()
    assert saved.stat().st_mode & 0o777 == 0o600
    assert len(saved.read_text().splitlines()) == outcome.records + 1
    with pytest.raises(UsageError, match="is there already"):
        run(database, save=str(saved)).plan()
    admin.execute("ALTER TABLE jarvis_entries ADD COLUMN seq bigserial")
    wrong = worth(admin, writer.truth).wrong
    assert wrong
    run(database, evidence=str(saved)).apply(0)
    doubted = {(one.conversation, int(one.time)) for one in outcome.undecided}
    assert worth(admin, writer.truth).wrong <= doubted
    assert run(database, evidence=str(saved)).apply(0).status == "clean"


def test_evidence_of_a_plan_outlives_its_undoing(admin: psycopg.Connection[Any], database: str, tmp_path: Path) -> None:
    saved = tmp_path / "order.jsonl"
    assert stopped(database)
    run(database, save=str(saved)).plan()
    run(database).undo()
    run(database, evidence=str(saved)).apply(0)
    check(admin, [])


@pytest.mark.parametrize("content", ["", "no json\n", '{"format": "other/1"}\n', "[]\n",
                                     '{"format": "jarvis-ops-order/1", "table": "public.others"}\n'])  # fmt: skip
def test_a_file_that_holds_no_order_is_a_usage_error(
    admin: psycopg.Connection[Any], database: str, tmp_path: Path, content: str
) -> None:
    path = tmp_path / "order.jsonl"
    path.write_text(content)
    with pytest.raises(UsageError):
        run(database, evidence=str(path)).apply(0)
    assert nothing_left(admin)


def test_a_large_table_wants_its_space_checked(
    admin: psycopg.Connection[Any], database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jarvis_ops.stores.postgres.seq.preflight.SPACE_TO_CHECK", 1000)
    with pytest.raises(RefusedError, match="say --space-checked"):
        run(database).apply(0)
    assert run(database, space_checked=True).apply(0).status == "applied"
    check(admin, [])


def test_a_store_of_files_has_nothing_to_do(tmp_path: Path) -> None:
    for options in ([], ["--apply"]):
        done = migrate(str(tmp_path), "-v", *options)
        assert done.returncode == 0
        assert done.stdout.startswith("nothing to do, line order is the order\n")


def test_a_store_that_is_read_by_its_ids_has_nothing_to_do(connect: Connect, database: str) -> None:
    from jarvis_ops.stores.postgres.profiles import LANGCHAIN

    connect().execute(
        "CREATE TABLE chat_history (id serial PRIMARY KEY, session_id text, message jsonb, created_at timestamptz)"
    )
    outcome = Numbering(database, LANGCHAIN, Wishes(), QUIET).apply(0)
    assert (outcome.status, outcome.steps) == ("clean", ["nothing to do, rows are read by id"])


@pytest.mark.parametrize(
    "options",
    [
        ["--apply", "--dry-run"], ["--apply", "--finish"], ["--undo", "--finish"], ["--apply", "--save-evidence", "x"],
        ["--evidence", "x", "--save-evidence", "y"], ["--undo", "--evidence", "x"], ["--max-wait", "soon"],
        ["--sleep", "-1s"],
    ],
)  # fmt: skip
def test_options_that_contradict_each_other(database: str, options: list[str]) -> None:
    done = migrate(database, *options)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_a_password_is_never_shown(admin: psycopg.Connection[Any], database: str) -> None:
    with_password = database.replace("//postgres@", "//postgres:s3cret@")
    for options in (["--json"], ["--apply", "--progress"], ["--finish"], ["--undo"]):
        done = migrate(with_password, *options)
        assert "s3cret" not in done.stdout + done.stderr
    wrong = migrate(with_password.replace("/jarvis_ops_test", "/no_such"), "--apply")
    assert (wrong.returncode, "s3cret" in wrong.stdout + wrong.stderr) == (3, False)
    check(admin, [])


def test_progress_shows_rows_and_the_time_that_remains(admin: psycopg.Connection[Any], database: str) -> None:
    done = migrate(database, "--apply", "--progress", "--sleep", "30ms", "--max-replica-lag", "1s")
    assert done.returncode == 0
    assert "rows (numbering)" in done.stderr
    check(admin, [])


def test_the_report_for_programs(admin: psycopg.Connection[Any], database: str) -> None:
    report = json.loads(migrate(database, "--apply", "--json").stdout)
    outcome = report["outcomes"][0]
    assert (report["status"], report["exit_code"], outcome["column"]) == ("applied", 0, "missing")
    assert outcome["records"] == TURNS * 6
    assert outcome["waited_ms"] <= 1000
    check(admin, [])


def test_an_empty_table_gets_its_column(connect: Connect, database: str) -> None:
    admin = connect()
    create(admin)
    add_sessions(admin, "s1")
    assert run(database).apply(0).status == "applied"
    add_rows(admin, [NEW])
    assert one(admin, "SELECT seq FROM jarvis_entries") == 1
    assert run(database).apply(0).status == "clean"


def test_transactions_that_are_too_old_to_tell_are_no_evidence(
    admin: psycopg.Connection[Any], database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jarvis_ops.stores.postgres.seq.evidence.OLDEST_AGE", -1)
    plan = run(database).plan()
    assert plan.traceless == TURNS * 6
    assert len(plan.undecided) == TURNS
    assert one(admin, "SELECT count(*) FROM jarvis_entries") == TURNS * 6


def test_a_table_of_another_name_in_another_schema(connect: Connect, database: str) -> None:
    from msgspec.structs import replace

    admin = connect()
    fill(admin, 20)
    admin.execute('CREATE SCHEMA "Talk"')
    admin.execute('ALTER TABLE jarvis_entries SET SCHEMA "Talk"')
    admin.execute('ALTER TABLE "Talk".jarvis_entries RENAME TO "Said"')
    admin.execute('ALTER TABLE "Talk"."Said" RENAME COLUMN id TO "Key"')
    profile = replace(JARVIS, entries="Talk.Said", columns=replace(JARVIS.columns, key="Key", seq="place"))
    assert Numbering(database, profile, Wishes(), QUIET).apply(0).status == "applied"
    assert Numbering(database, profile, Wishes(), QUIET).apply(0).status == "clean"
    statement = 'SELECT count(*) FROM (SELECT n, lag(n) OVER (ORDER BY "timestamp", place) AS b FROM "Talk"."Said"'
    assert one(admin, f'{statement} JOIN truth t ON t.id = "Key") x WHERE b > n') == 0
