"""The one transaction in which a run reads: nothing changes under it, and it can change nothing."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, LiteralString

from psycopg import Connection, Cursor, Error, IsolationLevel, ServerCursor

from jarvis_ops.stores.postgres.connect import connect, explained

if TYPE_CHECKING:
    from psycopg.sql import Composed

# So many rows come with each step of a cursor.
STEP = 2_000
FEW = 50
# No statement, nor a step of a cursor, may take longer (milliseconds).
LONGEST = 600_000
SETTINGS: tuple[LiteralString, ...] = (
    f"SET LOCAL statement_timeout = {LONGEST}",
    # To compile statements that are used once costs more than it gains.
    "SET LOCAL jit = off",
)


class Transaction:
    """A connection with its transaction. It is one with the pooler's server as well, since it never ends between.

    StoreError, in words that name no password, if the database cannot be reached or fails.
    """

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._numbers = itertools.count(1)
        with explained(dsn):
            self.connection: Connection[Any] = connect(dsn)
            self.connection.isolation_level = IsolationLevel.REPEATABLE_READ
            self.connection.read_only = True
            for setting in SETTINGS:
                self.connection.execute(setting)

    def fetch(self, statement: Composed, *, few: bool = False) -> Iterator[tuple[Any, ...]]:
        """The rows that a statement gives, as they come; `few` says that most of them will not be asked for."""
        if few:
            with explained(self._dsn):
                self.connection.execute("SET LOCAL cursor_tuple_fraction = 1e-6")
        for rows in self.steps(statement, FEW if few else STEP):
            yield from rows

    def steps(self, statement: Composed, size: int) -> Iterator[list[tuple[Any, ...]]]:
        """The same, so many rows at a time."""
        with explained(self._dsn), self._cursor() as cursor:
            cursor.execute(statement)
            self.connection.execute("SET LOCAL cursor_tuple_fraction TO DEFAULT")
            while rows := cursor.fetchmany(size):
                yield rows

    def all(self, statement: Composed) -> list[tuple[Any, ...]]:
        """All rows that a statement gives, at once."""
        with explained(self._dsn):
            rows: list[tuple[Any, ...]] = self.connection.execute(statement).fetchall()
            return rows

    @contextmanager
    def _cursor(self) -> Iterator[Cursor[Any]]:
        with ServerCursor(self.connection, f"jarvis_ops_{next(self._numbers)}") as cursor:
            yield cursor

    def close(self) -> None:
        """Give the connection up."""
        try:
            self.connection.close()
        except Error:
            return
