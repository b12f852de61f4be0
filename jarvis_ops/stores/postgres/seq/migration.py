"""Numbers the rows of one table: each step is safe to repeat, and a run that was cut off is gone on with."""

from __future__ import annotations

from typing import Any, LiteralString

from psycopg import Connection, errors
from psycopg.sql import Literal

from jarvis_ops.errors import RefusedError
from jarvis_ops.stores.postgres.seq import column as columns
from jarvis_ops.stores.postgres.seq import finishing, plan_table
from jarvis_ops.stores.postgres.seq.backfill import Backfill, Pace
from jarvis_ops.stores.postgres.seq.evidence import Evidence
from jarvis_ops.stores.postgres.seq.hearing import Hearing
from jarvis_ops.stores.postgres.seq.locks import Locker
from jarvis_ops.stores.postgres.seq.plan_table import Decide, State, state_of
from jarvis_ops.stores.postgres.seq.target import Target, execute, exists, find

# So many rows are numbered in one transaction for each millisecond that a client may wait, and never more than that.
ROWS_PER_MS = 10
MOST_AT_ONCE = 50_000
HIGHEST: LiteralString = "SELECT coalesce(max({seq}), 0) FROM {table}"
COUNT: LiteralString = "SELECT count(*) FROM (SELECT FROM {table} LIMIT {limit}) few"
NEWER: LiteralString = "SELECT EXISTS (SELECT FROM {table} WHERE {seq} > (SELECT max(new_seq) FROM {plan}))"
UNNUMBERED: LiteralString = "SELECT EXISTS (SELECT FROM {plan} WHERE number IS NULL)"
PUT_BACK: LiteralString = """
UPDATE {table} t SET {seq} = p.number FROM {plan} p WHERE t.{key} = p.key AND t.{seq} = p.new_seq"""


class Migration:
    """One run over one table."""

    def __init__(self, evidence: Evidence, decide: Decide, pace: Pace, hearing: Hearing) -> None:
        self.connection: Connection[Any] = evidence.connection
        self.target: Target = evidence.target
        self.locker = Locker(self.connection, self.target, pace.max_wait)
        self.say = hearing.say
        self._hearing = hearing
        self._evidence = evidence
        self._decide = decide
        self._pace = pace
        self._backfill = Backfill(self.connection, self.target, pace, hearing)
        self._names = {"table": self.target.name, "seq": self.target.seq, "plan": self.target.plan}

    def run(self, run: str) -> None:
        """From the state in which the table is found to the end. Raises what psycopg raises, and BusyError."""
        state = state_of(self.connection, self.target)
        if state is not None and state.done:
            # A new round, for what has come to be wrong since.
            finishing.drop_ours(self.connection, self.target)
            state = None
        if state is None:
            base = self._highest()
            state = self.locker.under(lambda: self._begin(run, base))
            self._look_again()
            self.say("new rows get their number from the sequence")
        # An update that is rolled back destroys what tells the order as well, so the plan is kept before any is tried.
        if not exists(self.connection, self.target.plan):
            self._hearing.begin(self.target.rows, "reading")
            plan_table.create(self._evidence, state, self._decide)
            self.say("the order of the old rows is decided, and written into a plan")
        if not (state.position == 0 and self._is_small() and self._at_once()):
            self._in_batches(state)
        execute(self.connection, "ANALYZE {table}", table=self.target.name)
        execute(self.connection, "UPDATE {state} SET done = true", state=self.target.state)

    def _is_small(self) -> bool:
        limit = min(MOST_AT_ONCE, self._pace.max_wait * ROWS_PER_MS)
        return bool(execute(self.connection, COUNT, limit=Literal(limit + 1), **self._names)[0][0] <= limit)

    def _in_batches(self, state: State) -> None:
        """All numbers and what follows them, for a table in use."""
        self._backfill.run(state.position)
        self._backfill.sweep()
        self.say("every row has its number")
        finishing.forbid_null(self.locker)
        self.say("rows without a number are refused")
        finishing.unlimited(self.connection)
        finishing.build_index(self.connection, self.target)
        self.say("the index to read by is built")

    def _at_once(self) -> bool:
        """The same in one transaction, for a small table; whether it was done in the time that others may wait."""
        try:
            self.locker.under(self._write)
        except errors.QueryCanceled:
            self.say("writing all at once would keep others waiting, so it is done in batches")
            return False
        self.say("all rows were numbered in one transaction")
        return True

    def _write(self) -> None:
        self.connection.execute(f"SET LOCAL statement_timeout = {self._pace.max_wait}".encode())
        self._backfill.all_at_once()
        self._backfill.sweep()
        finishing.alter(self.locker, "ALTER COLUMN {seq} SET NOT NULL")
        finishing.build_index(self.connection, self.target, concurrently=False)
        column = columns.column_of(self.connection, self.target)
        if column is not None and column.sequence is not None:
            columns.set_last(self.connection, column.sequence, self._highest())

    def _highest(self) -> int:
        """The highest number of a row; 0 without a column."""
        if columns.column_of(self.connection, self.target) is None:
            return 0
        return int(execute(self.connection, HIGHEST, **self._names)[0][0])

    def _begin(self, run: str, base: int) -> State:
        """Let new rows be numbered above all old ones; under the strict lock, once all writers are done."""
        added = columns.column_of(self.connection, self.target) is None
        bound = (columns.make if added else columns.mend)(self.connection, self.target, base)
        plan_table.begin(self.connection, self.target, run, added=added, base=base, bound=bound)
        return State(run, added, base, bound, position=0, done=False)

    def _look_again(self) -> None:
        """The table has its column now, and rows that have come since have numbers in it."""
        target = find(self.connection, self.target.shape.profile)
        self._evidence = Evidence(self.connection, target, saved=self._evidence.saved)


