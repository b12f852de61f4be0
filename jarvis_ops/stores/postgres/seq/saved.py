"""The evidence of order in a file, for a store whose agent adds the column itself and thereby destroys it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, LiteralString

import orjson
from psycopg import Connection, ServerCursor
from psycopg.sql import SQL

from jarvis_ops.errors import StoreError, UsageError
from jarvis_ops.model.trace import Decision, Moment
from jarvis_ops.stores.disk import Disk, remove_quietly, write_all
from jarvis_ops.stores.postgres.seq.evidence import SAVED_TABLE, Evidence
from jarvis_ops.stores.postgres.seq.plan_table import state_of
from jarvis_ops.stores.postgres.seq.target import execute, exists

FORMAT = "jarvis-ops-order/1"
ROWS: LiteralString = (
    "SELECT place, key::text, session::text, moment::text, xid, command, tid::text, updated, bulk FROM ({rows}) r"
    " ORDER BY place"
)
# Once there is a plan, the rows themselves may tell nothing any more.
PLANNED: LiteralString = """
SELECT row_number() OVER (ORDER BY new_seq), max(doubt) OVER (PARTITION BY session, moment) IS NOT NULL, key::text,
       session::text, moment::text, xid, command, tid::text, updated, bulk
FROM {plan} ORDER BY new_seq"""
FIELDS = ("key", "conversation", "time", "xid", "cmin", "ctid", "updated", "bulk")
STEP = 5_000
CREATE: LiteralString = "CREATE TEMPORARY TABLE jarvis_ops_saved (key text PRIMARY KEY, place bigint)"


def save(evidence: Evidence, decide: Callable[[Moment], Decision], path: str) -> int:
    """Write all rows in the order that was decided into a new file, a JSON line each; how many they are.

    Ids and times are in it, nothing that anybody said. StoreError if it cannot be written, UsageError if it is there.
    """
    if os.path.lexists(path):
        raise UsageError(f"{path!r} is there already, and is not written over")
    try:
        return write(path, of_plan(evidence) if of_new_column(evidence) else of_table(evidence, decide))
    except OSError as error:
        raise StoreError(f"the evidence cannot be written to {path!r}: {error.strerror}") from error


def of_new_column(evidence: Evidence) -> bool:
    """Whether there is a plan of all old rows."""
    state = state_of(evidence.connection, evidence.target)
    return state is not None and state.added and exists(evidence.connection, evidence.target.plan)


def of_plan(evidence: Evidence) -> Iterator[bytes]:
    """The lines of the file from a plan."""
    yield head(evidence)
    with ServerCursor(evidence.connection, "jarvis_ops_evidence") as cursor:
        cursor.itersize = STEP
        cursor.execute(SQL(PLANNED).format(plan=evidence.target.plan))
        for place, doubt, *values in cursor:
            yield line(place, doubt, values)


def of_table(evidence: Evidence, decide: Callable[[Moment], Decision]) -> Iterator[bytes]:
    """The lines of the file from the rows themselves."""
    moved, doubted = dict[int, int](), set[int]()
    for moment in evidence.moments():
        decision, rows = decide(moment), moment.rows
        places = sorted(row.place for row in rows)
        moved |= {
            rows[index].place: place
            for place, index in zip(places, decision.order, strict=True)
            if rows[index].place != place
        }
        if decision.doubt:
            doubted |= {row.place for row in rows}
    yield head(evidence)
    with ServerCursor(evidence.connection, "jarvis_ops_evidence") as cursor:
        cursor.itersize = STEP
        cursor.execute(SQL(ROWS).format(rows=evidence.rows()))
        for place, *values in cursor:
            yield line(moved.get(place, place), place in doubted, values)


def head(evidence: Evidence) -> bytes:
    """The first line."""
    return orjson.dumps({"format": FORMAT, "table": evidence.target.label}) + b"\n"


def line(place: int, doubt: bool, values: Sequence[Any]) -> bytes:  # noqa: FBT001 - a field like the others
    """The line of a row."""
    return orjson.dumps({"place": place, "doubt": doubt, **dict(zip(FIELDS, values, strict=True))}) + b"\n"


def write(path: str, content: Iterator[bytes]) -> int:
    """Write lines into a file that is there whole or not at all; how many rows they were."""
    disk, temporary = Disk(), f"{path}.{os.urandom(4).hex()}.tmp"
    descriptor, rows = disk.create(temporary), -1
    try:
        try:
            for each in content:
                write_all(disk, descriptor, each)
                rows += 1
            disk.flush(descriptor)
        finally:
            disk.close(descriptor)
        disk.rename(temporary, path)
    except BaseException:
        remove_quietly(disk, temporary)
        raise
    return rows


def load(connection: Connection[Any], path: str, table: str) -> None:
    """Read such a file into a temporary table of this connection. StoreError, UsageError if it is none."""
    try:
        with open(path, "rb") as file:
            first = parsed(file.readline(), path)
            if first.get("format") != FORMAT:
                raise UsageError(f"{path!r} holds no order that --save-evidence wrote")
            if first.get("table") != table:
                raise UsageError(f"{path!r} holds the order of {first.get('table')}, not of {table}")
            connection.execute(CREATE)
            with connection.cursor() as cursor, cursor.copy("COPY jarvis_ops_saved FROM STDIN") as copy:
                for each in file:
                    row = parsed(each, path)
                    copy.write_row((row.get("key"), row.get("place")))
    except OSError as error:
        raise StoreError(f"{path!r} cannot be read: {error.strerror}") from error
    execute(connection, "ANALYZE {saved}", saved=SAVED_TABLE)


def parsed(text: bytes, path: str) -> dict[str, Any]:
    """One line of the file."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        value = None
    if not isinstance(value, dict):
        raise UsageError(f"{path!r} holds no order that --save-evidence wrote")
    return value
