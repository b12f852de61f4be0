"""Lines of a conversation as records that were read, and edits that change a few bytes of one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from jarvis_ops.dialects.base import Dialect
from jarvis_ops.model.message import Message
from jarvis_ops.model.pieces import Edit, Piece, Span
from jarvis_ops.model.record import Position, Record
from jarvis_ops.plans.base import Pages
from jarvis_ops.rules.seams import parse
from jarvis_ops.rules.text import BYTE_ORDER_MARK


class UnmendableError(Exception):
    """Why a finding cannot be mended here, in one sentence."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Line(NamedTuple):
    """A whole record: where it stands, what it says, what it means."""

    record: Record
    value: dict[str, Any]
    message: Message

    @property
    def raw(self) -> bytes:
        """The bytes of the line, line feed included."""
        return self.record.raw

    @property
    def span(self) -> Span:
        """The whole line."""
        return span_of(self.record)

    @property
    def body(self) -> Span:
        """The line without the byte order mark that may stand at the beginning of a file."""
        marked = self.record.offset == 0 and self.raw.startswith(BYTE_ORDER_MARK)
        return self.span._replace(start=self.span.start + (len(BYTE_ORDER_MARK) if marked else 0))

    def at(self, path: str | None = None) -> Position:
        """The place of the line, or of something in it."""
        return self.record.position(path)


class Change(NamedTuple):
    """The bytes [start, end) of a line give way to `new`; places count from the beginning of the line."""

    line: Line
    start: int
    end: int
    new: bytes = b""


class Lines:
    """The whole records around any place of a conversation; broken and blank lines are passed over."""

    def __init__(self, pages: Pages, dialect: Dialect) -> None:
        self._pages = pages
        self._dialect = dialect

    def at(self, position: Position) -> Line:
        """The record in the line that holds a place. UnmendableError if the line is broken."""
        line = self.read(self._pages.line(position.file, position.offset or 0))
        if line is None:
            raise UnmendableError("its line is damaged, and has to be mended first")
        return line

    def told(self, facts: dict[str, Any], name: str) -> Line | None:
        """The line of another place that a finding names (`first`, `call`, `result`), if it does."""
        file, offset = facts.get(f"{name}_file"), facts.get(f"{name}_offset")
        return self.at(Position(file, None, offset)) if isinstance(file, str) and isinstance(offset, int) else None

    def after(self, line: Line) -> Iterator[Line]:
        """The records behind one."""
        return self._all(self._pages.forward(line.record.file, line.span.end))

    def before(self, line: Line) -> Iterator[Line]:
        """The records before one, nearest first."""
        return self._all(self._pages.backward(line.record.file, line.record.offset))

    def behind(self, answer: Line) -> Iterator[Line]:
        """The messages behind an answer, up to the next answer."""
        for line in self.after(answer):
            if line.message.sent:
                if line.message.role == "assistant":
                    return
                yield line

    def read(self, record: Record) -> Line | None:
        """A line as a record; None when it is no whole one."""
        raw = record.raw if record.offset else record.raw.removeprefix(BYTE_ORDER_MARK)
        value = parse(raw) if raw.strip() else None
        return Line(record, value, self._dialect.decode(value)) if value is not None else None

    def _all(self, records: Iterable[Record]) -> Iterator[Line]:
        for record in records:
            line = self.read(record)
            if line is not None:
                yield line


def span_of(record: Record) -> Span:
    """The whole line of a record."""
    return Span(record.file, record.offset, record.offset + len(record.raw))


def taken_out(line: Line) -> Edit:
    """An edit that takes a line out; a byte order mark before it stays where it is."""
    return Edit(*line.span, (Span(line.record.file, line.span.start, line.body.start),))


def put_behind(line: Line, *pieces: Piece) -> Edit:
    """An edit that puts a line behind another, which gets an end if it has none."""
    end = line.span.end
    return Edit(line.record.file, end, end, pieces if line.raw.endswith(b"\n") else (b"\n", *pieces))


def changed(changes: Iterable[Change]) -> tuple[Edit, ...]:
    """One edit for each line that changes; all of it that no change names stays as it is."""
    by_line: dict[Span, list[Change]] = {}
    for change in changes:
        by_line.setdefault(change.line.span, []).append(change)
    return tuple(Edit(*span, tuple(_pieces(span, mine))) for span, mine in by_line.items())


def _pieces(span: Span, changes: list[Change]) -> Iterator[Piece]:
    reached = span.start
    for change in sorted(changes, key=lambda one: (one.start, one.end)):
        yield Span(span.file, reached, span.start + change.start)
        yield change.new
        reached = span.start + change.end
    yield Span(span.file, reached, span.end)
