"""Carries over what a writer still wrote to an old file, after the new one had taken its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from jarvis_ops.errors import BusyError, UnreadableError
from jarvis_ops.stores.disk import BLOCK, Status, blocks, write_all
from jarvis_ops.stores.jsonl.journal import Journal, Swap, save
from jarvis_ops.stores.jsonl.ours import Files, Ours
from jarvis_ops.stores.jsonl.swap import inode_at, places_of
from jarvis_ops.stores.jsonl.watch import Watch


def late_bytes(disk: Files, ours: Ours, swap: Swap) -> int:
    """How many bytes of an old file are not accounted for. OSError."""
    places = places_of(ours, swap)
    found = disk.status(places.backup)
    if found is None or found.inode != swap.old or found.inode == inode_at(disk, places.live):
        return 0
    return max(found.size - swap.carried, 0)


def carry_over(disk: Files, ours: Ours, journal: Journal, like: Status) -> int:
    """Append to the live file what stands unaccounted in the old ones, in order; how many lines that was.

    Interrupted at any point, the next call goes on without saying a line twice. OSError; BusyError if anybody writes
    to one of these files; UnreadableError if the live file is gone.
    """
    lines = 0
    live = ours.path(journal.files[-1].file)
    for swap in journal.files:
        if not late_bytes(disk, ours, swap) and swap.carry_to <= swap.carried:
            continue
        old = Watch(disk, places_of(ours, swap).backup)
        try:
            old.check_free()
            while swap.carried < disk.status_of(old.descriptor).size:
                lines += _carry(disk, ours, journal, swap, old, live, like)
        finally:
            old.close()
    return lines


def _carry(disk: Files, ours: Ours, journal: Journal, swap: Swap, old: Watch, live: str, like: Status) -> int:
    """Carry some lines over; how many."""
    if disk.status(live) is None:
        raise UnreadableError(f"{journal.files[-1].file} is gone, and lines that came late cannot be carried over")
    new = Watch(disk, live)
    try:
        new.check_free()
        late = _next_lines(disk, swap, old)
        resumed = swap.carry_to > swap.carried
        moved = swap.carry_in != new.seen.inode
        if not resumed or moved or swap.carry_at > new.seen.size:
            # Where the lines stand, if they were begun to be appended: anywhere in a file that is not the same one.
            swap.carry_at = 0 if resumed and moved else new.seen.size
            swap.carry_in = new.seen.inode
            swap.carry_to = swap.carried + len(late)
            save(disk, ours, journal, like)
        missing = _missing(disk, late, new, swap.carry_at) if resumed else late
        # Also when nothing is missing: what an interrupted run has appended may not be safe yet, or lack its line feed.
        guard = _guard(disk, swap, old, new) if missing or late.endswith(b"\n") else b""
        _append(disk, live, guard + missing, new.seen)
        swap.carried = swap.carry_to
    finally:
        new.close()
    return late.count(b"\n") + (not late.endswith(b"\n"))


def _next_lines(disk: Files, swap: Swap, old: Watch) -> bytes:
    """The lines to carry: those that were begun to be, or else about a block of whole ones, or else all."""
    if swap.carry_to > swap.carried:
        return b"".join(blocks(disk, old.descriptor, swap.carried, swap.carry_to))
    taken = b""
    for block in blocks(disk, old.descriptor, swap.carried, disk.status_of(old.descriptor).size):
        taken += block
        if len(taken) >= BLOCK and b"\n" in taken:
            return taken[: taken.rindex(b"\n") + 1]
    return taken


def _missing(disk: Files, late: bytes, new: Watch, start: int) -> bytes:
    """Those of some lines that do not stand behind `start` yet."""
    wanted = Counter(_split(late))
    for line in _lines(disk, new, start):
        # The last one may have been cut off just before its line feed.
        found = line if wanted[line] else line + b"\n"
        if wanted[found]:
            wanted[found] -= 1
    missing = []
    for line in reversed(_split(late)):
        if wanted[line]:
            wanted[line] -= 1
            missing.append(line)
    return b"".join(reversed(missing))


def _split(data: bytes) -> list[bytes]:
    """The lines of some bytes, each with its line feed, save perhaps the last."""
    *lines, rest = data.split(b"\n")
    return [line + b"\n" for line in lines] + ([rest] if rest else [])


def _lines(disk: Files, file: Watch, start: int) -> Iterator[bytes]:
    rest = b""
    for block in blocks(disk, file.descriptor, start, file.seen.size):
        *lines, rest = (rest + block).split(b"\n")
        yield from (line + b"\n" for line in lines)
    yield rest


def _guard(disk: Files, swap: Swap, old: Watch, new: Watch) -> bytes:
    """A line feed, unless the live file ends in one, or in the very bytes that the old one went on from."""
    size = new.seen.size
    if not size or disk.read(new.descriptor, 1, size - 1) == b"\n":
        return b""
    goes_on = swap.carried == swap.size and size == swap.new_size and new.seen.inode == swap.new
    torn = swap.size > 0 and disk.read(old.descriptor, 1, swap.size - 1) != b"\n"
    return b"" if goes_on and torn else b"\n"


def _append(disk: Files, path: str, data: bytes, seen: Status) -> None:
    descriptor = disk.open_to_append(path)
    try:
        if disk.status_of(descriptor).inode != seen.inode:
            raise BusyError("its log was replaced meanwhile")
        write_all(disk, descriptor, data)
        disk.flush(descriptor)
    finally:
        disk.close(descriptor)
