"""The evidence of order in a file, for a store whose agent adds the column itself and thereby destroys it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, LiteralString

import orjson
from psycopg import Connection, ServerCursor
from psycopg.sql import SQL

from jarvis_ops.errors import StoreError, UsageError
from jarvis_ops.model.trace import Decision, Moment
from jarvis_ops.stores.disk import Disk, remove_quietly, write_all
from jarvis_ops.stores.postgres.seq.evidence import SAVED_TABLE, Evidence
from jarvis_ops.stores.postgres.seq.target import execute

FORMAT = "jarvis-ops-order/1"
ROWS: LiteralString = (
    "SELECT place, key::text, session::text, moment::text, xid, command, tid::text, updated, bulk FROM ({rows}) r"
    " ORDER BY place"
)
FIELDS = ("key", "conversation", "time", "xid", "cmin", "ctid", "updated", "bulk")
STEP = 5_000
CREATE: LiteralString = "CREATE TEMPORARY TABLE jarvis_ops_saved (key text PRIMARY KEY, place bigint, doubt boolean)"


def save(evidence: Evidence, decide: Callable[[Moment], Decision], path: str) -> int:
    """Write all rows in the order that was decided into a new file, a JSON line each; how many they are.

    Ids and times are in it, nothing that anybody said. StoreError if it cannot be written, UsageError if it is there.
    """
    if os.path.lexists(path):
        raise UsageError(f"{path!r} is there already, and is not written over")
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
    try:
        return write(path, lines(evidence, moved, doubted))
    except OSError as error:
        raise StoreError(f"the evidence cannot be written to {path!r}: {error.strerror}") from error


def lines(evidence: Evidence, moved: dict[int, int], doubted: set[int]) -> Iterator[bytes]:
    """The lines of the file."""
    yield orjson.dumps({"format": FORMAT, "table": evidence.target.label}) + b"\n"
    with ServerCursor(evidence.connection, "jarvis_ops_evidence") as cursor:
        cursor.itersize = STEP
        cursor.execute(SQL(ROWS).format(rows=evidence.rows()))
        for place, *values in cursor:
            line = {
                "place": moved.get(place, place),
                "doubt": place in doubted,
                **dict(zip(FIELDS, values, strict=True)),
            }
            yield orjson.dumps(line) + b"\n"


def write(path: str, content: Iterator[bytes]) -> int:
    """Write lines into a file that is there whole or not at all; how many rows they were."""
    disk, temporary = Disk(), f"{path}.{os.urandom(4).hex()}.tmp"
    descriptor, rows = disk.create(temporary), -1
    try:
        try:
            for line in content:
                write_all(disk, descriptor, line)
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
            head = parsed(file.readline(), path)
            if head.get("format") != FORMAT:
                raise UsageError(f"{path!r} holds no order that --save-evidence wrote")
            if head.get("table") != table:
                raise UsageError(f"{path!r} holds the order of {head.get('table')}, not of {table}")
            connection.execute(CREATE)
            with connection.cursor() as cursor, cursor.copy("COPY jarvis_ops_saved FROM STDIN") as copy:
                for line in file:
                    row = parsed(line, path)
                    copy.write_row((row.get("key"), row.get("place"), row.get("doubt")))
    except OSError as error:
        raise StoreError(f"{path!r} cannot be read: {error.strerror}") from error
    execute(connection, "ANALYZE {saved}", saved=SAVED_TABLE)


def parsed(line: bytes, path: str) -> dict[str, Any]:
    """One line of the file."""
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        value = None
    if not isinstance(value, dict):
        raise UsageError(f"{path!r} holds no order that --save-evidence wrote")
    return value
