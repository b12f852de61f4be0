"""The statements that read rows: for judging, reduced by the database to what judging needs; else whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import LiteralString

from psycopg.sql import SQL, Composable, Composed, Identifier, Literal

from jarvis_ops.stores.postgres.schema import FRACTIONS, TEXTS, Shape, Table

NOTHING = SQL("NULL::text")
# Calls that have nothing odd are told by their ids alone, the others whole.
ODD_CALL: LiteralString = (
    """'$[*] ? (@.type() != "object" || !(exists({id})) || {id}.type() != "string" || exists(@.function)"""
    """ || (exists({arguments}) && {arguments}.type() != "object"))'"""
)
CALLS: LiteralString = """CASE WHEN {value} IS NULL OR {value} IN ('null', '[]') THEN NULL
 WHEN jsonb_typeof({value}) = 'array' AND NOT jsonb_path_exists({value}, {odd})
 THEN jsonb_path_query_array({value}, {ids})::text ELSE {value}::text END"""
# Text and nothing say nothing of pairs. Of blocks only what tells a call or a result stays, and each keeps its place.
CONTENT: LiteralString = """CASE jsonb_typeof({value}) WHEN 'string' THEN NULL WHEN 'null' THEN NULL
 WHEN 'object' THEN
  CASE WHEN {value} ?| '{{tool_calls,tool_call_id}}' THEN ({value} - '{{text,content}}'::text[])::text END
 WHEN 'array' THEN CASE WHEN jsonb_path_exists({value}, '$[*].type ? (@ like_regex "tool_(use|result)$")') THEN
  (SELECT jsonb_agg(CASE WHEN jsonb_typeof(b) <> 'object' THEN 'null'
    WHEN jsonb_typeof(b->'input') = 'object' THEN b || '{{"input":{{}}}}'
    ELSE b - '{{text,content,source,thinking}}'::text[] END ORDER BY n)::text
   FROM jsonb_array_elements({value}) WITH ORDINALITY AS blocks(b, n)) END
 ELSE {value}::text END"""
MICROSECONDS: LiteralString = """CASE WHEN isfinite({column}) THEN (date_part('epoch', {column}) * 1e6)::bigint END"""


