"""The order column and what gives out its numbers: made, mended, and taken away again."""

from __future__ import annotations

from typing import Any, LiteralString, NamedTuple

from psycopg import Connection
from psycopg.sql import SQL, Identifier, Literal

from jarvis_ops.errors import RefusedError
from jarvis_ops.stores.postgres.seq.target import Target, execute, exists

# The most rows that fit into a page of 8 kB is 291: a bound for how many there can be, without counting them; twice
# that, for the rows of a moment may get new numbers beyond those of all others.
ROOM: LiteralString = """
SELECT pg_relation_size(%s) / current_setting('block_size')::bigint * (current_setting('block_size')::bigint / 14)"""
COLUMN: LiteralString = """
SELECT t.typname, a.attnotnull, a.attidentity <> '', pg_get_expr(d.adbin, d.adrelid)
FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attrelid = %s AND a.attname = %s AND NOT a.attisdropped"""
# The sequence of the default, else one that belongs to the column: (name, schema, belongs, is that of the default).
SEQUENCE: LiteralString = """
SELECT s.relname, n.nspname, bool_or(d.deptype IN ('a', 'i')), bool_or(d.deptype = 'n')
FROM pg_attribute a
LEFT JOIN pg_attrdef f ON f.adrelid = a.attrelid AND f.adnum = a.attnum
JOIN pg_depend d
  ON d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass
     AND d.refobjid = a.attrelid AND d.refobjsubid = a.attnum AND d.deptype IN ('a', 'i')
  OR d.classid = 'pg_attrdef'::regclass AND d.objid = f.oid AND d.refclassid = 'pg_class'::regclass
     AND d.refobjid <> a.attrelid
JOIN pg_class s ON s.relkind = 'S'
     AND s.oid = CASE WHEN d.classid = 'pg_attrdef'::regclass THEN d.refobjid ELSE d.objid END
JOIN pg_namespace n ON n.oid = s.relnamespace
WHERE a.attrelid = %s AND a.attname = %s GROUP BY 1, 2 ORDER BY 4 DESC, 3 DESC LIMIT 1"""
LAST: LiteralString = "SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END FROM {sequence}"
# Who may add rows and may not take a number for them.
LACKING: LiteralString = """
SELECT rolname FROM pg_roles WHERE NOT rolsuper
AND (has_table_privilege(oid, %s, 'INSERT') OR has_any_column_privilege(oid, %s, 'INSERT'))"""
LACKING_USAGE: LiteralString = (
    LACKING + " AND NOT has_sequence_privilege(oid, %s::regclass, 'USAGE, UPDATE') ORDER BY 1"
)
EVERYBODY: LiteralString = """
SELECT has_table_privilege('public', %s, 'INSERT')
       AND NOT has_sequence_privilege('public', %s::regclass, 'USAGE, UPDATE')"""
LARGEST = {"int2": 2**15 - 1, "int4": 2**31 - 1, "int8": 2**63 - 1}


class Column(NamedTuple):
    """The order column as it is. `sequence` (schema, name) gives out its numbers; `last` is the last one."""

    kind: str
    filled: bool
    identity: bool
    default: bool
    sequence: tuple[str, str] | None
    owned: bool
    last: int


def column_of(connection: Connection[Any], target: Target) -> Column | None:
    """The order column; None if there is none."""
    oid, name = target.shape.entries.oid, target.shape.profile.columns.seq
    found = execute(connection, COLUMN, oid, name)
    if not found:
        return None
    kind, filled, identity, default = found[0]
    rows = execute(connection, SEQUENCE, oid, name)
    if not rows:
        return Column(kind, filled, identity, default is not None, None, owned=False, last=0)
    name, schema, owned, used = rows[0]
    return Column(kind, filled, identity, identity or used, (schema, name), owned, last_of(connection, (schema, name)))


def last_of(connection: Connection[Any], sequence: tuple[str, str]) -> int:
    """The last number that a sequence gave out."""
    return int(execute(connection, LAST, sequence=Identifier(*sequence))[0][0])


def bound_of(connection: Connection[Any], target: Target, base: int, kind: str = "int8") -> int:
    """A number above all that old rows can get, if the first of them gets one above `base`."""
    bound = base + int(execute(connection, ROOM, target.shape.entries.oid)[0][0]) + 1
    if kind != "int8":
        # A narrow column has no room for a bound that is certain; three times the rows is as good.
        rows = int(execute(connection, "SELECT count(*) FROM {table}", table=target.name)[0][0])
        bound = min(bound, base + 3 * rows + 1)
    if bound >= LARGEST.get(kind, 0):
        raise RefusedError(f"column {target.shape.profile.columns.seq} of {target.label} is of type {kind}, too narrow")
    return bound


