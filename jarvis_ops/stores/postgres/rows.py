"""Carries changes of rows out, each on condition that the row is still what it was; and the other way round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from psycopg.sql import SQL, Composable, Composed, Identifier, Literal

from jarvis_ops.errors import StaleError
from jarvis_ops.stores.postgres.changes import RowChange
from jarvis_ops.stores.postgres.images import Image, image_of, text_of
from jarvis_ops.stores.postgres.query import name_of
from jarvis_ops.stores.postgres.schema import Shape

if TYPE_CHECKING:
    from psycopg import Connection

CHANGED = "a row was changed meanwhile"
# Columns that the database computes itself.
GENERATED = "SELECT attname FROM pg_attribute WHERE attrelid = %s AND attgenerated <> '' AND NOT attisdropped"


class Rows:
    """The rows of one table, on a connection with an open transaction. StaleError where a row is not what it was."""

    def __init__(self, connection: Connection[Any], shape: Shape, session: str) -> None:
        self.connection = connection
        self.shape = shape
        self.names = shape.profile.columns
        self.table = name_of(shape.entries.name)
        self.session = session
        self.generated = {row[0] for row in connection.execute(GENERATED, (shape.entries.oid,))}

    def lock(self, keys: Sequence[str]) -> None:
        """Keep others from changing these rows until the end; psycopg's LockNotAvailable where somebody does so now."""
        self.connection.execute(
            SQL("SELECT FROM {} e WHERE {} = ANY({}::{}[]) FOR UPDATE NOWAIT").format(
                self.table, self.column(self.names.key), Literal(list(keys)), self.kind(self.names.key)
            )
        )

    def carry(self, changes: Sequence[RowChange]) -> list[RowChange]:
        """Make all changes; what they are now that the database has filled in the rest."""
        for change in changes:
            if change.after is None:
                self.take_out(change)
        self.renumber(changes)
        return [self.one(change) for change in changes]

    def one(self, change: RowChange) -> RowChange:
        """Carry out what of a change is neither a removal nor a number."""
        if change.after is None:
            return change
        if change.before is None:
            return RowChange(change.key, None, self.put_in(change.after))
        rest = {name: value for name, value in change.after.items() if name != self.names.seq}
        if not rest:
            return change
        now = self.update(change.key, {name: change.before[name] for name in rest}, rest)
        return RowChange(change.key, change.before, {**change.after, **{name: now[name] for name in rest}})

    def take_out(self, change: RowChange) -> None:
        """Remove a row that is still, in all its columns, what it was."""
        self.once(
            SQL("DELETE FROM {} e WHERE {} AND to_jsonb(e) = {}::jsonb RETURNING '{{}}'"),
            self.table,
            self.is_row(change.key),
            Literal(text_of(change.before or {})),
        )

    def put_in(self, image: Image) -> Image:
        """Add a row; all its columns then."""
        kept = {name: value for name, value in image.items() if name not in self.generated}
        return self.once(
            SQL(
                "INSERT INTO {} AS e ({columns}) OVERRIDING SYSTEM VALUE SELECT {columns}"
                " FROM jsonb_populate_record(NULL::{}, {}::jsonb) RETURNING to_jsonb(e)::text"
            ),
            self.table,
            self.table,
            Literal(text_of(kept)),
            columns=self.columns(kept),
        )

    def update(self, key: str, before: Image, after: Image) -> Image:
        """Change columns of a row in which they are still what they were; all its columns then."""
        return self.once(
            SQL(
                "UPDATE {} e SET ({columns}) = (SELECT {columns} FROM jsonb_populate_record(NULL::{}, {}::jsonb))"
                " WHERE {} AND {} = {}::jsonb RETURNING to_jsonb(e)::text"
            ),
            self.table,
            self.table,
            Literal(text_of(after)),
            self.is_row(key),
            part_of_row(before),
            Literal(text_of(before)),
            columns=self.columns(after),
        )

    def renumber(self, changes: Sequence[RowChange]) -> None:
        """Give rows that stay their new numbers, all at once; by way of unused ones where a number must be unique."""
        seq = self.names.seq
        moves = [
            (change.key, change.before[seq], change.after[seq])
            for change in changes
            if change.before is not None and change.after is not None and seq in change.after
        ]
        if not moves:
            return
        keys, olds, news = map(list, zip(*moves, strict=True))
        number = self.shape.entries.numbers[seq]
        if any(index.unique and number in index.columns for index in self.shape.entries.indexes):
            between = [-place for place in range(1, len(moves) + 1)]
            self.numbered(keys, olds, between)
            olds = between
        self.numbered(keys, olds, news)

    def numbered(self, keys: Sequence[str], olds: Sequence[int], news: Sequence[int]) -> None:
        """Give rows other numbers than they have. StaleError where one has not the number that it is said to have."""
        done = self.connection.execute(
            SQL(
                "UPDATE {} e SET {} = n.new FROM unnest({}::{}[], {}::bigint[], {}::bigint[]) AS n(key, old, new)"
                " WHERE {} = n.key AND {} IS NOT DISTINCT FROM n.old AND {}"
            ).format(
                self.table,
                Identifier(self.names.seq),
                Literal(list(keys)),
                self.kind(self.names.key),
                Literal(list(olds)),
                Literal(list(news)),
                self.column(self.names.key),
                self.column(self.names.seq),
                self.is_session(),
            )
        )
        if done.rowcount != len(keys):
            raise StaleError(CHANGED)

    def once(self, statement: SQL, *values: Composable, columns: Composable | None = None) -> Image:
        """Carry out a statement that concerns exactly one row; what it returns."""
        made = statement.format(*values, columns=columns) if columns is not None else statement.format(*values)
        found = self.connection.execute(made).fetchall()
        if len(found) != 1:
            raise StaleError(CHANGED)
        return image_of(found[0][0])

    def is_row(self, key: str) -> Composed:
        """The condition for one row of the conversation."""
        own = SQL("{} = {}::{}").format(self.column(self.names.key), Literal(key), self.kind(self.names.key))
        return SQL("{} AND {}").format(own, self.is_session())

    def is_session(self) -> Composed:
        """The condition for all rows of the conversation."""
        name = self.names.session
        return SQL("{} = {}::{}").format(self.column(name), Literal(self.session), self.kind(name))

    def columns(self, image: Image) -> Composed:
        """The names of columns."""
        return SQL(", ").join(map(Identifier, image))

    def column(self, name: str) -> Composed:
        """A column of the table."""
        return SQL("e.{}").format(Identifier(name))

    def kind(self, column: str) -> Composable:
        """The type of a column."""
        return Identifier(self.shape.entries.types[column])


def part_of_row(names: Image) -> Composed:
    """Some columns of a row as one JSON object."""
    pairs = SQL(", ").join(SQL("{}, to_jsonb(e)->{}").format(Literal(name), Literal(name)) for name in names)
    return SQL("jsonb_build_object({})").format(pairs)


def turned(changes: Sequence[RowChange]) -> list[RowChange]:
    """The changes that take others back."""
    return [RowChange(change.key, change.after, change.before) for change in reversed(changes)]


Numbers = Callable[[int], list[int]]


def with_numbers(changes: Sequence[RowChange], seq: str, highest: int, numbers: Numbers) -> list[RowChange]:
    """Changes in which real numbers stand for those above `highest`; `numbers` gives as many as are asked for."""
    wanted = sorted(
        {change.after[seq] for change in changes if change.after is not None and (change.after.get(seq) or 0) > highest}
    )
    if not wanted:
        return list(changes)
    real = dict(zip(wanted, numbers(len(wanted)), strict=True))
    return [
        RowChange(change.key, change.before, {**change.after, seq: real.get(change.after[seq], change.after[seq])})
        if change.after is not None and change.after.get(seq) is not None
        else change
        for change in changes
    ]
