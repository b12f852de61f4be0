"""A table in use: old rows whose order is known, clients at work on it, and what must hold of it in the end."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import psycopg

from jarvis_ops.stores.postgres.seq.hearing import Hearing
from tests.postgres.tables import create

ROOT = Path(__file__).parents[2]
QUIET = Hearing(lambda _: None, lambda *_: None, lambda _: None)
# Turns of one time each, written row by row in one transaction; `truth` keeps the order.
FILL = b"""
DO $$
DECLARE
  t int; r int; n int := 0; roles text[] := '{assistant,tool,tool,assistant,tool,assistant}';
  owner int[] := '{1,1,1,4,4,0}'; called text[];
BEGIN
  INSERT INTO jarvis_sessions (id) SELECT 's' || g FROM generate_series(0, 199) g;
  INSERT INTO jarvis_sessions (id) SELECT 'new' || g FROM generate_series(0, 9) g;
  FOR t IN 1..(SELECT turns FROM wanted) LOOP
    FOR r IN 1..6 LOOP
      INSERT INTO jarvis_entries (id, session_id, role, content, tool_calls, tool_call_id, "timestamp") VALUES (
        md5('old' || n), 's' || t % 200, roles[r], to_jsonb(repeat('x', (ARRAY[50, 200, 600])[1 + (t * 7 + r) % 3])),
        CASE r WHEN 1 THEN jsonb_build_array(jsonb_build_object('id', t || 'a'), jsonb_build_object('id', t || 'b'))
               WHEN 4 THEN jsonb_build_array(jsonb_build_object('id', t || 'c')) END,
        CASE r WHEN 2 THEN t || 'a' WHEN 3 THEN t || 'b' WHEN 5 THEN t || 'c' END,
        1790000000000 + t * 1000);
      n := n + 1;
    END LOOP;
  END LOOP;
END $$"""
TRUTH = b"""
CREATE TABLE truth AS SELECT md5('old' || n) AS id, n FROM generate_series(0, (SELECT turns * 6 FROM wanted) - 1) n"""
INVERSIONS = b"""
SELECT * FROM (
  SELECT session_id, "timestamp", n, seq, lag(n) OVER (PARTITION BY session_id, "timestamp" ORDER BY seq) AS before
  FROM jarvis_entries JOIN truth USING (id)) ordered WHERE before > n"""


def fill(connection: psycopg.Connection[Any], turns: int) -> None:
    """JARVIS's tables with six rows a turn."""
    create(connection)
    connection.execute(f"CREATE TABLE wanted AS SELECT {turns} AS turns".encode())
    connection.execute(FILL)
    connection.execute(TRUTH)
    connection.execute("ALTER TABLE truth ADD PRIMARY KEY (id)")
    connection.execute("VACUUM ANALYZE")


class Seen(NamedTuple):
    """What clients saw: seconds of each statement, errors, and the rows written in order as (session, id)."""

    times: list[float]
    errors: list[str]
    written: list[list[tuple[str, str]]]


@contextlib.contextmanager
def clients(dsn: str, kinds: Sequence[tuple[str, float]]) -> Iterator[Seen]:
    """Clients of these kinds, each with so many rounds a second; what they saw is known when the block ends."""
    seen = Seen([], [], [])
    started = []
    for number, (kind, rate) in enumerate(kinds):
        command = [sys.executable, "-m", "tests.postgres.clients", kind, dsn, str(rate), str(number)]
        process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started.append(process)
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    try:
        yield seen
    finally:
        for process in started:
            output, _ = process.communicate()
            report = json.loads(output)
            seen.times.extend(report["times"])
            seen.errors.extend(report["errors"])
            seen.written.append([(session, key) for session, key in report["written"]])


def command(dsn: str, *options: str) -> list[str]:
    """`migrate-seq` as a process."""
    return [sys.executable, "-m", "jarvis_ops", "migrate-seq", "--store", dsn, *options]


def migrate(dsn: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run `migrate-seq` to its end."""
    return subprocess.run(command(dsn, *options), cwd=ROOT, check=False, capture_output=True, text=True)


def check(connection: psycopg.Connection[Any], written: Sequence[Sequence[tuple[str, str]]]) -> None:
    """No row without a number, none twice, none out of order, old or new; the index valid; the column whole."""

    def one(statement: str) -> Any:
        row = connection.execute(statement.encode()).fetchone()
        return row[0] if row is not None else None

    assert one("SELECT count(*) FROM jarvis_entries WHERE seq IS NULL") == 0
    assert one("SELECT count(*) - count(DISTINCT seq) FROM jarvis_entries") == 0
    assert not connection.execute(INVERSIONS).fetchall()
    assert one("SELECT attnotnull FROM pg_attribute WHERE attrelid = 'jarvis_entries'::regclass AND attname = 'seq'")
    assert one("SELECT count(*) FROM pg_index WHERE NOT indisvalid OR NOT indisready") == 0
    assert one("SELECT count(*) FROM pg_class WHERE relname LIKE '%\\_ccnew%' OR relname LIKE '%\\_ccold%'") == 0
    assert one("SELECT count(*) FROM pg_constraint WHERE conrelid = 'jarvis_entries'::regclass AND contype = 'c'") == 0
    assert one("SELECT pg_get_serial_sequence('jarvis_entries', 'seq')") is not None
    assert one("SELECT last_value FROM jarvis_entries_seq_seq") >= one("SELECT max(seq) FROM jarvis_entries")
    assert one("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == 0
    read: dict[str, list[str]] = {}
    for session, key in connection.execute(
        'SELECT session_id, id FROM jarvis_entries ORDER BY session_id, "timestamp", seq'
    ):
        read.setdefault(session, []).append(key)
    for rows in written:
        for session in {session for session, _ in rows}:
            own = [key for name, key in rows if name == session]
            assert [key for key in read[session] if key in set(own)] == own


def nothing_left(connection: psycopg.Connection[Any]) -> bool:
    """Whether no table of ours is left behind."""
    row = connection.execute("SELECT count(*) FROM pg_class WHERE relname LIKE 'jarvis\\_ops%'").fetchone()
    return row == (0,)
