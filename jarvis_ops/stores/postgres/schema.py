"""What the tables of a store really are: looked up in the catalogue of the database, never assumed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, LiteralString

import msgspec

from jarvis_ops.errors import StoreError
from jarvis_ops.model.profile import Clock, Profile

if TYPE_CHECKING:
    from psycopg import Connection

WHOLE_NUMBERS = frozenset({"int2", "int4", "int8", "numeric"})
FRACTIONS = frozenset({"float4", "float8"})
TIMESTAMPS = frozenset({"timestamptz", "timestamp", "date"})
TEXTS = frozenset({"text", "varchar", "bpchar", "name"})
DEFAULT_COLLATION, C_COLLATIONS = 100, frozenset({950, 951})

TABLE: LiteralString = "SELECT to_regclass(%s)::oid"
COLUMNS: LiteralString = """
SELECT a.attname, t.typname, a.attcollation, a.attnum
FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped"""
COLLATION: LiteralString = """
SELECT datcollate IN ('C', 'POSIX') AND coalesce(to_jsonb(d)->>'datlocprovider', 'c') = 'c'
FROM pg_database d WHERE datname = current_database()"""
INDEXES: LiteralString = """
SELECT c.relname, i.indkey::int2[]::int[], i.indnkeyatts, i.indisunique, i.indisvalid, i.indpred IS NULL,
       EXISTS (SELECT FROM pg_stat_progress_create_index p WHERE p.index_relid = i.indexrelid)
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE i.indrelid = %s"""
LINKED: LiteralString = """
SELECT EXISTS (SELECT FROM pg_constraint WHERE contype = 'f' AND convalidated
               AND conrelid = %s AND confrelid = %s AND conkey = ARRAY[%s]::int2[])"""
# The sequence that the default of a column takes its numbers from, and whether it belongs to that column.
SEQUENCE: LiteralString = """
SELECT s.relname, n.nspname, bool_or(d.deptype IN ('a', 'i'))
FROM pg_attribute a
LEFT JOIN pg_attrdef f ON f.adrelid = a.attrelid AND f.adnum = a.attnum
JOIN pg_depend d ON
     (d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass
      AND d.refobjid = a.attrelid AND d.refobjsubid = a.attnum AND d.deptype IN ('a', 'i'))
  OR (d.classid = 'pg_attrdef'::regclass AND d.objid = f.oid AND d.refclassid = 'pg_class'::regclass
      AND d.refobjid <> a.attrelid)
JOIN pg_class s ON s.oid = CASE WHEN d.classid = 'pg_attrdef'::regclass THEN d.refobjid ELSE d.objid END
     AND s.relkind = 'S'
JOIN pg_namespace n ON n.oid = s.relnamespace
WHERE a.attrelid = %s AND a.attname = %s GROUP BY 1, 2 HAVING bool_or(d.deptype IN ('n', 'i')) LIMIT 1"""
LAST_VALUE: LiteralString = """
SELECT coalesce(last_value, start_value - increment_by), increment_by > 0
       AND (last_value IS NOT NULL OR has_sequence_privilege(format('%%I.%%I', schemaname, sequencename), 'SELECT'))
