"""What the database still knows of the order in which rows were written, read moment by moment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, LiteralString

import orjson
from psycopg import Connection, ServerCursor
from psycopg.sql import SQL, Composable, Identifier

from jarvis_ops.dialects.jarvis import ROLES, Jarvis
from jarvis_ops.model.trace import Moment, Trace
from jarvis_ops.stores.postgres.lines import IDS, Lines
from jarvis_ops.stores.postgres.query import Query
from jarvis_ops.stores.postgres.schema import Shape
from jarvis_ops.stores.postgres.seq.target import Target, execute

# An id of a transaction that is older than this can be taken for a younger one.
OLDEST_AGE = 2**31 - 10**8
STEP = 5_000
SETTINGS: tuple[LiteralString, ...] = (
    "SET LOCAL work_mem = '64MB'",
    "SET LOCAL jit = off",
    "SET LOCAL cursor_tuple_fraction = 1.0",
    # Where a scan begins would else depend on what others are reading.
    "SET LOCAL synchronize_seqscans = off",
)
# A number that two rows have is none.
# Rows of one statement belong to one moment when an agent wrote them; those of a copy belong to many.
EVIDENCE: LiteralString = """
SELECT row_number() OVER by_place AS place, key, session, moment, xid, command, tid, members, number, bulk,
       CASE WHEN NOT twice THEN number END AS kept,
       count(*) FILTER (WHERE number IS NULL OR twice) OVER by_place AS fresh,
       locked OR {updated} AS updated, later IS NULL AS last