class Query:
    """Makes the statements for a store of one shape.

    A reduced row is (session, key, role, time, seq, result, calls, content, compacted): `calls` and `content` are JSON
    or None where they say nothing, `compacted` is the key of the summary row, "" for none that is named. A time is in
    the unit of the shape's clock. Where nothing numbers the rows, `seq` is the time.
    """

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.profile = shape.profile
        self.columns = shape.profile.columns

    def reduced(self, sessions: Sequence[str] | None, *, one: bool = False, order: str = "") -> Composed:
        """All rows of these conversations (None: of all), reduced; see `ordered` for `order`."""
        return self.statement(self.reduced_columns(), sessions, one=one, order=order)

    def whole(self, session: str, order: str = "") -> Composed:
        """The rows of one conversation as (session, key, role, time, seq, compacted, all columns as JSON)."""
        columns = [*self.identity(), self.role(), self.time(), self.seq(), self.compacted(), SQL("to_jsonb(e)::text")]
        return self.statement(columns, [session], one=True, order=order)

    def statement(
        self, columns: Sequence[Composable], sessions: Sequence[str] | None, *, one: bool, order: str
    ) -> Composed:
        """SELECT these columns in reading order."""
        where: Composable = SQL("WHERE {} IS NOT NULL").format(self.column(self.columns.session))
        if sessions is not None:
            kind = Identifier(self.shape.entries.types[self.columns.session])
            # An index gives the rows of a single conversation in their order, but not those of several.
            named = SQL("{}::{}").format(Literal(sessions[0]), kind)
            if not one:
                named = SQL("ANY({}::{}[])").format(Literal(list(sessions)), kind)
            where = SQL("WHERE {} = {}").format(self.column(self.columns.session), named)
        by = self.ordered(order) if one else SQL("{}, {}").format(self.session_order(), self.ordered(order))
        return SQL("SELECT {} FROM {} e {} ORDER BY {}").format(
            SQL(", ").join(columns), name_of(self.shape.entries.name), where, by
        )

    def reduced_columns(self) -> list[Composable]:
        """The columns of a reduced row."""
        common = [*self.identity(), self.role(), self.time(), self.seq()]
        if self.profile.message:
            return [*common, *self.of_message(), self.compacted()]
        return [*common, self.text(self.columns.result), self.calls(), self.content(), self.compacted()]

    def identity(self) -> tuple[Composable, Composable]:
        """The conversation and the key of a row."""
        return self.text(self.columns.session), self.text(self.columns.key)

    def role(self) -> Composable:
        """The role as the store calls it."""
        if not self.profile.message:
            return self.text(self.columns.role)
        return self.path(self.profile.paths.role, as_text=True) if self.message_is_jsonb() else NOTHING

    def time(self) -> Composable:
        """The time in the unit of the clock; NULL where rows have none."""
        if not self.shape.has_time:
            return SQL("NULL::bigint")
        column, kind = self.column(self.columns.time), self.shape.entries.types[self.columns.time]
        if self.shape.clock == "micros":
            return SQL(MICROSECONDS).format(column=column)
        if kind in FRACTIONS:
            return SQL("(CASE WHEN {column} < 1e11 THEN {column} * 1000 ELSE {column} END)::bigint").format(
                column=column
            )
        if self.shape.clock == "text":
            return SQL("{}::text").format(column)
        return column if kind == "int8" else SQL("{}::bigint").format(column)

    def seq(self) -> Composable:
        """The number that orders rows; their time where nothing numbers them."""
        return SQL("{}::bigint").format(self.column(self.columns.seq)) if self.shape.has_seq else self.time()

    def calls(self) -> Composable:
        """The calls of a row."""
        if not self.shape.entries.has(self.columns.calls):
            return NOTHING
        column = self.column(self.columns.calls)
        if self.shape.entries.types[self.columns.calls] != "jsonb":
            return SQL("NULLIF({}::text, '')").format(column)
        return calls_of(column, "id", "arguments")

    def content(self) -> Composable:
        """What of the content may tell a call or a result."""
        if not self.shape.entries.has(self.columns.content):
            return NOTHING
        column, kind = self.column(self.columns.content), self.shape.entries.types[self.columns.content]
        if kind == "jsonb":
            return SQL(CONTENT).format(value=column)
        if not self.shape.looks_inside:
            return NOTHING
        return SQL("CASE WHEN ltrim({column}::text) ~ '^[{{[]' THEN {column}::text END").format(column=column)

    def compacted(self) -> Composable:
        """The summary row of a row that is out of the replay; NULL in the replay."""
        if not self.shape.compacts:
            return NOTHING
        by: Composable = SQL("''")
        if self.shape.entries.has(self.columns.compacted_by):
            by = SQL("coalesce({}::text, '')").format(self.column(self.columns.compacted_by))
        return SQL("CASE WHEN {} IS NOT NULL THEN {} END").format(self.column(self.columns.compacted_at), by)

    def of_message(self) -> tuple[Composable, Composable, Composable]:
        """Result, calls and content of a column that holds the whole message."""
        column, paths = self.column(self.profile.message), self.profile.paths
        if not self.message_is_jsonb():
            return NOTHING, NOTHING, SQL("{}::text").format(column)
        return (
            self.path(paths.result, as_text=True),
            calls_of(self.path(paths.calls), paths.id, paths.arguments),
            NOTHING,
        )

    def message_is_jsonb(self) -> bool:
        """Whether the database can look into the column with the whole message."""
        return self.shape.entries.types[self.profile.message] == "jsonb" and not self.profile.items

    def path(self, path: str, *, as_text: bool = False) -> Composable:
        """A part of the whole message."""
        operator = SQL("#>>") if as_text else SQL("#>")
        return SQL("({} {} {}::text[])").format(
            self.column(self.profile.message), operator, Literal("{" + ",".join(path.split(".")) + "}")
        )

    def ordered(self, order: str) -> Composable:
        """What rows of one conversation are read by: "" as the agent does, "newest" the other way round, "seq"."""
        names = [self.columns.time, self.columns.seq]
        kept = [name for name, kind in zip(names, ("time", "seq"), strict=True) if kind in self.profile.order]
        if order == "seq":
            kept = [self.columns.seq]
        turn = SQL(" DESC") if order == "newest" else SQL("")
        return SQL(", ").join(
            SQL("{}{}").format(self.column(name), turn) for name in kept if self.shape.entries.has(name)
        )

    def session_order(self) -> Composable:
        """Conversations in the order of the bytes of their ids, by which Python sorts as well."""
        name = self.columns.session
        kind = self.shape.entries.types[name]
        if kind == "uuid" or (kind in TEXTS and self.shape.sorts_by_bytes(self.shape.entries, name)):
            return self.column(name)
        return SQL('{} COLLATE "C"').format(self.text(name))

    def column(self, name: str) -> Composable:
        """A column of the table of records."""
        return SQL("e.{}").format(Identifier(name))

    def text(self, name: str) -> Composable:
        """A column as text; NULL where it is not there."""
        if not self.shape.entries.has(name):
            return NOTHING
        return (
            self.column(name) if self.shape.entries.types[name] == "text" else SQL("{}::text").format(self.column(name))
        )


