"""One conversation of a database, its rows read as lines."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any, Protocol

import orjson

from jarvis_ops.dialects.base import Dialect
from jarvis_ops.model.conversation import Conversation, PartFile
from jarvis_ops.model.message import Message
from jarvis_ops.model.record import Record, Row
from jarvis_ops.rules.order import Order, Orders
from jarvis_ops.stores.base import BEGINNING, Chunk, OpenPart, Place
from jarvis_ops.stores.postgres.lines import Lines, unit_of
from jarvis_ops.stores.postgres.query import Query
from jarvis_ops.stores.postgres.schema import Shape

if TYPE_CHECKING:
    from psycopg.sql import Composed

CHUNK = 1 << 17


class Fetching(Protocol):
    """Carries statements out within the one transaction of a run."""

    def fetch(self, statement: Composed, *, few: bool = False) -> Iterator[tuple[Any, ...]]:
        """The rows that a statement gives, as they come; `few` says that most will not be asked for.

        StoreError if the database fails.
        """


class RowsSnapshot:
    """The Snapshot of a conversation whose lines are rows: one part, named for the conversation.

    Its lines are reduced to what judging needs, or `whole`. Tied rows come in the order in which they pair. After a
    reading from end to end `order` says what it showed about their order.
    """

    def __init__(
        self, fetching: Fetching, shape: Shape, conversation: Conversation, dialect: Dialect, *, whole: bool
    ) -> None:
        self.shape = shape
        self.conversation = conversation
        self.dialect = dialect
        self.whole = whole
        self.order = self._new_order()
        self._fetching = fetching
        self._query = Query(shape)
        self._lines = Lines(shape)
        self._size: int | None = None

    def _new_order(self) -> Order:
        orders = Orders("time" in self.shape.profile.order, self.shape.has_seq)
        return Order(orders, lambda time: unit_of(time, self.shape.clock))

    def fetched(self, order: str = "") -> Iterator[Row]:
        """The rows as the database gives them: in reading order, "newest" first, or by "seq"."""
        session, few = self.conversation.id, order == "newest"
        if self.whole:
            return map(self._lines.whole, self._fetching.fetch(self._query.whole(session, order), few=few))
        statement = self._query.reduced([session], one=True, order=order)
        return map(self._lines.reduced, self._fetching.fetch(statement, few=few))

    def messages(self, rows: Iterator[Row] | None = None) -> Iterator[tuple[Row, Message]]:
        """The whole record, or the rows given, with each row's message; lines are counted."""
        self.order = self._new_order()
        line, offset = 1, 0
        for row, message in self.order.arrange(rows if rows is not None else self.fetched(), self._decode):
            row.line, row.offset = line, offset
            line, offset = line + 1, offset + len(row.raw)
            yield row, message
        self._size = offset

    def _decode(self, row: Row) -> Message:
        return self.dialect.decode(orjson.loads(row.raw))

    @property
    def parts(self) -> tuple[OpenPart, ...]:
        """The one part; to know its size all rows are read."""
        return (self._part(self.size(self.conversation.id)),)

    def _part(self, size: int) -> OpenPart:
        name = self.conversation.id
        return OpenPart(PartFile(name, "", table=self.shape.entries.name), size, 0, 0, 0, 0)

    def chunks(self, begin: Place = BEGINNING, end: Place | None = None) -> Iterator[Chunk]:
        """The record from one place to another, about 128 KiB at a time."""
        part, lines, size, first = self._part(0), list[bytes](), 0, (1, 0)
        for row in self.records():
            if Place(0, row.offset) < begin or (end is not None and Place(0, row.offset) >= end):
                continue
            if not lines:
                first = (row.line or 0, row.offset)
            lines.append(row.raw)
            size += len(row.raw)
            if size >= CHUNK:
                yield Chunk(part, *first, lines)
                lines, size = [], 0
        if lines:
            yield Chunk(part, *first, lines)

    def records(self) -> Iterator[Record]:
        """The whole record, forward, one row at a time."""
        return (row for row, _ in self.messages())

    def newest_first(self, before: Place | None = None) -> Iterator[Record]:
        """The record from its last row back to its first. Offsets count back from the end, lines are not counted."""
        if before is not None:
            yield from reversed([row for row in self.records() if Place(0, row.offset) < before])
            return
        for number, row in enumerate(self.fetched("newest"), start=1):
            row.offset = -number
            yield row

    def read(self, file: str, start: int, end: int) -> bytes:
        """The bytes [start, end) of the lines. KeyError if `file` is not this conversation."""
        self._own(file)
        stream = io.BytesIO()
        for row in self.records():
            if row.offset < end and row.offset + len(row.raw) > start:
                stream.write(row.raw[max(0, start - row.offset) : end - row.offset])
        return stream.getvalue()

    def size(self, file: str) -> int:
        """How many bytes all lines have. KeyError if `file` is not this conversation."""
        self._own(file)
        if self._size is None:
            for _ in self.messages():
                pass
        return self._size or 0

    def lines_at(self, file: str, offsets: Collection[int]) -> Iterator[tuple[int, int]]:
        """(offset, line) for each offset at which a line begins. KeyError if `file` is not this conversation."""
        self._own(file)
        wanted = set(offsets)
        if any(offset >= 0 for offset in wanted):
            yield from ((row.offset, row.line or 0) for row in self.records() if row.offset in wanted)

    def digest(self, part: OpenPart, length: int | None = None) -> str:
        """The sha256 (hex) of the first `length` bytes of the lines; of all of them when None."""
        return hashlib.sha256(self.read(part.file.file, 0, part.size if length is None else length)).hexdigest()

    def writer(self) -> bool | None:
        """Never known to be so: a database tells nobody who is about to write."""
        return False

    def _own(self, file: str) -> None:
        if file != self.conversation.id:
            raise KeyError(file)
