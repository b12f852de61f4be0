"""A conversation as it would be after edits, read through the same interface; nothing is written."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping

from jarvis_ops.model.pieces import PieceTable, Span
from jarvis_ops.stores.jsonl.held import HeldFile
from jarvis_ops.stores.jsonl.reader import JsonlSnapshot


class Composed(io.RawIOBase):
    """A stream over the pieces of a table; it holds no descriptor of its own, and reads the files when it is read."""

    def __init__(self, table: PieceTable, files: Mapping[str, HeldFile]) -> None:
        self._table = table
        self._files = files
        self._place = 0

    def readable(self) -> bool:
        """Yes."""
        return True

    def seekable(self) -> bool:
        """Yes."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move to a place; from the beginning, the present place, or the end."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: self._table.length}[whence]
        self._place = base + offset
        return self._place

    def tell(self) -> int:
        """The present place."""
        return self._place

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Fill `buffer` with what comes next, from one piece; 0 at the end."""
        target = memoryview(buffer).cast("B")
        for piece in self._table.cut(self._place, self._place + len(target)):
            if isinstance(piece, Span):
                held = self._files[piece.file]
                with held:
                    got = held.read_into(target[: piece.length], piece.start)
                if not got:
                    raise held.changed()
            else:
                got = len(piece)
                target[:got] = piece
            self._place += got
            return got
        return 0


class EditedFile(HeldFile):
    """A part whose content is a table of pieces."""

    def __init__(self, base: HeldFile, table: PieceTable, files: Mapping[str, HeldFile]) -> None:
        self.part = base.part._replace(size=table.length)
        self.stays_open = True
        self._base = base
        self._users = 0
        self._end = table.length
        self._file = Composed(table, files)


def edited(snapshot: JsonlSnapshot, tables: Mapping[str, PieceTable]) -> JsonlSnapshot:
    """The conversation of `snapshot` with other content for the parts in `tables`, while it is held open."""
    files = {held.part.file.file: held for held in snapshot.held}
    return JsonlSnapshot(
        tuple(EditedFile(held, tables[name], files) if name in tables else held for name, held in files.items()),
        watched=snapshot.held[-1] if snapshot.held else None,
    )
