"""What goes wrong when the order column is added by hand, and does not when `migrate-seq` adds it."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from typing import Any

import psycopg
import pytest

from jarvis_ops.errors import BusyError, RefusedError, StoreError
from jarvis_ops.model.report import MigrateOutcome
from jarvis_ops.operations.migrate_seq import Numbering, Wishes
from jarvis_ops.stores.postgres.profiles import JARVIS
from jarvis_ops.stores.postgres.seq.backfill import Pace
from jarvis_ops.stores.postgres.seq.finishing import forbid_null, indexed
from jarvis_ops.stores.postgres.seq.hearing import Hearing
from jarvis_ops.stores.postgres.seq.locks import Locker
from jarvis_ops.stores.postgres.seq.target import find
from tests.postgres.conftest import Cluster, Connect
from tests.postgres.live import QUIET, ROOT, check, fill
from tests.postgres.pooler import pooled
from tests.postgres.server import Server, free_port
from tests.postgres.tables import add_rows

# More rows than are written in one transaction.
TURNS = 300
NEW = {"id": "new1", "session_id": "s1", "role": "user", "content": '"hi"', "timestamp": 1_800_000_000_000}
BY_INDEX = b"""
EXPLAIN SELECT id FROM jarvis_entries WHERE session_id = 's1' ORDER BY "timestamp" DESC, seq DESC LIMIT 50"""


def apply(dsn: str, hearing: Hearing = QUIET, **pace: int) -> MigrateOutcome:
    return Numbering(dsn, JARVIS, Wishes(Pace(**pace)), hearing).apply(0)


def one(connection: psycopg.Connection[Any], statement: bytes) -> Any:
    row = connection.execute(statement).fetchone()
    return row[0] if row is not None else None


@pytest.fixture
def admin(connect: Connect) -> psycopg.Connection[Any]:
    connection = connect()
    fill(connection, TURNS)
    return connection


def as_role(admin: psycopg.Connection[Any], dsn: str, name: str, *grants: str) -> str:
    """A role of this name for this database alone, and the DSN with which it connects."""
    role = f"{name}_{admin.info.dbname}"
    admin.execute(f"CREATE ROLE {role} LOGIN".encode())
    for grant in grants:
        admin.execute(grant.format(role=role).encode())
    return dsn.replace("//postgres@", f"//{role}@")


@pytest.fixture
def roles(connect: Connect, database: str) -> Any:
    """Roles that a test made are gone after it."""
    yield
    connection = connect()
    for (role,) in connection.execute(
        "SELECT rolname FROM pg_roles WHERE rolname LIKE %s", (f"%{connection.info.dbname}",)
    ).fetchall():
        connection.execute(f"REASSIGN OWNED BY {role} TO postgres".encode())
        connection.execute(f"DROP OWNED BY {role}".encode())
        connection.execute(f"DROP ROLE {role}".encode())
    assert database


def test_nothing_is_rewritten(admin: psycopg.Connection[Any], database: str) -> None:
    before = one(admin, b"SELECT relfilenode FROM pg_class WHERE relname = 'jarvis_entries'")
    apply(database)
    assert one(admin, b"SELECT relfilenode FROM pg_class WHERE relname = 'jarvis_entries'") == before
    check(admin, [])


def test_an_agent_that_adds_the_column_itself_does_no_harm_afterwards(
    admin: psycopg.Connection[Any], database: str
) -> None:
    apply(database)
    admin.execute("ALTER TABLE jarvis_entries ADD COLUMN IF NOT EXISTS seq bigserial")
    assert one(admin, b"SELECT count(*) FROM pg_class WHERE relkind = 'S'") == 1
    assert apply(database).status == "clean"


def test_nobody_waits_behind_us_while_we_wait_for_a_reader(
    admin: psycopg.Connection[Any], connect: Connect, database: str
) -> None:
    reader = connect(autocommit=False)
    reader.execute("SELECT 1 FROM jarvis_entries LIMIT 1")
    migration = threading.Thread(target=apply, args=(database,))
    migration.start()
    slowest = 0.0
    for _ in range(60):
        began = time.monotonic()
        admin.execute("SELECT 1 FROM jarvis_entries LIMIT 1")
        slowest = max(slowest, time.monotonic() - began)
        time.sleep(0.02)
    reader.rollback()
    migration.join()
    assert slowest < 0.3
    check(admin, [])


def test_who_holds_the_table_for_long_is_named(
    admin: psycopg.Connection[Any], connect: Connect, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jarvis_ops.stores.postgres.seq.locks.TRIES", 5)
    reader = connect(autocommit=False)
    reader.execute("SELECT 1 FROM jarvis_entries LIMIT 1")
    with pytest.raises(BusyError, match=f"process {reader.info.backend_pid}.*idle in transaction"):
        apply(database)
    reader.rollback()
    assert one(admin, b"SELECT count(*) FROM pg_class WHERE relname LIKE 'jarvis\\_ops%'") == 0
    apply(database)
    check(admin, [])


def slow_autovacuum(admin: psycopg.Connection[Any]) -> None:
    """Wait until autovacuum is at the table, where it stays for long."""
    admin.execute(
        "ALTER TABLE jarvis_entries SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0)"
    )
    rows = "SELECT 'gone' || n, 's1', 'user', 1 FROM generate_series(1, 3000) n"
    admin.execute(f"INSERT INTO jarvis_entries (id, session_id, role, timestamp) {rows}".encode())
    admin.execute("DELETE FROM jarvis_entries WHERE id LIKE 'gone%'")
    at_work = b"SELECT count(*) FROM pg_stat_progress_vacuum WHERE relid = 'jarvis_entries'::regclass"
    deadline = time.monotonic() + 60
    while not one(admin, at_work):
        assert time.monotonic() < deadline
        time.sleep(0.1)


AUTOVACUUM = (
    "-F", "-c", "autovacuum_naptime=1s", "-c", "autovacuum_vacuum_cost_delay=100ms", "-c",
    "autovacuum_vacuum_cost_limit=1",
)  # fmt: skip


def test_autovacuum_makes_way(own_cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    with own_cluster(AUTOVACUUM) as server, psycopg.connect(server.dsn(), autocommit=True) as admin:
        fill(admin, TURNS)
        admin.execute("CREATE ROLE owner LOGIN")
        admin.execute("GRANT CREATE ON SCHEMA public TO owner")
        admin.execute("ALTER TABLE jarvis_entries OWNER TO owner")
        slow_autovacuum(admin)
        with monkeypatch.context() as patch:
            patch.setattr("jarvis_ops.stores.postgres.seq.locks.TRIES", 8)
            with pytest.raises(BusyError, match=r"autovacuum.*--max-wait 2s"):
                apply(server.dsn(user="owner"))
        slow_autovacuum(admin)
        outcome = apply(server.dsn(user="owner"), max_wait=2000)
        assert outcome.waited_ms is not None
        assert outcome.waited_ms >= 900


def test_a_superuser_lets_autovacuum_make_way_at_once(own_cluster: Cluster) -> None:
    with own_cluster(AUTOVACUUM) as server, psycopg.connect(server.dsn(), autocommit=True) as admin:
        fill(admin, TURNS)
        slow_autovacuum(admin)
        outcome = apply(server.dsn())
        assert outcome.waited_ms is not None
        assert outcome.waited_ms < 500
        check(admin, [])


def test_not_null_is_proven_before_and_not_by_reading(admin: psycopg.Connection[Any], connect: Connect) -> None:
    admin.execute("ALTER TABLE jarvis_entries ADD COLUMN seq bigserial")
    admin.execute("ALTER TABLE jarvis_entries ALTER COLUMN seq DROP NOT NULL")
    connection, heard = connect(), list[str]()
    connection.execute("SET client_min_messages = debug1")
    connection.add_notice_handler(lambda notice: heard.append(str(notice.message_primary)))
    forbid_null(Locker(connection, find(connection, JARVIS), 100))
    assert any("sufficient to prove" in message for message in heard)
    assert one(admin, b"SELECT count(*) FROM pg_constraint WHERE conname LIKE '%filled'") == 0
    with pytest.raises(psycopg.errors.NotNullViolation):
        add_rows(admin, [{**NEW, "seq": None}])


def test_rows_without_a_number_can_be_updated_meanwhile(
    admin: psycopg.Connection[Any], connect: Connect, database: str
) -> None:
    other, updated = connect(), list[int]()

    def update(_: int) -> None:
        found = other.execute(
            "UPDATE jarvis_entries SET compacted_at = now() WHERE id ="
            " (SELECT id FROM jarvis_entries WHERE seq IS NULL LIMIT 1)"
        )
        updated.append(found.rowcount)

    apply(database, QUIET._replace(advance=update))
    assert sum(updated) > 10
    check(admin, [])


def invalid_index(admin: psycopg.Connection[Any], connect: Connect, name: str) -> None:
    """What a build that was cut off leaves."""
    blocker = connect(autocommit=False)
    blocker.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    blocker.execute("SELECT count(*) FROM truth")
    admin.execute("SET statement_timeout = '300ms'")
    with pytest.raises(psycopg.errors.QueryCanceled):
        admin.execute(f'CREATE INDEX CONCURRENTLY {name} ON jarvis_entries (session_id, "timestamp", seq)'.encode())
    admin.execute("RESET statement_timeout")
    blocker.rollback()


@pytest.mark.parametrize("name", ["jarvis_entries_session_id_timestamp_seq_idx", "by_hand"])
def test_an_index_that_was_not_built_to_its_end_is_built_again(
    admin: psycopg.Connection[Any], connect: Connect, database: str, name: str
) -> None:
    admin.execute("ALTER TABLE jarvis_entries ADD COLUMN seq bigserial")
    invalid_index(admin, connect, name)
    outcome = apply(database)
    assert outcome.status == "applied"
    assert indexed(admin, find(admin, JARVIS))
    assert one(admin, b"SELECT count(*) FROM pg_index WHERE NOT indisvalid") == 0
    assert apply(database).status == "clean"


def test_the_index_waits_for_older_transactions_as_long_as_they_take(
    admin: psycopg.Connection[Any], connect: Connect, database: str
) -> None:
    database_settings = f"ALTER DATABASE {admin.info.dbname} SET lock_timeout = '200ms'"
    admin.execute(database_settings.encode())
    older = connect(autocommit=False)
    older.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    older.execute("SELECT count(*) FROM truth")
    migration = threading.Thread(target=apply, args=(database,))
    migration.start()
    time.sleep(3)
    older.rollback()
    migration.join()
    check(admin, [])


def test_the_index_gives_pages_both_ways(admin: psycopg.Connection[Any], database: str) -> None:
    apply(database)
    admin.execute("SET enable_sort = off")
    plan = "\n".join(row[0] for row in admin.execute(BY_INDEX))
    assert "Backward" in plan


@pytest.mark.usefixtures("roles")
def test_everybody_who_could_add_rows_still_can(admin: psycopg.Connection[Any], database: str) -> None:
    writer = as_role(admin, database, "writer", "GRANT INSERT, SELECT ON jarvis_entries TO {role}")
    columns = "id, session_id, role, content, timestamp"
    partly = as_role(admin, database, "partly", f"GRANT INSERT ({columns}) ON jarvis_entries TO {{role}}")
    reader = as_role(admin, database, "reader", "GRANT SELECT ON jarvis_entries TO {role}")
    plan = Numbering(database, JARVIS, Wishes(), QUIET).plan()
    assert [role.split("_")[0] for role in plan.roles] == ["partly", "writer"]
    apply(database)
    for number, dsn in enumerate((writer, partly)):
        with psycopg.connect(dsn) as connection:
            add_rows(connection, [{**NEW, "id": f"new{number}"}])
    assert "reader" in reader
    assert apply(database).status == "clean"


@pytest.mark.usefixtures("roles")
def test_the_sequence_belongs_to_whom_the_table_does(admin: psycopg.Connection[Any], database: str) -> None:
    as_role(
        admin,
        database,
        "owner",
        "GRANT CREATE ON SCHEMA public TO {role}",
        "ALTER TABLE jarvis_entries OWNER TO {role}",
    )
    apply(database)
    owner = one(admin, b"SELECT relowner::regrole::text FROM pg_class WHERE relname = 'jarvis_entries_seq_seq'")
    assert owner.startswith("owner_")
    check(admin, [])


@pytest.mark.usefixtures("roles")
def test_an_owner_who_is_no_superuser_can_do_it(admin: psycopg.Connection[Any], database: str) -> None:
    owner = as_role(
        admin, database, "owner", "GRANT CREATE ON SCHEMA public TO {role}",
        "ALTER TABLE jarvis_entries OWNER TO {role}", "ALTER TABLE jarvis_sessions OWNER TO {role}",
    )  # fmt: skip
    apply(owner)
    check(admin, [])


@pytest.mark.usefixtures("roles")
@pytest.mark.parametrize(
    ("grants", "reason"),
    [
        (["GRANT ALL ON jarvis_entries TO {role}"], "only its owner may alter it"),
        (["ALTER TABLE jarvis_entries OWNER TO {role}"], "may not create the table with the plan"),
    ],
)
def test_a_role_that_may_not_is_refused(
    admin: psycopg.Connection[Any], database: str, grants: list[str], reason: str
) -> None:
    admin.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
    dsn = as_role(admin, database, "stranger", *grants)
    with pytest.raises(RefusedError, match=reason):
        apply(dsn)


def test_new_rows_come_behind_all_old_ones_from_the_first_moment(
    admin: psycopg.Connection[Any], connect: Connect, database: str
) -> None:
    other = connect()
    calls = iter(range(10_000))

    def add(_: int) -> None:
        add_rows(other, [{**NEW, "id": f"late{next(calls)}", "timestamp": 1_790_000_001_000}])

    apply(database, QUIET._replace(advance=add))
    rows = [row[0] for row in admin.execute("SELECT id FROM jarvis_entries WHERE session_id = 's1' ORDER BY seq")]
    late = [key for key in rows if key.startswith("late")]
    assert late == [f"late{number}" for number in range(len(late))]
    assert rows[-len(late) :] == late
    check(admin, [])


HOLD = """
import sys, psycopg
from jarvis_ops.stores.postgres.connect import connect
from jarvis_ops.stores.postgres.profiles import JARVIS
from jarvis_ops.stores.postgres.seq.locks import only_one
from jarvis_ops.stores.postgres.seq.target import find
connection = connect(sys.argv[1])
connection.autocommit = True
with only_one(connection, sys.argv[1], find(connection, JARVIS)):
    print("held", flush=True)
    connection.execute("SELECT pg_sleep(30)")
