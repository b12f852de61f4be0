"""Looking up lines of a conversation, wherever a planner wants to read."""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ops.model.record import Record
from jarvis_ops.stores.base import Place, Snapshot

# Planners look at a few lines around a place: little is read at first, and more with each step of a longer walk.
FIRST_BLOCK = 1 << 13
LARGEST_BLOCK = 1 << 20


class SnapshotPages:
    """The `Pages` of a conversation that is held open."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._parts = {part.file.file: number for number, part in enumerate(snapshot.parts)}

    @property
    def files(self) -> tuple[str, ...]:
        """The names of all parts in reading order, the live file last."""
        return tuple(self._parts)

    def size(self, file: str) -> int:
        """The number of bytes of a part."""
        return self._snapshot.size(file)

    def sealed(self, file: str) -> bool:
        """Whether a part is a sealed segment."""
        return self._snapshot.parts[self._parts[file]].file.number is not None

    def line(self, file: str, offset: int) -> Record:
        """The line that holds the byte at `offset`; empty at the end of a part."""
        start = self._start(file, offset)
        return next(self._lines(file, start), Record(file, None, start, b""))

    def forward(self, file: str, offset: int) -> Iterator[Record]:
        """The lines from the one that begins at `offset` on, also in the parts behind."""
        for other in self.files[self._parts[file] :]:
            yield from self._lines(other, offset if other == file else 0)

    def backward(self, file: str, offset: int) -> Iterator[Record]:
        """The lines before the one that begins at `offset`, nearest first, also in the parts before."""
        return self._snapshot.newest_first(Place(self._parts[file], offset))

    def _start(self, file: str, offset: int) -> int:
        """Where the line that holds a byte begins."""
        end, block = offset, FIRST_BLOCK
        while end > 0:
            begin = max(0, end - block)
            feed = self._snapshot.read(file, begin, end).rfind(b"\n")
            if feed >= 0:
                return begin + feed + 1
            end, block = begin, min(2 * block, LARGEST_BLOCK)
        return 0

    def _lines(self, file: str, offset: int) -> Iterator[Record]:
        """The lines of one part from a place on."""
        size, block, held = self.size(file), FIRST_BLOCK, b""
        place = offset
        while place < size:
            more = self._snapshot.read(file, place, min(place + block, size))
            place += len(more)
            block = min(2 * block, LARGEST_BLOCK)
            lines = (held + more).split(b"\n")
            held = lines.pop()
            for line in lines:
                yield Record(file, None, offset, line + b"\n")
                offset += len(line) + 1
        if held:
            yield Record(file, None, offset, held)