FROM pg_sequences WHERE schemaname = %s AND sequencename = %s"""


class Sequence(msgspec.Struct, frozen=True):
    """What numbers the rows: `last` is the highest number given out, None where this role may not see it."""

    name: str
    owned: bool
    last: int | None


class Index(msgspec.Struct, frozen=True):
    """An index by the numbers of its columns; `building` says that it is being made at this moment."""

    name: str
    columns: tuple[int, ...]
    unique: bool
    valid: bool
    whole: bool
    building: bool


class Table(msgspec.Struct, frozen=True):
    """A table as it is: the type of each column by name, and its indexes."""

    name: str
    oid: int
    types: dict[str, str]
    numbers: dict[str, int]
    collations: dict[str, int]
    indexes: tuple[Index, ...]

    def has(self, column: str) -> bool:
        """Whether there is such a column; "" is none."""
        return column in self.types

    def unique(self, column: str) -> bool:
        """Whether a value of this column stands in one row at most."""
        return any(
            one.unique and one.valid and one.whole and one.columns == (self.numbers.get(column),)
            for one in self.indexes
        )

    def leads(self, column: str) -> bool:
        """Whether an index finds rows by this column."""
        return any(one.valid and one.whole and one.columns[:1] == (self.numbers.get(column),) for one in self.indexes)


class Shape(msgspec.Struct, frozen=True):
    """A store as it was found: its profile and its tables. `sessions` is None where there is no such table.

    `linked` says that no record can be without its conversation. `plain` says that texts sort by their bytes.
    """

    profile: Profile
    entries: Table
    sessions: Table | None
    linked: bool
    plain: bool
    sequence: Sequence | None

    @property
    def has_seq(self) -> bool:
        """Whether rows have a number that orders them."""
        return "seq" in self.profile.order and self.entries.has(self.profile.columns.seq)

    @property
    def has_time(self) -> bool:
        """Whether rows have a time."""
        return self.entries.has(self.profile.columns.time)

    @property
    def compacts(self) -> bool:
        """Whether rows can be marked as compacted."""
        return self.entries.has(self.profile.columns.compacted_at)

    @property
    def clock(self) -> Clock:
        """What the time column counts."""
        kind = self.entries.types.get(self.profile.columns.time, "")
        if kind in WHOLE_NUMBERS or kind in FRACTIONS:
            return "number"
        return "micros" if kind in TIMESTAMPS else "text"

    @property
    def looks_inside(self) -> bool:
        """Whether calls and results may lie inside the content: never in text that has columns for them beside it."""
        columns = self.profile.columns
        return self.entries.types.get(columns.content) not in TEXTS or not self.entries.has(columns.calls)

    @property
    def screens(self) -> bool:
        """Whether reduced rows show their health at a glance.

        Their time comes first, each has its own key, and the database can look inside them.
        """
        profile = self.profile
        inside = not profile.message or (self.entries.types[profile.message] == "jsonb" and not profile.items)
        by_key = self.entries.unique(profile.columns.key)
        return inside and by_key and profile.order[:1] == ("time",) and self.has_time

    def sorts_by_bytes(self, table: Table, column: str) -> bool:
        """Whether a plain ORDER BY of this column gives the order of its bytes."""
        collation = table.collations[column]
        return collation in C_COLLATIONS or (collation == DEFAULT_COLLATION and self.plain)


def look_up(connection: Connection[Any], profile: Profile) -> Shape:
    """The shape of a store. StoreError where its table of records, or a column without which it cannot be read, lacks.

    Raises what psycopg raises.
    """
    if connection.info.parameter_status("server_encoding") == "SQL_ASCII":
        raise StoreError(f"database {connection.info.dbname} does not say how its text is encoded (SQL_ASCII)")
    entries = table(connection, profile.entries)
    if entries is None:
        raise StoreError(
            f"database {connection.info.dbname} has no table {profile.entries};"
            " the [schema] of the configuration says what it is called"
        )
    demand(entries, profile)
    sessions = table(connection, profile.sessions) if profile.sessions else None
    if sessions is not None and not sessions.has(profile.session_columns.key):
        raise StoreError(f"table {sessions.name} has no column {profile.session_columns.key}; see [schema]")
    session = entries.numbers[profile.columns.session]
    linked = sessions is not None and one(connection, LINKED, (entries.oid, sessions.oid, session))
    plain = bool(one(connection, COLLATION))
    return Shape(profile, entries, sessions, bool(linked), plain, sequence(connection, entries, profile.columns.seq))


def demand(entries: Table, profile: Profile) -> None:
    """StoreError unless all is there that reading cannot do without."""
    columns = profile.columns
    wanted = [columns.key, columns.session, *([profile.message] if profile.message else [columns.role])]
    wanted += [getattr(columns, name) for name in profile.order if name == "time" or len(profile.order) == 1]
    if not profile.message and not entries.has(columns.calls):
        wanted.append(columns.content)
    for column in wanted:
        if not entries.has(column):
            raise StoreError(
                f"table {entries.name} has no column {column}; the [schema] of the configuration says what it is called"
            )


def table(connection: Connection[Any], name: str) -> Table | None:
    """A table as it is; None if there is none."""
    from psycopg.sql import Identifier

    oid = one(connection, TABLE, (Identifier(*name.split(".")).as_string(connection),))
    if oid is None:
        return None
    columns = connection.execute(COLUMNS, (oid,)).fetchall()
    return Table(
        name,
        oid,
        types={column[0]: column[1] for column in columns},
        collations={column[0]: column[2] for column in columns},
        numbers={column[0]: column[3] for column in columns},
        indexes=tuple(
            Index(name, tuple(numbers[:keys]), unique, valid, whole, building)
            for name, numbers, keys, unique, valid, whole, building in connection.execute(INDEXES, (oid,))
        ),
    )


def sequence(connection: Connection[Any], entries: Table, column: str) -> Sequence | None:
    """What numbers the rows of a column; None where nothing does."""
    row = connection.execute(SEQUENCE, (entries.oid, column)).fetchone() if entries.has(column) else None
    if row is None:
        return None
    name, schema, owned = row
    last = connection.execute(LAST_VALUE, (schema, name)).fetchone()
    return Sequence(name, bool(owned), last[0] if last is not None and last[1] else None)


def one(connection: Connection[Any], query: LiteralString, values: tuple[object, ...] = ()) -> Any:
    """The first value of the first row; None where there is no row."""
    row = connection.execute(query, values).fetchone()
    return row[0] if row is not None else None