def undo(locker: Locker) -> str:
    """Take a migration back for which there is still a plan or a state; the run that was taken back.

    RefusedError where rows were added since, whose order would be lost.
    """
    connection, target = locker.connection, locker.target
    state = state_of(connection, target)
    if state is None:
        raise RefusedError(f"there is no numbering of {target.label} to take back, or it was finished with --finish")
    planned = exists(connection, target.plan)
    names = {"table": target.name, "seq": target.seq, "plan": target.plan, "key": target.key}
    column = columns.column_of(connection, target)
    filled = column is not None and column.filled and planned
    if state.added and filled and execute(connection, NEWER, **names)[0][0]:
        raise RefusedError(
            f"{target.label} is numbered to its end, and rows were added since; taking that back would lose their order"
        )
    if not state.added and planned:
        if filled and execute(connection, UNNUMBERED, **names)[0][0]:
            locker.under(lambda: finishing.alter(locker, "ALTER COLUMN {seq} DROP NOT NULL"))
        with connection.transaction():
            execute(connection, PUT_BACK, **names)
    locker.under(lambda: forget(locker, state))
    return state.run


def forget(locker: Locker, state: State) -> None:
    """Take away what a migration has made; the sequence goes with the column."""
    if state.added:
        finishing.alter(locker, "DROP CONSTRAINT IF EXISTS {check}")
        finishing.alter(locker, "DROP COLUMN IF EXISTS {seq}")
    finishing.drop_ours(locker.connection, locker.target)


def finish(connection: Connection[Any], target: Target) -> bool:
    """Drop the plan, the only record of what decided the order; whether there was one. RefusedError if unfinished."""
    state = state_of(connection, target)
    if state is None and not exists(connection, target.plan):
        return False
    if state is not None and not state.done:
        raise RefusedError(f"the numbering of {target.label} is not at its end; go on with migrate-seq --apply first")
    finishing.drop_ours(connection, target)
    return True
