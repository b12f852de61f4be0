"""Gives the rows of a live table their numbers, a batch at a time, by the plan."""

from __future__ import annotations

import time
from collections import deque
from typing import Any, LiteralString, NamedTuple

from psycopg import Connection, errors
from psycopg.sql import SQL, Composable, Identifier, Literal

from jarvis_ops.errors import BusyError, RefusedError
from jarvis_ops.stores.postgres.seq.column import column_of
from jarvis_ops.stores.postgres.seq.hearing import Hearing
from jarvis_ops.stores.postgres.seq.target import Target, execute

# By the row's id, since an update moves it, and only where nobody has changed its number meanwhile.
FILL: LiteralString = """
UPDATE {table} t SET {seq} = p.new_seq FROM {plan} p
WHERE {within} AND t.{key} = p.key AND t.{seq} IS NOT DISTINCT FROM p.number AND t.{seq} IS DISTINCT FROM p.new_seq"""
# The end of a batch: the last row of a moment, so that no moment is ever half numbered.
END: LiteralString = """
SELECT coalesce((
  SELECT n.place - 1 FROM {plan} n,
    (SELECT l.session, l.moment FROM {plan} l WHERE l.place <= {end} ORDER BY l.place DESC LIMIT 1) l
  WHERE n.place > {end} AND ROW(n.session, n.moment) IS DISTINCT FROM ROW(l.session, l.moment)
  ORDER BY n.place LIMIT 1), {last})"""
LAST: LiteralString = "SELECT coalesce(max(place), 0) FROM {plan}"
UNFILLED: LiteralString = "SELECT count(*) FROM {table} WHERE {seq} IS NULL"
# What the plan does not know: rows that were added without a number although there is a default.
FILL_REST: LiteralString = """
UPDATE {table} t SET {seq} = r.number FROM (
  SELECT {key} AS key, nextval({sequence}::regclass) AS number FROM (
    SELECT * FROM {table} WHERE {seq} IS NULL ORDER BY {time}, age(xmin) DESC, cmin::text::bigint, ctid) e) r
WHERE t.{key} = r.key AND t.{seq} IS NULL"""
# How far the log is written, and how far the slowest replica has carried it out, as far as this role may see that.
REPLAYED: LiteralString = """
SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint,
       (SELECT min(pg_wal_lsn_diff(replay_lsn, '0/0'))::bigint FROM pg_stat_replication)"""
# A batch goes by single rows, whatever the planner believes of a table that was just made.
BY_ROWS: tuple[LiteralString, ...] = (
    "SET LOCAL enable_seqscan = off",
    "SET LOCAL enable_hashjoin = off",
    "SET LOCAL enable_mergejoin = off",
    "SET LOCAL jit = off",
    # The position stands in the same transaction, so what a crash takes away is done again.
    "SET LOCAL synchronous_commit = off",
)
FIRST_BATCH, SMALLEST_BATCH, LARGEST_BATCH = 1_000, 10, 50_000
# Who updates a row of a running batch waits for its end: so long it may last at most, in seconds.
LONGEST_BATCH = 0.15
SHARE_OF_WAIT = 0.5
TRIES = 60
# Old versions of rows are freed for use again each time that such a part of the table was written.
VACUUM_EVERY = 0.1
LAG_PAUSE = 0.5
LAG_PATIENCE = 600.0


class Pace(NamedTuple):
    """How hard to work: milliseconds that a client may wait, and between batches; the most a replica may lag."""

    max_wait: int = 100
    sleep: int = 0
    max_lag: int | None = None


