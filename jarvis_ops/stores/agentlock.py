"""Lock files in which an agent writes who it is, as OpenClaw does; and whether the process that it names lives."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Mapping
from typing import Any

import orjson

from jarvis_ops.model.quantity import iso_time

# Agents call a lock of this age (milliseconds) stale themselves, whoever made it.
OLDEST = 30 * 60_000
LONGEST = 1 << 16


def live_lock(path: str) -> str:
    """Who holds the lock file at `path`, as a sentence; "" when there is none, or what it says is no longer true.

    It holds a JSON object: `pid`, `createdAt` (ISO text or milliseconds) and, where the agent knew it, `starttime`,
    which is `started` of that process. Without `createdAt`, the time of the file says how old it is.
    """
    content = _content(path)
    if content is None:
        return ""
    entry, written = content
    made = entry.get("createdAt")
    created = made if isinstance(made, int) else iso_time(made) if isinstance(made, str) else None
    age = time.time_ns() // 1_000_000 - (written if created is None else created)
    pid = entry.get("pid")
    if age > OLDEST or not isinstance(pid, int) or not is_process(pid, entry.get("starttime")):
        return ""
    return f"process {pid} holds its lock file"


def _content(path: str) -> tuple[Mapping[str, Any], int] | None:
    """The object in a lock file, and when it was written (milliseconds); None when there is no such file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
        with open(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            value = orjson.loads(file.read(LONGEST)) if stat.S_ISREG(status.st_mode) else None
    except (OSError, orjson.JSONDecodeError):
        return None
    return (value, status.st_mtime_ns // 1_000_000) if isinstance(value, dict) else None


def is_process(pid: int, start: object) -> bool:
    """Whether a process of this number lives, and began when `start` says, as far as both are known.

    `start` is what `started` gave for it, as a number or as text. Numbers of dead processes are given out again.
    """
    if not alive(pid):
        return False
    wanted = int(start) if isinstance(start, str) and start.isdecimal() else start
    began = started(pid)
    return not isinstance(wanted, int) or began is None or began == wanted


def alive(pid: int) -> bool:
    """Whether a process of this number exists here."""
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def started(pid: int) -> int | None:
    """When a process began, in clock ticks since the system did; None where the system does not say."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            line = file.read()
    except OSError:
        return None
    fields = line.rpartition(b")")[2].split()  # the name of the program, in brackets, may itself hold blanks
    return int(fields[19]) if len(fields) > 19 and fields[19].isdigit() else None
