"""A conversation of rows held in memory, as it is or as it would be after edits."""

from __future__ import annotations

import copy
import hashlib
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import orjson

from jarvis_ops.dialects.base import Dialect
from jarvis_ops.errors import RefusedError
from jarvis_ops.model.conversation import Conversation
from jarvis_ops.model.message import Message
from jarvis_ops.model.pieces import PieceTable, Span
from jarvis_ops.model.record import Record, Row
from jarvis_ops.stores.base import OpenPart, Place
from jarvis_ops.stores.postgres.lines import Lines
from jarvis_ops.stores.postgres.placing import UNORDERED, Item, Time, between, placed
from jarvis_ops.stores.postgres.reader import RowsSnapshot
from jarvis_ops.stores.postgres.schema import Shape

NO_ORDER = "rows of the same time have no order of their own here; migrate-seq gives them one, so run that first"


class Nothing:
    """Fetches nothing: all rows are there."""

    def fetch(self, statement: object, *, few: bool = False) -> Iterator[tuple[Any, ...]]:  # noqa: ARG002 - as the protocol has it
        """No rows."""
        return iter(())


class HeldRows(RowsSnapshot):
    """The rows of a conversation in memory; `read` are as they come from the database, `rows` as they are judged.

    `images` are all columns of each row as JSON text, by key.
    """

    def __init__(
        self, shape: Shape, conversation: Conversation, dialect: Dialect, read: Sequence[Row], images: Mapping[str, str]
    ) -> None:
        super().__init__(Nothing(), shape, conversation, dialect, whole=True)
        self.images = images
        self._read = read
        self.rows = [row for row, _ in self.messages()]
        self.data = b"".join(row.raw for row in self.rows)
        self.by_key = {row.key: row for row in self.rows}
        self._offsets = [row.offset for row in self.rows]

    @property
    def highest(self) -> int:
        """The highest number of a row; 0 without any."""
        return max((row.seq for row in self.rows if row.seq is not None), default=0)

    def fetched(self, order: str = "") -> Iterator[Row]:
        """Copies of the rows, in the order of the database."""
        rows = self._read
        if order == "seq":
            rows = sorted(rows, key=lambda row: (row.seq is None, row.seq or 0))
        return map(copy.copy, reversed(rows) if order == "newest" else rows)

    def messages(self, rows: Iterator[Row] | None = None) -> Iterator[tuple[Row, Message]]:
        """The whole record, or the rows given, with each row's message; lines are counted."""
        return super().messages(rows if rows is not None else self.fetched())

    @property
    def parts(self) -> tuple[OpenPart, ...]:
        """The one part."""
        return (self._part(len(self.data)),)

    def records(self) -> Iterator[Record]:
        """The whole record, forward."""
        return map(copy.copy, self.rows)

    def newest_first(self, before: Place | None = None) -> Iterator[Record]:
        """The record from its last row, or the last before a place, back to its first."""
        return (copy.copy(row) for row in reversed(self.rows) if before is None or Place(0, row.offset) < before)

    def read(self, file: str, start: int, end: int) -> bytes:
        """The bytes [start, end) of the lines. KeyError if `file` is not this conversation."""
        self._own(file)
        return self.data[start:end]

    def size(self, file: str) -> int:
        """How many bytes all lines have. KeyError if `file` is not this conversation."""
        self._own(file)
        return len(self.data)

    def row_at(self, offset: int) -> Row | None:
        """The row in whose line a byte stands; the last one for the end of the lines; None without rows."""
        number = bisect_right(self._offsets, offset) - 1
        return self.rows[number] if number >= 0 else None

    def lines_at(self, file: str, offsets: Collection[int]) -> Iterator[tuple[int, int]]:
        """(offset, line) for each offset: the line in which it stands. KeyError if `file` is not this conversation."""
        self._own(file)
        return ((offset, max(1, bisect_right(self._offsets, offset))) for offset in sorted(set(offsets)))

    def digest(self, part: OpenPart, length: int | None = None) -> str:
        """The sha256 (hex) of all columns of all rows, in the order in which they are judged."""
        if length is not None and length != len(self.data):
            return super().digest(part, length)
        images = (orjson.dumps([row.key, self.images.get(row.key, "")]) for row in self.rows)
        return hashlib.sha256(b"\n".join(images)).hexdigest()


def held(shape: Shape, conversation: Conversation, dialect: Dialect, fetched: Sequence[tuple[Any, ...]]) -> HeldRows:
    """A conversation from its whole rows as they were fetched."""
    lines = Lines(shape)
    rows = [lines.whole(one) for one in fetched]
    return HeldRows(shape, conversation, dialect, rows, {one[1]: one[6] for one in fetched})


