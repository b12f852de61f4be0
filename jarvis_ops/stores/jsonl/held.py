"""One file held open for reading: what it was when it was opened, and its bytes up to there."""

from __future__ import annotations

import hashlib
import io
import os
import stat
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Self

from jarvis_ops.errors import UnreadableError
from jarvis_ops.model.conversation import PartFile
from jarvis_ops.stores.base import OpenPart

BUFFER = 1 << 20
# A FIFO or a device must never make a run wait, and no child process may inherit what we hold.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def kind_of(mode: int) -> str:
    """What a file is, in words, when it is no regular file; "" when it is one."""
    return "" if stat.S_ISREG(mode) else _KINDS.get(stat.S_IFMT(mode), "something else")


def open_regular(path: str) -> tuple[int, os.stat_result]:
    """A read-only descriptor of a regular file, and its state. OSError, or UnreadableError for another kind."""
    descriptor = os.open(path, _FLAGS)
    status = os.fstat(descriptor)
    kind = kind_of(status.st_mode)
    if kind:
        os.close(descriptor)
        raise UnreadableError(f"it is {kind}, not a regular file")
    return descriptor, status


class HeldFile:
    """A part while its conversation is open. Released, it opens itself again, but never another file."""

    def __init__(self, file: PartFile) -> None:
        descriptor, status = open_regular(file.path)
        self.part = OpenPart(
            file, status.st_size, status.st_dev, status.st_ino, status.st_mtime_ns, stat.S_IMODE(status.st_mode)
        )
        self.stays_open = False
        self._users = 0
        self._end: int | None = None
        self._file: io.RawIOBase | None = io.FileIO(descriptor, "rb")

    @property
    def identity(self) -> tuple[int, int]:
        """(device, inode)."""
        return self.part.device, self.part.inode

    def opened(self) -> io.RawIOBase:
        """The open file, its position anywhere. UnreadableError if another one now has its name and we had let go."""
        if self._file is None:
            self._file = self._open_again()
        return self._file

    def release(self) -> None:
        """Give the descriptor back, unless this file is one of the few that stay open."""
        if not self.stays_open and not self._users:
            self.close()

    def close(self) -> None:
        """Give the descriptor back."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> Self:
        self._users += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._users -= 1
        self.release()

    def read_into(self, target: memoryview, offset: int) -> int:
        """Fill `target` from `offset`, as far as the file goes now; the number of bytes read."""
        try:
            file = self.opened()
            file.seek(offset)
            return file.readinto(target) or 0
        except OSError as error:
            raise self.unreadable(error.strerror or str(error)) from error

    def read(self, start: int, end: int) -> bytes:
        """The bytes from `start` to `end`. UnreadableError if the file no longer reaches that far."""
        data = bytearray(end - start)
        view = memoryview(data)
        done = 0
        while done < len(data):
            got = self.read_into(view[done:], start + done)
            if not got:
                raise self.changed()
            done += got
        return bytes(data)

    def blocks(self, start: int, end: int) -> Iterator[bytes]:
        """The bytes from `start` to `end`, a buffer's length at a time."""
        for place in range(start, end, BUFFER):
            yield self.read(place, min(place + BUFFER, end))

    def end(self) -> int:
        """How far reading goes: the size at opening, and on to the end of the line that was being written then.

        The answer is found once and stays, so that every pass over a part reads the same bytes.
        """
        if self._end is None:
            size = self.part.size
            is_whole = size == 0 or self.read(size - 1, size) == b"\n"
            self._end = size if is_whole else self._line_end(size)
        return self._end

    def _line_end(self, place: int) -> int:
        view = memoryview(bytearray(1 << 16))
        while got := self.read_into(view, place):
            found = bytes(view[:got]).find(b"\n")
            if found >= 0:
                return place + found + 1
            place += got
        return place

    def digest(self, length: int) -> str:
        """The sha256 of the first `length` bytes."""
        total = hashlib.sha256()
        for block in self.blocks(0, length):
            total.update(block)
        return total.hexdigest()

    def unreadable(self, reason: str) -> UnreadableError:
        """The error that says why this part cannot be read."""
        return UnreadableError(f"{self.part.file.file}: {reason}")

    def changed(self) -> UnreadableError:
        """The error for a file that lost bytes, or was replaced, under our hands."""
        return self.unreadable("changed while it was read")

    def _open_again(self) -> io.FileIO:
        try:
            descriptor, status = open_regular(self.part.file.path)
        except FileNotFoundError as error:
            raise self.changed() from error
        except OSError as error:
            raise self.unreadable(error.strerror or str(error)) from error
        file = io.FileIO(descriptor, "rb")
        if (status.st_dev, status.st_ino) != self.identity:
            file.close()
            raise self.changed()
        return file


def lines_backward(
    read: Callable[[int, int], bytes], end: int, first_block: int = 1 << 16, largest_block: int = 1 << 23
) -> Iterator[tuple[int, bytes]]:
    """(offset, line) from the last line back to the first. A line longer than a block is put together once."""
    pieces: list[bytes] = []
    place = end
    block = first_block
    while place > 0:
        start = max(0, place - block)
        fragments = read(start, place).split(b"\n")
        if len(fragments) == 1:
            pieces.append(fragments[0])
            block = min(block * 2, largest_block)
            place = start
            continue
        block = first_block
        offset = place - len(fragments[-1])
        line = b"".join([fragments.pop(), *reversed(pieces)])
        if line:
            yield offset, line
        while len(fragments) > 1:
            line = fragments.pop() + b"\n"
            offset -= len(line)
            yield offset, line
        pieces = [fragments.pop() + b"\n"]
        place = start
        del line
    if pieces and (line := b"".join(reversed(pieces))):
        yield 0, line