FROM (
  SELECT s.*, count(*) OVER same AS members, min(xid) OVER after AS later,
         number IS NOT NULL AND count(*) OVER numbered > 1 AS twice,
         old OR min(session::text) OVER written <> max(session::text) OVER written
         OR min(moment) OVER written <> max(moment) OVER written AS bulk
  FROM (
    SELECT e.{key} AS key, e.{session} AS session, e.{time} AS moment, e.ctid AS tid, {xid} AS xid, {cmin} AS command,
           {number} AS number, e.xmax::text <> '0' AS locked,
           age(e.xmin) NOT BETWEEN 0 AND {oldest} AS old
    FROM {table} e {saved}
  ) s
  WINDOW same AS (PARTITION BY session, moment), numbered AS (PARTITION BY number),
         written AS (PARTITION BY xid, command),
         after AS (PARTITION BY session ORDER BY moment DESC GROUPS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
) told {bits}
WINDOW by_place AS (ORDER BY moment, session, xid, command, tid)"""
# Pages say it of each row, to whom they may be shown. No row that is seen here can have left its page meanwhile.
BITS: LiteralString = """LEFT JOIN (
  SELECT ('(' || page || ',' || lp || ')')::tid AS place_of FROM generate_series(
    0, pg_relation_size({oid}) / current_setting('block_size')::int - 1) page,
    LATERAL {schema}.heap_page_items({schema}.get_raw_page({name}, page::int))
  WHERE lp_flags = 1 AND (t_infomask & 8192) <> 0
) rewritten ON place_of = tid"""
PAGEINSPECT: LiteralString = """
SELECT n.nspname FROM pg_extension x JOIN pg_namespace n ON n.oid = x.extnamespace
WHERE x.extname = 'pageinspect' AND (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)"""
MOMENTS: LiteralString = """
SELECT p.place, p.xid, p.command, (p.tid::text::point)[0]::bigint, (p.tid::text::point)[1]::bigint, p.kept, p.updated,
       p.bulk, p.fresh, p.last, p.moment::text, {columns}
FROM {source} p JOIN {table} e ON e.{key} = p.key ORDER BY p.place"""
OWN_COLUMNS = 11
# Rows whose order was saved come in that order, and before all others.
SAVED: LiteralString = "LEFT JOIN {saved} o ON o.key = e.{key}::text"
SAVED_TABLE = Identifier("pg_temp", "jarvis_ops_saved")


class Evidence:
    """Reads the evidence of one table. `sees_updates` says that updated rows are known for certain.

    `saved` is the order of an earlier look, in a temporary table of this connection.
    """

    def __init__(self, connection: Connection[Any], target: Target, *, saved: bool = False) -> None:
        self.connection = connection
        self.target = target
        self.saved = saved
        found = execute(connection, PAGEINSPECT)
        self._pages: str | None = found[0][0] if found else None

    @property
    def sees_updates(self) -> bool:
        """Whether each row that was ever updated is known as one, or there is an order in which it does not matter."""
        return self.saved or self._pages is not None

    def prepare(self) -> None:
        """Settings for the transaction that reads it."""
        for setting in SETTINGS:
            self.connection.execute(setting)

    def rows(self) -> Composable:
        """The statement that gives all rows with their evidence."""
        target, shape = self.target, self.target.shape
        numbered = shape.entries.has(shape.profile.columns.seq)
        parts: dict[str, Composable] = {"xid": SQL("-age(e.xmin)::bigint"), "cmin": SQL("e.cmin::text::bigint")}
        parts |= {
            "saved": SQL(""),
            "bits": SQL(""),
            "updated": SQL("coalesce(xid > later, false)"),
        }
        if self._pages is not None:
            parts["bits"] = SQL(BITS).format(
                oid=shape.entries.oid, schema=Identifier(self._pages), name=target.name.as_string(self.connection)
            )
            parts["updated"] = SQL("place_of IS NOT NULL")
        if self.saved:
            parts["saved"] = SQL(SAVED).format(saved=SAVED_TABLE, key=target.key)
            parts["xid"] = SQL("coalesce(o.place, 1000000000000000 - age(e.xmin)::bigint)")
            parts["cmin"] = SQL("CASE WHEN o.place IS NULL THEN e.cmin::text::bigint ELSE 0 END")
            parts["updated"] = SQL("({} AND xid >= 1000000000000000 - 2147483648)").format(parts["updated"])
        number = SQL("e.{}::bigint").format(target.seq) if numbered else SQL("NULL::bigint")
        return SQL(EVIDENCE).format(
            table=target.name, key=target.key, session=target.session, time=target.time, number=number,
            oldest=OLDEST_AGE, **parts,
        )  # fmt: skip

    def moments(self, source: Composable | None = None) -> Iterator[Moment]:
        """All moments of several rows, by place: from the table itself, or from a plan of it."""
        target = self.target
        statement = SQL(MOMENTS).format(
            columns=SQL(", ").join(Query(target.shape).reduced_columns()),
            source=source if source is not None else SQL("({})").format(self.rows()),
            table=target.name,
            key=target.key,
        )
        reader, unanswered = Reader(target.shape), set[tuple[str, str]]()
        with ServerCursor(self.connection, "jarvis_ops_moments") as cursor:
            cursor.itersize = STEP
            cursor.execute(statement)
            for (session, moment), rows in groupby(cursor, key=lambda row: (row[OWN_COLUMNS], row[10])):
                found = list(rows)
                traces = tuple(map(reader.trace, found))
                awaited = frozenset(waited_for(session, traces, unanswered))
                if len(traces) > 1:
                    yield Moment(session, moment or "", traces, found[0][9], awaited)


def waited_for(session: str, rows: Sequence[Trace], unanswered: set[tuple[str, str]]) -> Iterator[str]:
    """The results among these rows whose calls came earlier; what they leave `unanswered` is kept for later rows."""
    called = {call for row in rows for call in row.calls}
    answered = {result for row in rows for result in row.results}
    for result in answered - called:
        if (session, result) in unanswered:
            unanswered.remove((session, result))
            yield result
    unanswered.update((session, call) for call in called - answered)


class Reader:
    """Makes a Trace of what was fetched."""

    def __init__(self, shape: Shape) -> None:
        self._lines = Lines(shape)
        self._roles = shape.profile.roles
        self._whole = bool(shape.profile.message)
        self._dialect = Jarvis()

    def trace(self, row: tuple[Any, ...]) -> Trace:
        """The trace of a row."""
        place, xid, cmin, page, item, number, updated, bulk, fresh = row[:9]
        role, calls, results = self._pairs(row[OWN_COLUMNS:])
        return Trace(
            place, row[OWN_COLUMNS + 1], role, calls, results, xid, cmin, page, item, number, updated, bulk, fresh
        )

    def _pairs(self, reduced: tuple[Any, ...]) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        """Role, calls and results. Most rows say it in their columns."""
        _, _, role, _, _, result, calls, content, _ = reduced
        known = ROLES.get(self._roles.get(role, role) or "")
        plain = content is None and not self._whole and (calls is None or calls.startswith(IDS))
        if plain and known is not None:
            listed = tuple(orjson.loads(calls)) if calls is not None and known == "assistant" else ()
            return known, listed, (result,) if result is not None and known == "tool" else ()
        message = self._dialect.decode(orjson.loads(self._lines.reduced(reduced).raw))
        return (
            message.role,
            tuple(call.id for call in message.calls if call.id is not None and not call.server),
            tuple(one.id for one in message.results if one.id is not None and not one.server),
        )