def make(connection: Connection[Any], target: Target, base: int) -> int:
    """Add the column and all that belongs to it; the bound below which old rows get their numbers.

    Only to be called in a transaction that has the table to itself.
    """
    bound = bound_of(connection, target, base)
    sequence = new_sequence(connection, target, bound + 1)
    execute(connection, "ALTER TABLE {table} ADD COLUMN {seq} bigint", table=target.name, seq=target.seq)
    take_numbers_from(connection, target, sequence)
    own(connection, target, sequence)
    grant(connection, target, sequence)
    return bound


def mend(connection: Connection[Any], target: Target, base: int) -> int:
    """Let a column that is there take its numbers from a sequence that is beyond all in use; the bound, as `make`."""
    column = column_of(connection, target)
    if column is None:
        raise RefusedError(f"column {target.shape.profile.columns.seq} of {target.label} has gone")
    bound = bound_of(connection, target, max(base, column.last), column.kind)
    sequence = column.sequence
    if sequence is None:
        sequence = new_sequence(connection, target, bound + 1)
    else:
        advance(connection, sequence, bound)
    if not column.default:
        take_numbers_from(connection, target, sequence)
    if not column.owned and sequence[0] == target.schema:
        own(connection, target, sequence)
    grant(connection, target, sequence)
    return bound


def new_sequence(connection: Connection[Any], target: Target, start: int) -> tuple[str, str]:
    """A sequence of the table's owner, with a name that nothing has yet."""
    name = target.shortened(f"{target.table}_{target.shape.profile.columns.seq}_seq")
    number = 0
    while exists(connection, Identifier(target.schema, name)):
        number += 1
        name = target.shortened(f"{number}_{target.table}_{target.shape.profile.columns.seq}_seq")
    sequence = Identifier(target.schema, name)
    execute(connection, "CREATE SEQUENCE {sequence} START {start}", sequence=sequence, start=Literal(start))
    execute(connection, "ALTER SEQUENCE {sequence} OWNER TO {owner}", sequence=sequence, owner=Identifier(target.owner))
    return target.schema, name


def take_numbers_from(connection: Connection[Any], target: Target, sequence: tuple[str, str]) -> None:
    """Let new rows get their numbers from a sequence."""
    execute(
        connection,
        "ALTER TABLE {table} ALTER COLUMN {seq} SET DEFAULT nextval({sequence}::regclass)",
        table=target.name,
        seq=target.seq,
        sequence=Literal(Identifier(*sequence).as_string(connection)),
    )


def own(connection: Connection[Any], target: Target, sequence: tuple[str, str]) -> None:
    """Tie a sequence to the column; it must have the owner that the table has."""
    names = {"sequence": Identifier(*sequence), "owner": Identifier(target.owner)}
    execute(connection, "ALTER SEQUENCE {sequence} OWNER TO {owner}", **names)
    column = SQL(".").join([target.name, target.seq])
    execute(connection, "ALTER SEQUENCE {sequence} OWNED BY {column}", sequence=names["sequence"], column=column)


def advance(connection: Connection[Any], sequence: tuple[str, str], beyond: int) -> None:
    """Let a sequence give out numbers above this one. Not taken back by a rollback, which does no harm."""
    name = Identifier(*sequence).as_string(connection)
    if last_of(connection, sequence) < beyond:
        connection.execute("SELECT setval(%s::regclass, %s)", (name, beyond))


def set_last(connection: Connection[Any], sequence: tuple[str, str], last: int) -> None:
    """Let a sequence go on behind a number; only for a table that is ours alone."""
    name = Identifier(*sequence).as_string(connection)
    connection.execute("SELECT setval(%s::regclass, greatest(%s, 1), %s)", (name, last, last > 0))


def lacking(connection: Connection[Any], target: Target, sequence: tuple[str, str] | None) -> list[str]:
    """The roles that may add rows but could not number them; of all who add rows where there is no sequence yet."""
    oid = target.shape.entries.oid
    if sequence is None:
        rows = execute(
            connection, LACKING + " AND rolname <> %s AND rolname NOT LIKE 'pg\\_%%' ORDER BY 1", oid, oid, target.owner
        )
        return [row[0] for row in rows]
    name = Identifier(*sequence).as_string(connection)
    roles = [row[0] for row in execute(connection, LACKING_USAGE, oid, oid, name)]
    return [*(["PUBLIC"] if execute(connection, EVERYBODY, oid, name)[0][0] else []), *roles]


def grant(connection: Connection[Any], target: Target, sequence: tuple[str, str]) -> list[str]:
    """Let every role that may add rows take numbers for them; the roles that could not."""
    roles = lacking(connection, target, sequence)
    for role in roles:
        execute(
            connection,
            "GRANT USAGE ON SEQUENCE {sequence} TO {role}",
            sequence=Identifier(*sequence),
            role=SQL("PUBLIC") if role == "PUBLIC" else Identifier(role),
        )
    return roles