def calls_of(value: Composable, identity: str, arguments: str) -> Composable:
    """Calls in a JSON list, reduced."""
    names = {"id": SQL(f"@.{quoted(identity)}"), "arguments": SQL(f"@.{quoted(arguments)}")}
    return SQL(CALLS).format(value=value, odd=SQL(ODD_CALL).format(**names), ids=Literal(f"$[*].{quoted(identity)}"))


def quoted(name: str) -> str:
    """A name as a JSON path spells it, inside a text of SQL."""
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"').replace("'", "''") + '"'


def name_of(table: str) -> Composable:
    """A table, with its schema where that was named."""
    return Identifier(*table.split("."))


def sessions_of(shape: Shape, table: Table) -> Composed:
    """All conversations of their table, as (key, the whole row as JSON)."""
    key = SQL("s.{}::text").format(Identifier(shape.profile.session_columns.key))
    return SQL("SELECT {}, to_jsonb(s)::text FROM {} s").format(key, name_of(table.name))


def sessions_in_records(shape: Shape) -> Composed:
    """The ids of all conversations that have records; an index on them is jumped through where there is one."""
    query = Query(shape)
    table, column = name_of(shape.entries.name), query.column(shape.profile.columns.session)
    if (
        not shape.entries.leads(shape.profile.columns.session)
        or shape.entries.types[shape.profile.columns.session] == "uuid"
    ):
        return SQL("SELECT DISTINCT {}::text FROM {} e WHERE {} IS NOT NULL").format(column, table, column)
    return SQL(
        "WITH RECURSIVE found AS ((SELECT {column} AS id FROM {table} e ORDER BY {column} LIMIT 1) UNION ALL"
        " SELECT (SELECT {column} FROM {table} e WHERE {column} > found.id ORDER BY {column} LIMIT 1) FROM found"
        " WHERE found.id IS NOT NULL) SELECT id::text FROM found WHERE id IS NOT NULL"
    ).format(column=column, table=table)


def highest_number(shape: Shape) -> Composed:
    """The highest number of a row."""
    query = Query(shape)
    return SQL("SELECT max({})::bigint FROM {} e").format(
        query.column(shape.profile.columns.seq), name_of(shape.entries.name)
    )
