"""Looks through what all processes have open."""

from __future__ import annotations

import os
import sys
from typing import NamedTuple, Protocol

from jarvis_ops.stores.jsonl.layout import names_in


class Identified(Protocol):
    """Whatever says which file it is about."""

    @property
    def device(self) -> int:
        """The device that the file lies on."""

    @property
    def inode(self) -> int:
        """Its number there."""


class Writers(NamedTuple):
    """The processes that have a file open for writing; `complete` says that all processes could be looked at."""

    pids: tuple[int, ...]
    complete: bool


def open_for_writing(file: Identified) -> Writers:
    """Looks through what all processes have open. Another user's processes show nothing, unless we are root."""
    pids: list[int] = []
    complete = sys.platform == "linux"
    for name in names_in("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                if any(_writes(f"/proc/{name}", each, file) for each in names_in(f"/proc/{name}/fd")):
                    pids.append(int(name))
            except OSError:
                complete = False
    return Writers(tuple(pids), complete)


def _writes(process: str, number: str, file: Identified) -> bool:
    """Whether a descriptor of a process is of this file, and can be written to."""
    try:
        found = os.stat(f"{process}/fd/{number}")
        if (found.st_dev, found.st_ino) != (file.device, file.inode):
            return False
        with open(f"{process}/fdinfo/{number}", encoding="ascii") as info:
            flags = next(line.split()[1] for line in info if line.startswith("flags:"))
    except (FileNotFoundError, ProcessLookupError):
        return False
    return int(flags, 8) & os.O_ACCMODE != os.O_RDONLY
