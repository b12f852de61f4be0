"""The last steps: no row without a number ever again, an index to read by, and a look at what came of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, LiteralString

from psycopg import Connection, errors
from psycopg.sql import SQL, Identifier

from jarvis_ops.errors import BusyError
from jarvis_ops.model.trace import Moment
from jarvis_ops.stores.postgres.schema import Index, table
from jarvis_ops.stores.postgres.seq.column import column_of
from jarvis_ops.stores.postgres.seq.evidence import Evidence
from jarvis_ops.stores.postgres.seq.locks import Locker
from jarvis_ops.stores.postgres.seq.target import Target, execute, exists

CHECKED: LiteralString = "SELECT convalidated FROM pg_constraint WHERE conrelid = %s AND conname = %s AND contype = 'c'"
# Proving waits for nobody who reads or writes, only for who alters the table or frees its space.
PROVE_WAIT = 60_000
INDEX_TRIES = 5
DUPLICATES: LiteralString = """
SELECT count(*) FROM (SELECT FROM {table} WHERE {seq} IS NOT NULL GROUP BY {seq} HAVING count(*) > 1) twice"""


def forbid_null(locker: Locker) -> None:
    """NOT NULL, without ever reading the table under the strict lock: by a check that was proven before.

    Four statements, each with a lock of its own: in one, the check would be gone when it is asked for.
    """
    connection, target = locker.connection, locker.target
    column = column_of(connection, target)
    if column is not None and not column.filled:
        check_filled(locker)
        locker.under(lambda: alter(locker, "ALTER COLUMN {seq} SET NOT NULL"))
    if execute(connection, CHECKED, target.shape.entries.oid, target.check):
        locker.under(lambda: alter(locker, "DROP CONSTRAINT IF EXISTS {check}"))


def check_filled(locker: Locker) -> None:
    """A proven check that every row has a number; to be made once all have one, for updates must meet it at once."""
    connection, target = locker.connection, locker.target
    state = execute(connection, CHECKED, target.shape.entries.oid, target.check)
    if not state:
        locker.under(lambda: alter(locker, "ADD CONSTRAINT {check} CHECK ({seq} IS NOT NULL) NOT VALID"))
    if not state or not state[0][0]:
        try:
            with connection.transaction():
                connection.execute(f"SET LOCAL lock_timeout = {PROVE_WAIT}".encode())
                alter(locker, "VALIDATE CONSTRAINT {check}")
        except errors.LockNotAvailable:
            raise BusyError(locker.in_the_way()) from None


def alter(locker: Locker, change: LiteralString) -> None:
    """ALTER TABLE."""
    target = locker.target
    names = {"table": target.name, "seq": target.seq, "check": Identifier(target.check)}
    statement: LiteralString = "ALTER TABLE {table} "
    execute(locker.connection, statement + change, **names)


def indexes(connection: Connection[Any], target: Target) -> list[Index]:
    """The indexes on conversation, time and number, valid or not."""
    found = table(connection, f"{target.schema}.{target.table}")
    if found is None:
        return []
    columns = target.shape.profile.columns
    wanted = tuple(found.numbers.get(name) for name in (columns.session, columns.time, columns.seq))
    return [index for index in found.indexes if index.columns == wanted and index.whole]


def indexed(connection: Connection[Any], target: Target) -> bool:
    """Whether there is an index that serves reading, and none beside it that was not built to its end."""
    found = indexes(connection, target)
    return any(index.valid for index in found) and all(index.valid or index.building for index in found)


def build_index(connection: Connection[Any], target: Target, *, concurrently: bool = True) -> None:
    """The index on conversation, time and number, built to its end. Half-built ones give way to it."""
    how: LiteralString = " CONCURRENTLY" if concurrently else ""
    columns = SQL(", ").join([target.session, target.time, target.seq])
    for _ in range(INDEX_TRIES):
        for index in indexes(connection, target):
            if not index.valid:
                drop: LiteralString = "DROP INDEX" + how + " IF EXISTS {index}"
                execute(connection, drop, index=Identifier(target.schema, index.name))
        if any(index.valid for index in indexes(connection, target)):
            return
        create: LiteralString = "CREATE INDEX" + how + " {index} ON {table} ({columns})"
        name = free_name(connection, target)
        execute(connection, create, index=Identifier(name), table=target.name, columns=columns)
    raise BusyError(f"the index on {target.label} was not built to its end; the next run tries again")


def free_name(connection: Connection[Any], target: Target) -> str:
    """A name for the index that nothing has."""
    name, number = target.index, 0
    while exists(connection, Identifier(target.schema, name)):
        number += 1
        name = target.shortened(f"{number}_{target.index}")
    return name


def unlimited(connection: Connection[Any]) -> None:
    """Building waits for every older transaction there is, and a limit on that would leave half an index."""
    connection.execute("SET lock_timeout = 0")
    connection.execute("SET statement_timeout = 0")


def duplicates(connection: Connection[Any], target: Target) -> int:
    """How many numbers are on more than one row."""
    return int(execute(connection, DUPLICATES, table=target.name, seq=target.seq)[0][0])


def as_read(evidence: Evidence) -> Iterator[Moment]:
    """All moments of several rows, their rows in the order in which an agent reads them."""
    for moment in evidence.moments():
        yield moment._replace(rows=tuple(sorted(moment.rows, key=lambda row: (row.number is None, row.number))))


def drop_ours(connection: Connection[Any], target: Target) -> None:
    """Remove the plan and the state."""
    execute(connection, "DROP TABLE IF EXISTS {plan}, {state}", plan=target.plan, state=target.state)