class Backfill:
    """Carries a plan out from a position to its end. What was committed is never done twice."""

    def __init__(self, connection: Connection[Any], target: Target, pace: Pace, hearing: Hearing) -> None:
        self.connection = connection
        self.target = target
        self.pace = pace
        self._hearing = hearing
        self._batch = FIRST_BATCH
        # How far the log was written when: what a replica has not carried out yet.
        self._written: deque[tuple[int, float]] = deque()
        self._goal = min(LONGEST_BATCH, pace.max_wait / 1000 * SHARE_OF_WAIT)
        self._names: dict[str, Composable] = {
            "table": target.name,
            "plan": target.plan,
            "seq": target.seq,
            "key": target.key,
            "time": target.time,
        }

    def run(self, position: int) -> None:
        """All batches from this position on."""
        last = int(execute(self.connection, LAST, **self._names)[0][0])
        self._hearing.begin(last - position, "numbering")
        freed = position
        while position < last:
            end = self._end(position, last)
            self._fill(position, end)
            self._hearing.advance(end - position)
            position = end
            if position - freed > max(last * VACUUM_EVERY, LARGEST_BATCH):
                self._free()
                freed = position
            time.sleep(self.pace.sleep / 1000)
            self._wait_for_replicas()

    def _end(self, position: int, last: int) -> int:
        end = Literal(position + self._batch)
        return int(execute(self.connection, END, end=end, last=Literal(last), **self._names)[0][0])

    def _fill(self, position: int, end: int) -> None:
        """One batch; smaller ones take its place where somebody else is at its rows."""
        for attempt in range(TRIES):
            began = time.monotonic()
            try:
                with self.connection.transaction():
                    self._fill_within(position, end)
            except (errors.LockNotAvailable, errors.DeadlockDetected, errors.SerializationFailure):
                self._batch = max(SMALLEST_BATCH, self._batch // 4)
                time.sleep(min(1.0, 0.02 * 1.2**attempt))
                continue
            self._steer(time.monotonic() - began)
            return
        raise BusyError(
            f"somebody holds rows of {self.target.label} in a transaction that does not end; what was done so far is "
            "kept, and the next run goes on from here"
        )

    def _fill_within(self, position: int, end: int) -> None:
        for setting in BY_ROWS:
            self.connection.execute(setting)
        self.connection.execute(f"SET LOCAL lock_timeout = {max(10, round(self._goal * 1000))}".encode())
        within = SQL("p.place > {} AND p.place <= {}").format(Literal(position), Literal(end))
        execute(self.connection, FILL, within=within, **self._names)
        state = {"state": self.target.state, "end": Literal(end)}
        execute(self.connection, "UPDATE {state} SET position = {end}", **state)

    def _steer(self, took: float) -> None:
        factor = min(1.5, max(0.3, self._goal / max(took, 0.001)))
        self._batch = min(LARGEST_BATCH, max(SMALLEST_BATCH, int(self._batch * factor)))

    def _free(self) -> None:
        """Let the versions of rows that are written over be used again; leave it to autovacuum if that is busy."""
        statement: LiteralString = "VACUUM (SKIP_LOCKED, TRUNCATE false) {table}"
        execute(self.connection, statement, table=self.target.name)

    def _wait_for_replicas(self) -> None:
        if self.pace.max_lag is None:
            return
        written, _ = self._replayed()
        self._written.append((written, time.monotonic()))
        deadline = time.monotonic() + LAG_PATIENCE
        while self._lag() > self.pace.max_lag:
            if time.monotonic() > deadline:
                raise BusyError(
                    f"a replica has been more than {self.pace.max_lag} ms behind for ten minutes; what was done so far "
                    "is kept, and the next run goes on from here"
                )
            time.sleep(LAG_PAUSE)

    def _lag(self) -> float:
        """By how many milliseconds the slowest replica is behind what we have written."""
        _, replayed = self._replayed()
        while self._written and (replayed is None or self._written[0][0] <= replayed):
            self._written.popleft()
        return (time.monotonic() - self._written[0][1]) * 1000 if self._written else 0

    def _replayed(self) -> tuple[int, int | None]:
        written, replayed = execute(self.connection, REPLAYED)[0]
        return written, replayed

    def sweep(self) -> None:
        """Number what the batches did not: rows that have no number still."""
        if not self._unfilled():
            return
        with self.connection.transaction():
            execute(self.connection, FILL, within=SQL("t.{} IS NULL").format(self.target.seq), **self._names)
        if not self._unfilled():
            return
        column = column_of(self.connection, self.target)
        if column is None or column.sequence is None:
            raise RefusedError(f"the sequence that numbers the rows of {self.target.label} has gone; run this again")
        sequence = Literal(Identifier(*column.sequence).as_string(self.connection))
        with self.connection.transaction():
            execute(self.connection, FILL_REST, sequence=sequence, **self._names)

    def _unfilled(self) -> int:
        return int(execute(self.connection, UNFILLED, **self._names)[0][0])

    def all_at_once(self) -> None:
        """All numbers in one statement, for a table that is ours alone."""
        execute(self.connection, FILL, within=SQL("true"), **self._names)
