"""A run that is killed at any statement leaves a conversation as it was, or whole as it was to be."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg

from tests.postgres.conftest import Connect
from tests.postgres.healing import add_talk, table, unanswered
from tests.postgres.tables import NUMBERED, create

ROOT = Path(__file__).resolve().parents[2]
MOST = 60


def kills(database: str, what: str) -> Iterator[int]:
    """Run it, and kill it before the first statement, after it, before the second…; ends when it comes to its end."""
    for number in range(1, MOST):
        for moment in ("before", "after"):
            line = [sys.executable, "-m", "tests.postgres.killed", database, what, moment, str(number)]
            code = subprocess.run(line, cwd=ROOT, env=dict(os.environ), check=False, capture_output=True).returncode
            if code == 0:
                return
            assert code == -signal.SIGKILL
            yield number
    raise AssertionError("it never came to its end")


def idle(connection: psycopg.Connection[Any]) -> None:
    """Wait until nothing of a killed run is left on the server."""
    others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    while connection.execute(others).fetchone() != (0,):
        pass


def test_killed_at_every_statement(connect: Connect, database: str) -> None:
    connection = connect()
    create(connection, NUMBERED)
    add_talk(connection, "talk", unanswered("talk"))
    connection.execute("SELECT setval('jarvis_entries_seq_seq', 100)")
    old = table(connection)
    states: list[bool] = []
    for _ in kills(database, "heal"):
        idle(connection)
        states.append(table(connection) == old)
        if not states[-1]:
            break
    # Only behind the commit is it another.
    assert states.count(False) == 1
    assert len(states) > 15
    new = table(connection)
    assert [row.count("talk-call") for row in new] == [0, 1, 1, 0, 0]
    (run,) = connection.execute("SELECT DISTINCT run FROM jarvis_ops_journal").fetchone() or ("",)
    for _ in kills(database, str(run)):
        idle(connection)
        states.append(table(connection) == new)
        assert states[-1] or table(connection) == old
        if not states[-1]:
            break
    assert states.count(False) == 2
    assert table(connection) == old
