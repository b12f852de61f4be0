"""A file as the pieces that it is made of: stretches of files as they are, and new bytes between them.

A repair never rewrites what it leaves alone: it says which stretches stay, in which order, and what is new. So what
stays is byte-identical by construction, and what goes is exactly what no stretch names.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple


class Span(NamedTuple):
    """The bytes [start, end) of a file; `file` is its name relative to the store."""

    file: str
    start: int
    end: int

    @property
    def length(self) -> int:
        """The number of bytes."""
        return self.end - self.start


Piece = Span | bytes


class Edit(NamedTuple):
    """The bytes [start, end) of `file` give way to `pieces`, whose spans count in the same view of all files.

    Two edits of one file may touch, never overlap; those at the same place apply in the order given.
    """

    file: str
    start: int
    end: int
    pieces: tuple[Piece, ...] = ()


class PieceTable:
    """The content of one file. Neighbouring spans that follow each other in their file are one."""

    def __init__(self, pieces: Iterable[Piece]) -> None:
        self.pieces: list[Piece] = []
        for piece in pieces:
            last = self.pieces[-1] if self.pieces else None
            if not length_of(piece):
                continue
            if (
                isinstance(piece, Span)
                and isinstance(last, Span)
                and (piece.file, piece.start) == (last.file, last.end)
            ):
                self.pieces[-1] = Span(last.file, last.start, piece.end)
            else:
                self.pieces.append(piece)
        self.starts = array("q")
        self.length = 0
        for piece in self.pieces:
            self.starts.append(self.length)
            self.length += length_of(piece)

    @classmethod
    def whole(cls, file: str, size: int) -> PieceTable:
        """A file as it is."""
        return cls([Span(file, 0, size)])

    def is_whole(self, file: str, size: int) -> bool:
        """Whether this is `file` as it is."""
        return self.pieces == ([Span(file, 0, size)] if size else [])

    def cut(self, start: int, end: int) -> Iterator[Piece]:
        """The pieces that make up [start, end), as far as there is that much."""
        number = bisect_right(self.starts, start) - 1 if start else 0
        end = min(end, self.length)
        while start < end and number < len(self.pieces):
            piece, begin = self.pieces[number], self.starts[number]
            stop = min(end, begin + length_of(piece))
            yield part_of(piece, start - begin, stop - begin)
            start = stop
            number += 1

    def origin(self, offset: int) -> tuple[str, int] | None:
        """(file, offset) where the byte at `offset` was read from.

        For a new byte, and for the end of the file, it is the place behind the stretch before; None if there is none.
        """
        number = bisect_right(self.starts, offset) - 1
        while number >= 0:
            piece = self.pieces[number]
            if isinstance(piece, Span):
                return piece.file, min(piece.start + offset - self.starts[number], piece.end)
            number -= 1
        return None


def length_of(piece: Piece) -> int:
    """The number of bytes of a piece."""
    return piece.end - piece.start if isinstance(piece, Span) else len(piece)


def part_of(piece: Piece, start: int, end: int) -> Piece:
    """The bytes [start, end) of a piece."""
    if isinstance(piece, Span):
        return Span(piece.file, piece.start + start, piece.start + end)
    return piece[start:end]


def edited(tables: Mapping[str, PieceTable], edits: Iterable[Edit]) -> dict[str, PieceTable]:
    """The tables after `edits`, whose places count in the content that `tables` describe.

    ValueError for edits of one file that overlap, or that reach beyond its end.
    """
    by_file: dict[str, list[Edit]] = {}
    for edit in edits:
        by_file.setdefault(edit.file, []).append(edit)
    return {**tables, **{file: PieceTable(_spliced(tables, file, mine)) for file, mine in by_file.items()}}


def _spliced(tables: Mapping[str, PieceTable], file: str, edits: Sequence[Edit]) -> Iterator[Piece]:
    table, reached = tables[file], 0
    for edit in sorted(edits, key=lambda one: (one.start, one.end)):
        if not reached <= edit.start <= edit.end <= table.length:
            msg = f"edits of {file} overlap or reach beyond its end, at byte {edit.start}"
            raise ValueError(msg)
        yield from table.cut(reached, edit.start)
        yield from resolved(tables, edit.pieces)
        reached = edit.end
    yield from table.cut(reached, table.length)


def resolved(tables: Mapping[str, PieceTable], pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Pieces whose spans count in the content of `tables`, as pieces of the files below it."""
    for piece in pieces:
        if isinstance(piece, Span):
            yield from tables[piece.file].cut(piece.start, piece.end)
        else:
            yield piece


def removed(tables: Mapping[str, PieceTable], sizes: Mapping[str, int]) -> list[Span]:
    """The stretches of the files that are no longer in any table, in order; `sizes` are what the files hold."""
    kept: dict[str, list[tuple[int, int]]] = {file: [] for file in sizes}
    for table in tables.values():
        for piece in table.pieces:
            if isinstance(piece, Span):
                kept[piece.file].append((piece.start, piece.end))
    gone: list[Span] = []
    for file, size in sizes.items():
        reached = 0
        for start, end in [*sorted(kept[file]), (size, size)]:
            if start > reached:
                gone.append(Span(file, reached, start))
            reached = max(reached, end)
    return gone