def edited(base: HeldRows, tables: Mapping[str, PieceTable]) -> HeldRows:
    """A conversation with other content. RefusedError where rows cannot have the order that is wanted."""
    table = tables.get(base.conversation.id)
    if table is None:
        return base
    pieces = (base.data[piece.start : piece.end] if isinstance(piece, Span) else piece for piece in table.pieces)
    new = [made(base, line, at) for at, line in lines_of(b"".join(pieces))]
    if len({row.key for row in new}) < len(new):
        raise RefusedError("two of its rows would have the same id")
    places = {row.key: (number, row) for number, row in enumerate(base.rows)}
    olds = [places.get(row.key) for row in new]
    items = [
        Item(old[0] if old is not None else None, answers(base, row), row.time, row.seq)
        for row, old in zip(new, olds, strict=True)
    ]
    orders = base.order.orders
    found = placed(items, by_time=orders.by_time, by_seq=orders.by_seq, highest=base.highest)
    before: Row | None = None
    for row, place, old in zip(new, found, olds, strict=True):
        row.time, row.seq = place.time, place.seq
        if old is None and before is not None:
            row.compacted = before.compacted
            row.time = row.time if orders.by_seq else later(base.shape, before, row)
        if orders.by_time and before is not None and not between(before.time, row.time, None):
            raise RefusedError(UNORDERED)
        before = row
    view = HeldRows(base.shape, base.conversation, base.dialect, new, base.images)
    if [row.key for row in view.rows] != [row.key for row in new]:
        raise RefusedError(NO_ORDER)
    return view


def lines_of(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(offset, line) of each line."""
    start = 0
    for line in data.split(b"\n"):
        if line.strip():
            yield start, line + b"\n"
        start += len(line) + 1


def made(base: HeldRows, line: bytes, offset: int) -> Row:
    """The row that a line of the new content stands for: an old one by its id, or a new one without time and number."""
    value = orjson.loads(line)
    key = value.get("id") if isinstance(value, dict) else None
    if not isinstance(key, str):
        raise RefusedError("a row that is to be put in has no id")
    name, table = base.conversation.id, base.shape.entries.name
    old = base.by_key.get(key)
    if old is None:
        return Row(name, None, offset, line, table=table, key=key)
    time = old.time if old.raw == line else moved_time(base.shape, old, orjson.loads(old.raw), value)
    return Row(name, None, offset, line, table=table, key=key, time=time, seq=old.seq, compacted=old.compacted)


def moved_time(shape: Shape, old: Row, before: Mapping[str, Any], after: Mapping[str, Any]) -> Time:
    """The time of a row whose line was given another one: as many milliseconds later."""
    was, now = before.get("timestamp"), after.get("timestamp")
    if was == now:
        return old.time
    unit = milliseconds_in(shape, old.time)
    if unit is None or not isinstance(old.time, int) or not isinstance(was, int) or not isinstance(now, int):
        raise RefusedError("its times cannot be told to the millisecond, so none of them is changed")
    return old.time + (now - was) * unit


def later(shape: Shape, before: Row, row: Row) -> Time:
    """The time of a new row where nothing but times orders rows: as much later than the row before as its line says."""
    was, now = (orjson.loads(one.raw).get("timestamp") for one in (before, row))
    unit = milliseconds_in(shape, before.time)
    if unit is None or not isinstance(before.time, int) or not isinstance(was, int) or not isinstance(now, int):
        return before.time
    return before.time + max(0, now - was) * unit


def tied_anew(base: HeldRows, view: HeldRows) -> bool:
    """Whether a row that is new, or stands behind another one than before, has nothing that keeps it there."""
    olds = {row.key: number for number, row in enumerate(base.rows)}
    for one, other in pairwise(view.rows):
        follows = one.key in olds and other.key in olds and olds[one.key] < olds[other.key]
        if not follows and view.order.are_tied(one, other):
            return True
    return False


def milliseconds_in(shape: Shape, time: Time) -> int | None:
    """What one millisecond is in the unit of a time; None where that unit is none of whole milliseconds."""
    if not isinstance(time, int):
        return None
    return {"ms": 1, "us": 1000, "micros": 1000}.get(Lines(shape).unit(time))


def answers(base: HeldRows, row: Row) -> bool:
    """Whether a row is a result."""
    message = base.dialect.decode(orjson.loads(row.raw))
    return bool(message.results) and message.role != "assistant"
