"""A migration that is killed at any moment, with clients at work, is gone on with, and nobody notices."""

from __future__ import annotations

import random
import subprocess
import time

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
# A run that is let go on takes about so long, from its start to its end (seconds).
LONGEST = 6.0


def killed(dsn: str, after: float) -> bool:
    """Kill a run after so many seconds; whether it was not at its end by then."""
    with subprocess.Popen(
        command(dsn, "--apply", "--sleep", "5ms"), cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        try:
            _, said = process.communicate(timeout=after)
            assert process.returncode in (0, 4), said
        except subprocess.TimeoutExpired:
            process.kill()
            return True
    return False


@pytest.mark.parametrize("seed", range(2))
def test_killed_runs_are_gone_on_with(connect: Connect, database: str, full: bool, seed: int) -> None:
    chance, admin = random.Random(seed), connect()
    fill(admin, TURNS)
    kills, wanted = 0, 100 if full else 10
    with clients(database, WORK) as seen:
        while kills < wanted:
            kills += killed(database, chance.uniform(0.3, LONGEST if full else 1.6))
        done = migrate(database, "--apply")
        assert done.returncode == 0, done.stderr
    assert not seen.errors
    assert max(seen.times) < 1
    check(admin, seen.written)
    assert migrate(database, "--finish").returncode == 0
    assert nothing_left(admin)
    again = migrate(database, "--apply")
    assert (again.returncode, "Nothing to do" in again.stdout) == (0, True)


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
