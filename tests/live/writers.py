"""Agents at work: processes that append numbered lines to a log, each in the manner of some real agent.

`python -m tests.live.writers MANNER LOG FIRST COUNT PAUSE` appends COUNT lines, PAUSE seconds apart. What it has
handed to the system, it then notes in LOG.sent, so that nothing is called lost that was never written.
"""

from __future__ import annotations

import fcntl
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

DAMAGED = 7  # every so many lines begins with what a power cut leaves, so that there is something to mend


def line(number: int) -> bytes:
    """One whole record, long over; a log of such records holds no open turn."""
    record = {"id": f"w{number}", "role": "assistant", "content": "so it is " * 20, "timestamp": 1_780_000_000_000}
    return json.dumps(record).encode() + b"\n"


def written(number: int) -> bytes:
    """The bytes that are appended for it."""
    return (b"\0" * 9 if number % DAMAGED == 0 else b"") + line(number)


def append(log: Path, data: bytes) -> None:
    """Open, append, close: one call of write, as agents do."""
    descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, data)
    finally:
        os.close(descriptor)


def reopening(log: Path, number: int) -> None:
    append(log, written(number))


def locking(log: Path, number: int) -> None:
    """Hold the agent's own lock while the log is open."""
    lock = os.open(log.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        append(log, written(number))
    finally:
        os.close(lock)


def guarding(log: Path, number: int) -> None:
    """Hold a lock file that is made and removed, with the owner's process inside."""
    lock = Path(f"{log}.lock")
    while True:
        try:
            descriptor = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            break
        except FileExistsError:
            time.sleep(0.0005)
    try:
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        os.write(descriptor, json.dumps({"pid": os.getpid(), "createdAt": now}).encode())
        os.close(descriptor)
        append(log, written(number))
    finally:
        lock.unlink()


def dying(log: Path, number: int) -> None:
    """End in the middle of every fifth line. Whoever comes next begins a new line first, as a careful agent does."""
    data = written(number)
    with log.open("rb") as file:
        file.seek(0, os.SEEK_END)
        size = file.tell()
        file.seek(max(0, size - 1))
        torn = size > 0 and file.read(1) != b"\n"
    if number % 5 == 0:
        append(log, (b"\n" if torn else b"") + data[: len(data) // 2])
        os._exit(0)
    append(log, (b"\n" if torn else b"") + data)


MANNERS: dict[str, Callable[[Path, int], None]] = {
    "reopening": reopening,
    "locking": locking,
    "guarding": guarding,
    "dying": dying,
}


def holding(log: Path, first: int, count: int, pause: float, sent: Path) -> None:
    """Keep the log open from the first line to the last."""
    descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    for number in range(first, first + count):
        os.write(descriptor, written(number))
        append(sent, b"%d\n" % number)
        time.sleep(pause)


def main() -> None:
    manner, name, first, count, pause = sys.argv[1], *sys.argv[2:6]
    log = Path(name)
    sent = Path(f"{name}.sent")
    if manner == "holding":
        holding(log, int(first), int(count), float(pause), sent)
        return
    for number in range(int(first), int(first) + int(count)):
        MANNERS[manner](log, number)
        append(sent, b"%d\n" % number)
        time.sleep(float(pause))


if __name__ == "__main__":
    main()
