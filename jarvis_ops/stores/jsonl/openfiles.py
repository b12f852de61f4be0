"""Who has a file open, as /proc shows it: for systems and file systems that give no lease on it."""

from __future__ import annotations

import os
from typing import NamedTuple

from jarvis_ops.stores.jsonl.layout import list_folder

PROCESSES = "/proc"


class Writers(NamedTuple):
    """The processes that have a file open for writing; `complete` is False when others could not be looked into."""

    pids: tuple[int, ...]
    complete: bool


def writers_of(identity: tuple[int, int]) -> Writers:
    """The processes that have the file of this (device, inode) open for writing.

    Those of other users can be seen by root alone; a map that was left after its descriptor was closed, by nobody.
    """
    found, complete = [], True
    try:
        processes = [entry for entry in list_folder(PROCESSES) if entry.name.isdecimal()]
    except OSError:
        return Writers((), complete=False)
    for process in processes:
        try:
            descriptors = list_folder(f"{process.path}/fd")
        except PermissionError:
            complete = False
            continue
        except OSError:
            continue  # it has ended
        if any(each.identity == identity and _writes(process.path, each.name) for each in descriptors):
            found.append(int(process.name))
    return Writers(tuple(found), complete)


def _writes(process: str, descriptor: str) -> bool:
    """Whether a descriptor of a process was opened for writing."""
    try:
        with open(f"{process}/fdinfo/{descriptor}", "rb") as file:
            lines = file.read().splitlines()
    except OSError:
        return False
    flags = next((line.partition(b":")[2].strip() for line in lines if line.startswith(b"flags:")), b"0")
    return int(flags, 8) & os.O_ACCMODE != os.O_RDONLY
