"""A migration that is killed at any moment, with clients at work, is gone on with, and nobody notices."""

from __future__ import annotations

import random
import subprocess
import time
from typing import Any

import psycopg
import pytest

from jarvis_ops.operations.migrate_seq import Numbering, Wishes
from jarvis_ops.stores.postgres.profiles import JARVIS
from tests.postgres.conftest import Cluster, Connect
from tests.postgres.live import QUIET, ROOT, check, clients, command, fill, migrate, nothing_left
from tests.postgres.tables import create
from tests.postgres.turns import Writer, worth

TURNS = 3_000
WORK = [("write", 20), ("change", 20)]
# When a run is killed, in seconds after its start, at which Python takes some.
EARLIEST, LATEST = 0.4, 2.0
TABLES = "jarvis_entries, jarvis_sessions, truth, wanted"


def killed(dsn: str, after: float) -> bool:
    """Kill a run after so many seconds; whether it was not at its end by then."""
    with subprocess.Popen(
        command(dsn, "--apply", "--sleep", "30ms", "--max-wait", "40ms"),
        cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            _, said = process.communicate(timeout=after)
            assert process.returncode == 0, said
        except subprocess.TimeoutExpired:
            process.kill()
            return True
    return False


def killed_again_and_again(admin: psycopg.Connection[Any], dsn: str, chance: random.Random) -> int:
    """Number a table with runs of which all are killed but the last; how many those were."""
    fill(admin, TURNS)
    kills = 0
    with clients(dsn, WORK) as seen:
        while killed(dsn, chance.uniform(EARLIEST, LATEST)):
            kills += 1
    assert not seen.errors
    assert max(seen.times) < 1
    check(admin, seen.written)
    assert migrate(dsn, "--finish").returncode == 0
    assert nothing_left(admin)
    # What clients have deleted meanwhile may have left a result behind; nothing else is to be done.
    assert migrate(dsn, "--apply").returncode == 0
    again = migrate(dsn, "--apply")
    assert (again.returncode, "Nothing to do" in again.stdout) == (0, True)
    admin.execute(f"DROP TABLE {TABLES}".encode())
    admin.execute("DROP TABLE IF EXISTS jarvis_ops_seq_plan_jarvis_entries, jarvis_ops_seq_state_jarvis_entries")
    return kills


@pytest.mark.parametrize("seed", range(2))
def test_killed_runs_are_gone_on_with(connect: Connect, database: str, full: bool, seed: int) -> None:
    chance, admin = random.Random(seed), connect()
    wanted = 100 if full else 10
    while wanted > 0:
        wanted -= killed_again_and_again(admin, database, chance)


def test_a_killed_server_loses_no_order(own_cluster: Cluster) -> None:
    with own_cluster(()) as server:
        with psycopg.connect(server.dsn(), autocommit=True) as admin:
            fill(admin, TURNS)
            # What is replayed from the log after a crash has lost the order of statements within a transaction.
            admin.execute("CHECKPOINT")
        with clients(server.dsn(), WORK) as seen:
            for after in (1.2, 1.8, 2.4):
                with subprocess.Popen(
                    command(server.dsn(), "--apply", "--sleep", "20ms"),
                    cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                ) as process:  # fmt: skip
                    time.sleep(after)
                    server.kill()
                    assert process.wait(20) in (0, 3)
                server.start()
            done = migrate(server.dsn(), "--apply")
            assert done.returncode == 0, done.stderr
        with psycopg.connect(server.dsn(), autocommit=True) as admin:
            check(admin, [])
        assert all("Operational" in error or "AdminShutdown" in error or "Crash" in error for error in seen.errors)


def test_what_a_crash_makes_uncertain_is_reported(own_cluster: Cluster) -> None:
    with own_cluster(()) as server:
        with psycopg.connect(server.dsn(), autocommit=True) as admin:
            create(admin)
            writer = Writer([admin], seed=1)
            writer.write(["s1", "s2"], 40)
        server.kill()
        server.start()
        outcome = Numbering(server.dsn(), JARVIS, Wishes(), QUIET).apply(0)
        with psycopg.connect(server.dsn(), autocommit=True) as admin:
            found = worth(admin, writer.truth)
        assert not found.broken
        assert outcome.undecided
        assert found.wrong <= {(one.conversation, int(one.time)) for one in outcome.undecided}
