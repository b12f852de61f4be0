"""The table whose rows are to be numbered, and the names of what belongs to its numbering."""

from __future__ import annotations

from typing import Any, LiteralString

import msgspec
from psycopg import Connection
from psycopg.sql import SQL, Composable, Identifier

from jarvis_ops.model.profile import Profile
from jarvis_ops.stores.postgres.schema import Shape, look_up

# A name in Postgres has 63 bytes; ours put something before that of the table.
LONGEST_NAME = 63
WHERE: LiteralString = """
SELECT n.nspname, c.relname, r.rolname, pg_relation_size(c.oid), pg_total_relation_size(c.oid),
       greatest(c.reltuples, 0)::bigint
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_roles r ON r.oid = c.relowner
WHERE c.oid = %s"""
EXISTS: LiteralString = "SELECT to_regclass(%s) IS NOT NULL"


class Target(msgspec.Struct, frozen=True):
    """A table with what its shape does not say: who owns it, and how large it is (`heap` and `total` in bytes).

    `rows` is what the database believes that it has.
    """

    shape: Shape
    schema: str
    table: str
    owner: str
    heap: int
    total: int
    rows: int

    @property
    def name(self) -> Identifier:
        """The table in a statement."""
        return Identifier(self.schema, self.table)

    @property
    def label(self) -> str:
        """The table for a person, and for the lock that one migration of it holds."""
        return f"{self.schema}.{self.table}"

    @property
    def plan(self) -> Identifier:
        """The table with the order that was decided."""
        return Identifier(self.schema, self.ours("plan"))

    @property
    def state(self) -> Identifier:
        """The table that says how far the migration has come."""
        return Identifier(self.schema, self.ours("state"))

    @property
    def seq(self) -> Identifier:
        """The order column."""
        return Identifier(self.shape.profile.columns.seq)

    @property
    def key(self) -> Identifier:
        """The column that tells rows apart."""
        return Identifier(self.shape.profile.columns.key)

    @property
    def session(self) -> Identifier:
        """The column that names the conversation."""
        return Identifier(self.shape.profile.columns.session)

    @property
    def time(self) -> Identifier:
        """The column that rows are read by before their number."""
        return Identifier(self.shape.profile.columns.time)

    @property
    def check(self) -> str:
        """The name of the check that stands in for NOT NULL until it is proven."""
        return self.shortened(f"{self.table}_{self.shape.profile.columns.seq}_filled")

    @property
    def index(self) -> str:
        """The name of the index that we build."""
        columns = self.shape.profile.columns
        return self.shortened(f"{self.table}_{columns.session}_{columns.time}_{columns.seq}_idx")

    def ours(self, what: str) -> str:
        """The name of a table of ours beside this one."""
        return self.shortened(f"jarvis_ops_seq_{what}_{self.table}")

    @staticmethod
    def shortened(name: str) -> str:
        """A name that Postgres does not cut."""
        return name.encode()[:LONGEST_NAME].decode(errors="ignore")


def find(connection: Connection[Any], profile: Profile) -> Target:
    """The table of records of a profile. StoreError if there is none, or it lacks what reading needs."""
    shape = look_up(connection, profile)
    return Target(shape, *execute(connection, WHERE, shape.entries.oid)[0])


def exists(connection: Connection[Any], name: Identifier) -> bool:
    """Whether there is a table, an index or a sequence of this name."""
    row = connection.execute(EXISTS, (name.as_string(connection),)).fetchone()
    return bool(row and row[0])


def execute(connection: Connection[Any], statement: LiteralString, *values: object, **names: Composable) -> list[Any]:
    """Carry a statement out in which `{name}` stands for a part of SQL; its rows, if it gives any."""
    cursor = connection.execute(SQL(statement).format(**names), values or None)
    return cursor.fetchall() if cursor.description is not None else []
