"""A disk that counts its calls, and lets one of them kill the process, or fail."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
from collections.abc import Callable
from typing import Any

from jarvis_ops.stores.jsonl.ours import Files

# All calls of the disk that touch it; those that only read are among them, since they fail too.
CALLS = (
    "open", "status", "status_of", "read", "names", "free_space", "lease", "waiting", "end_lease", "make_folder",
    "create", "open_to_append", "set_mode", "write", "flush", "flush_folder", "link", "rename", "exchange", "remove",
    "remove_folder",
)  # fmt: skip
# Those that have an effect: killing after one of the others is the same as before the next.
CHANGING = frozenset(CALLS[CALLS.index("lease") :])


class FaultyDisk(Files):
    """`before` is called with the number and the name of each call, from 0; what it raises is what the call raises."""

    def __init__(self, before: Callable[[int, str], None], after: Callable[[int, str], None] | None = None) -> None:
        self.before = before
        self.after = after
        self.calls: list[str] = []

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name not in CALLS:
            return found

        def call(*arguments: Any) -> Any:
            number = len(self.calls)
            self.calls.append(name)
            self.before(number, name)
            result = found(*arguments)
            if self.after is not None:
                self.after(number, name)
            return result

        return call

    def pause(self, seconds: float) -> None:
        """Nobody is there who would need it."""


def killing(number: int, *, after: bool = False, writer: Callable[[int], None] | None = None) -> FaultyDisk:
    """A disk whose call `number` is the last: it kills the process before it is made, or after."""

    def kill(now: int, _: str) -> None:
        if now == number:
            os.kill(os.getpid(), signal.SIGKILL)

    def before(now: int, name: str) -> None:
        if writer is not None:
            writer(now)
        if not after:
            kill(now, name)

    return FaultyDisk(before, kill if after else None)


class ShortDisk(FaultyDisk):
    """A disk that takes half of what it is given, once."""

    def __init__(self, number: int) -> None:
        super().__init__(lambda _, __: None)
        self.number = number

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        is_short = len(self.calls) - 1 == self.number and len(data) > 1
        return super().write(descriptor, data[: len(data) // 2] if is_short else data)


def failing(number: int, code: int) -> FaultyDisk:
    """A disk whose call `number` fails."""

    def before(now: int, name: str) -> None:
        if now == number:
            raise OSError(code, os.strerror(code), name)

    return FaultyDisk(before)


def append_line(path: str, line: bytes, acknowledged: str) -> None:
    """What an agent does between two turns; if the file is held, it comes another time."""
    with contextlib.suppress(BlockingIOError):
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK)
        try:
            os.write(descriptor, line)
        finally:
            os.close(descriptor)
        descriptor = os.open(acknowledged, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(descriptor, line)
        os.close(descriptor)


ERRORS = {name: getattr(errno, name) for name in ("EIO", "ENOSPC", "EACCES", "EROFS", "EDQUOT", "EINTR")}