"""


def test_a_second_run_is_refused_and_the_lock_of_a_killed_one_is_soon_free(
    admin: psycopg.Connection[Any], database: str
) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLD, database], cwd=ROOT, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(BusyError, match=r"another migration of public.jarvis_entries is running: process \d+"):
            apply(database)
        holder.kill()
    apply(database)
    check(admin, [])


def test_numbers_are_put_right_under_a_unique_index(admin: psycopg.Connection[Any], database: str) -> None:
    admin.execute("ALTER TABLE jarvis_entries ADD COLUMN seq bigint UNIQUE")
    # Each fourth row is a call, and the one behind it its result.
    admin.execute(
        "UPDATE jarvis_entries e SET seq = CASE n % 6 WHEN 3 THEN n + 2 WHEN 4 THEN n ELSE n + 1 END"
        " FROM truth t WHERE t.id = e.id"
    )
    outcome = apply(database)
    assert outcome.status == "applied"
    assert outcome.changed == TURNS
    check(admin, [])
    assert apply(database).status == "clean"


def test_a_pooler_in_transaction_mode_is_refused(admin: psycopg.Connection[Any], database: str) -> None:
    with pooled(database) as dsn, pytest.raises(RefusedError, match="connection pooler"):
        apply(dsn)
    assert one(admin, b"SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == 0


def test_a_full_disk_and_a_statement_limit_lose_nothing(admin: psycopg.Connection[Any], database: str) -> None:
    admin.execute(
        "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN IF NEW.seq > 500 THEN RAISE 'no space left' USING ERRCODE = '53100'; END IF; RETURN NEW; END $$"
    )
    admin.execute("CREATE TRIGGER filled BEFORE UPDATE ON jarvis_entries FOR EACH ROW EXECUTE FUNCTION full_disk()")
    with pytest.raises(RefusedError, match="would fire filled for every row"):
        apply(database)
    with pytest.raises(StoreError, match="disk is full"):
        Numbering(database, JARVIS, Wishes(allow_triggers=True), QUIET).apply(0)
    admin.execute("DROP TRIGGER filled ON jarvis_entries")
    admin.execute(f"ALTER DATABASE {admin.info.dbname} SET statement_timeout = '3ms'".encode())
    with pytest.raises(StoreError, match="took too long"):
        apply(database)
    admin.execute(f"ALTER DATABASE {admin.info.dbname} RESET statement_timeout".encode())
    apply(database)
    check(admin, [])


def test_a_standby_is_refused(own_cluster: Cluster) -> None:
    with own_cluster() as server:
        with psycopg.connect(server.dsn(), autocommit=True) as admin:
            fill(admin, 10)
        server.become_standby()
        with pytest.raises(RefusedError, match="standby"):
            apply(server.dsn())


def test_a_row_that_somebody_holds_is_waited_for_and_nobody_is_cut_off(
    admin: psycopg.Connection[Any], connect: Connect, database: str
) -> None:
    other = connect(autocommit=False)
    other.execute("UPDATE jarvis_entries SET compacted_at = now() WHERE id = md5('old700')")
    migration = threading.Thread(target=apply, args=(database,))
    migration.start()
    time.sleep(1)
    other.execute("UPDATE jarvis_entries SET compacted_at = now() WHERE id = md5('old20')")
    other.commit()
    migration.join()
    check(admin, [])


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("ALTER TABLE jarvis_entries DROP CONSTRAINT jarvis_entries_pkey", "not unique"),
        ("CREATE TABLE more () INHERITS (jarvis_entries)", "inherits"),
        ("CREATE RULE twice AS ON UPDATE TO jarvis_entries DO ALSO NOTHING", "would fire twice"),
    ],
)
def test_a_table_of_another_kind_is_refused(
    admin: psycopg.Connection[Any], database: str, change: str, reason: str
) -> None:
    admin.execute(change.encode())
    with pytest.raises(RefusedError, match=reason):
        apply(database)


def follow(server: Server, delay: str) -> None:
    """A replica that does everything so much later."""
    standby = server.base / "standby"
    server._run("pg_basebackup", "-D", str(standby), "-d", server.dsn(), "-R", "-X", "stream", "-c", "fast")
    settings = f"-F -p {free_port()} -c listen_addresses=127.0.0.1 -c unix_socket_directories={server.base}"
    options = f"{settings} -c recovery_min_apply_delay={delay}"
    log = str(server.base / "standby.log")
    server._run("pg_ctl", "start", "-D", str(standby), "-w", "-l", log, "-o", options)


def test_batches_wait_for_a_replica_that_is_behind(own_cluster: Cluster) -> None:
    with own_cluster(("-F",)) as server, psycopg.connect(server.dsn(), autocommit=True) as admin:
        fill(admin, TURNS)
        follow(server, "1s")
        try:
            time.sleep(1)
            began = time.monotonic()
            apply(server.dsn(), max_wait=10, sleep=100, max_lag=50)
            waited = time.monotonic() - began
        finally:
            server._run("pg_ctl", "stop", "-D", str(server.base / "standby"), "-m", "immediate")
        assert waited > 1
        check(admin, [])
