"""The lock that keeps a second migration out, and the short ones under which a table is altered."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any, LiteralString, TypeVar

from psycopg import Connection, errors
from psycopg.sql import SQL

from jarvis_ops.errors import BusyError, RefusedError
from jarvis_ops.stores.postgres.connect import connect
from jarvis_ops.stores.postgres.seq.target import Target, execute

T = TypeVar("T")

LOCK: LiteralString = "hashtextextended('jarvis-ops:migrate-seq:' || %s, 0)"
TAKE: LiteralString = f"SELECT pg_try_advisory_lock({LOCK})"
RELEASE: LiteralString = f"SELECT pg_advisory_unlock({LOCK})"
HOLDER: LiteralString = """
SELECT a.pid, coalesce(host(a.client_addr), 'this machine'), date_trunc('second', a.backend_start)
FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted
      AND (l.classid::bigint << 32) | l.objid::bigint = {lock}"""
# Who holds the table in any way; a backend that waits for it holds nothing yet.
HOLDERS: LiteralString = """
SELECT a.pid, CASE WHEN a.backend_type IS NULL AND bool_or(l.mode = 'ShareUpdateExclusiveLock')
       THEN 'hidden vacuum' ELSE coalesce(a.backend_type, 'hidden') END, coalesce(a.state, ''),
       a.query LIKE '%%to prevent wraparound%%',
       coalesce(a.application_name, ''), coalesce(extract(epoch FROM now() - a.xact_start)::int, 0)
FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
WHERE l.relation = %s AND l.granted AND l.pid <> pg_backend_pid()
GROUP BY 1, a.backend_type, 3, 4, 5, 6 ORDER BY 1"""
# A server whose client has died looks after it so often (ms), so that the lock of a killed run is soon free.
LOOK_FOR_CLIENT: LiteralString = "SET client_connection_check_interval = 500"
PATIENCE = 3.0
# Milliseconds to wait for a lock after three tries that do not wait. Autovacuum makes way after deadlock_timeout.
WAITS = (50, 100, 200, 400, 800, 1200, 2000)
TRIES = 30
VACUUMS = ("autovacuum worker", "hidden vacuum")
NO_WAIT_TRIES = 3
DEADLOCK_TIMEOUT = 50
# The rest of the longest wait is for what is done under the lock.
SHARE_OF_WAIT = 0.7


@contextmanager
def only_one(connection: Connection[Any], dsn: str, target: Target) -> Iterator[None]:
    """Hold the lock of a table's migration.

    BusyError, saying who has it; RefusedError where a pooler stands between, which would strand it.
    """
    refuse_pooler(connection, dsn)
    with suppress(errors.UndefinedObject, errors.InvalidParameterValue):
        connection.execute(LOOK_FOR_CLIENT)
    deadline = time.monotonic() + PATIENCE
    while not execute(connection, TAKE, target.label)[0][0]:
        if time.monotonic() > deadline:
            raise BusyError(f"another migration of {target.label} is running{held_by(connection, target)}")
        time.sleep(0.2)
    try:
        yield
    finally:
        with suppress(errors.OperationalError):
            connection.execute(RELEASE, (target.label,))


def held_by(connection: Connection[Any], target: Target) -> str:
    """Who has the lock, for the end of a sentence."""
    rows = execute(connection, HOLDER, target.label, lock=SQL(LOCK))
    return f": process {rows[0][0]} of the server, from {rows[0][1]}, since {rows[0][2]}" if rows else ""


def refuse_pooler(connection: Connection[Any], dsn: str) -> None:
    """RefusedError if our transactions may each come to another process of the server.

    A pooler gives a process that is between two transactions to whoever comes next: here to a second connection of
    ours. Without one, each connection keeps the process that it has.
    """
    with closing(connect(dsn)) as second:
        first = execute(connection, "SELECT pg_backend_pid()")[0][0]
        other = execute(second, "SELECT pg_backend_pid()")[0][0]
        if other == first or execute(connection, "SELECT pg_backend_pid()")[0][0] != first:
            raise RefusedError(
                "a connection pooler stands before the database and hands its processes round after each transaction "
                "(PgBouncer in transaction mode), so a lock would be left behind in it; name the database itself"
            )
        second.rollback()


class Locker:
    """Alters a table under its strictest lock, for a moment at a time.

    Clients wait no longer than `max_wait` milliseconds for us: we wait for the lock, with everybody behind us, for a
    part of that at most. `longest` is what it came to, in seconds.
    """

    def __init__(self, connection: Connection[Any], target: Target, max_wait: int) -> None:
        self.connection = connection
        self.target = target
        self.max_wait = max_wait
        self.longest = 0.0
        self._hurries = True

    def under(self, work: Callable[[], T]) -> T:
        """Do `work` in one transaction that has the table to itself. BusyError, with who is in the way."""
        for attempt in range(TRIES):
            try:
                return self._try(work, self._wait(attempt))
            except (errors.LockNotAvailable, errors.DeadlockDetected):
                time.sleep(min(0.05 * 1.15**attempt, 1) * random.uniform(0.7, 1.3))  # noqa: S311  no secret
        raise BusyError(self.in_the_way())

    def _wait(self, attempt: int) -> int:
        """How long to wait for the lock, in milliseconds; 0 is not at all."""
        if attempt < NO_WAIT_TRIES:
            return 0
        return min(WAITS[min(attempt - NO_WAIT_TRIES, len(WAITS) - 1)], round(self.max_wait * SHARE_OF_WAIT))

    def _try(self, work: Callable[[], T], wait: int) -> T:
        connection, began = self.connection, time.monotonic()
        with connection.transaction():
            if wait:
                self._hurry()
                connection.execute(f"SET LOCAL lock_timeout = {wait}".encode())
            mode: LiteralString = "" if wait else " NOWAIT"
            began = time.monotonic()
            try:
                execute(connection, "LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE" + mode, table=self.target.name)
                done = work()
            finally:
                self.longest = max(self.longest, time.monotonic() - began)
        self.longest = max(self.longest, time.monotonic() - began)
        return done

    def _hurry(self) -> None:
        """Let autovacuum make way at once, where we may say so."""
        if not self._hurries:
            return
        try:
            with self.connection.transaction():
                self.connection.execute(f"SET LOCAL deadlock_timeout = {DEADLOCK_TIMEOUT}".encode())
        except errors.InsufficientPrivilege:
            self._hurries = False

    def in_the_way(self) -> str:
        """Who holds the table, and what can be done."""
        rows = holders(self.connection, self.target)
        who = "; ".join(told(row) for row in rows) or "somebody who is gone now"
        text = f"{self.target.label} could not be had to itself for a moment: {who}"
        if any(row[1] in VACUUMS for row in rows) and not self._hurries:
            text += "; autovacuum makes way after a second, so allow that with --max-wait 2s, or run this again later"
        return f"{text}; what was done so far is kept, and the next run goes on from here"


def holders(connection: Connection[Any], target: Target) -> list[Any]:
    """(process, kind, state, whether it saves transaction ids, program, seconds) of all who hold the table."""
    return execute(connection, HOLDERS, target.shape.entries.oid)


def told(row: tuple[int, str, str, bool, str, int]) -> str:
    """A holder of a lock, for a person."""
    pid, kind, state, saving, program, seconds = row
    if kind == "hidden vacuum":
        return f"process {pid}, which this role may not see, but which holds what autovacuum holds"
    if kind == "hidden":
        return f"process {pid}, which this role may not see"
    if kind == "autovacuum worker":
        return f"process {pid}, autovacuum{' which may not be stopped (wraparound)' if saving else ''}"
    return f"process {pid}{f' ({program})' if program else ''}, {state or kind}, in a transaction for {seconds} s"
