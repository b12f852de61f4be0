"""Reads a conversation that is held open: forward in chunks, line by line, or back from its end."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator

from jarvis_ops.model.record import Record
from jarvis_ops.stores.base import BEGINNING, Chunk, OpenPart, Place
from jarvis_ops.stores.jsonl.held import BUFFER, HeldFile, lines_backward
from jarvis_ops.stores.lock import has_writer

CHUNK = 1 << 17


class JsonlSnapshot:
    """The Snapshot of a conversation whose parts are files."""

    def __init__(self, held: tuple[HeldFile, ...], watched: HeldFile | None = None) -> None:
        """`watched` is the file that a writer would have open, where that is not the last part itself."""
        self.held = held
        self._watched = watched or (held[-1] if held else None)
        self._by_file = {each.part.file.file: each for each in held}

    @property
    def parts(self) -> tuple[OpenPart, ...]:
        """All parts in reading order, the live file last; no inode twice."""
        return tuple(each.part for each in self.held)

    def chunks(self, begin: Place = BEGINNING, end: Place | None = None) -> Iterator[Chunk]:
        """The record from one place to another, about 128 KiB at a time. UnreadableError if a part lost bytes."""
        for number, held in enumerate(self.held):
            if number < begin.part or (end is not None and Place(number, 0) >= end):
                continue
            first = begin.offset if number == begin.part else 0
            with held:
                last = end.offset if end is not None and number == end.part else held.end()
                yield from _part_chunks(held, first, last)

    def records(self) -> Iterator[Record]:
        """The whole record, forward, one line at a time."""
        for chunk in self.chunks():
            file = chunk.part.file.file
            offset = chunk.first_offset
            for number, line in enumerate(chunk.lines, chunk.first_line):
                yield Record(file, number, offset, line)
                offset += len(line)

    def newest_first(self, before: Place | None = None) -> Iterator[Record]:
        """The whole record from its last line, or from the line `before` a place, back to its first; `line` is None."""
        for number, held in reversed([*enumerate(self.held)]):
            if before is not None and number > before.part:
                continue
            with held:
                end = before.offset if before is not None and number == before.part else held.end()
                for offset, line in lines_backward(held.read, end):
                    yield Record(held.part.file.file, None, offset, line)

    def read(self, file: str, start: int, end: int) -> bytes:
        """The bytes [start, end) of the part `file`. KeyError if it is no part, UnreadableError if it lost bytes."""
        with self._by_file[file] as held:
            return held.read(start, end)

    def size(self, file: str) -> int:
        """How many bytes of the part `file` are read. KeyError if it is no part."""
        with self._by_file[file] as held:
            return held.end()

    def lines_at(self, file: str, offsets: Collection[int]) -> Iterator[tuple[int, int]]:
        """(offset, line) for each offset of the part `file`, in order. KeyError if it is no part."""
        line, reached = 1, 0
        with self._by_file[file] as held:
            for offset in sorted(offsets):
                line += sum(block.count(b"\n") for block in held.blocks(reached, offset))
                reached = offset
                yield offset, line

    def digest(self, part: OpenPart, length: int | None = None) -> str:
        """The sha256 (hex) of the first `length` bytes of a part; of its size at opening when None."""
        with self._by_file[part.file.file] as held:
            return held.digest(part.size if length is None else length)

    def writer(self) -> bool | None:
        """Whether somebody has the live file open for writing now; None where the system cannot tell."""
        if self._watched is None or self._watched.part.file.number is not None:
            return False
        return has_writer(self._watched.opened().fileno())


def _part_chunks(held: HeldFile, offset: int, end: int) -> Iterator[Chunk]:
    """The lines of one part from `offset` to `end`.

    The stream lies directly on the open file, since only then is the end of a line found in C. Others move the
    position of that file between two chunks, so it is put back before each.
    """
    number, position = int(offset == 0), offset
    file = held.opened()
    stream = io.BufferedReader(file, BUFFER)
    try:
        while offset < end:
            file.seek(position)
            lines = _read_lines(held, stream)
            reached, position = stream.tell(), file.tell()
            if reached > end:
                lines = _cut(lines, end - offset)
            elif not lines or (reached < end and not lines[-1].endswith(b"\n")):
                raise held.changed()
            count = len(lines)
            yield Chunk(held.part, number, offset, lines)
            # The consumer may still work on them, but we must not hold a long line while the next one is read.
            del lines
            number += count if number else 0
            offset = reached
    finally:
        # Else the stream would close the file together with itself.
        if not file.closed:
            stream.detach()


def _read_lines(held: HeldFile, stream: io.BufferedReader[io.RawIOBase]) -> list[bytes]:
    try:
        return stream.readlines(CHUNK)
    except OSError as error:
        raise held.unreadable(error.strerror or str(error)) from error


def _cut(lines: list[bytes], length: int) -> list[bytes]:
    """The first `length` bytes of some lines; what a writer added behind them meanwhile belongs to a later run."""
    kept = []
    for line in lines:
        if length <= 0:
            break
        kept.append(line[:length])
        length -= len(line)
    return kept
