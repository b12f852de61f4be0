"""Brings a change that was begun to its end: done, or as if it had never been begun."""

from __future__ import annotations

from jarvis_ops.errors import BusyError
from jarvis_ops.stores.disk import Status
from jarvis_ops.stores.jsonl.compose import digest, remove_aside
from jarvis_ops.stores.jsonl.journal import Journal, Swap, load, save
from jarvis_ops.stores.jsonl.late import carry_over
from jarvis_ops.stores.jsonl.modes import set_modes
from jarvis_ops.stores.jsonl.ours import BACKUPS, Files, Ours
from jarvis_ops.stores.jsonl.swap import Places, inode_at, places_of
from jarvis_ops.stores.jsonl.watch import Watch

# How long (seconds) a writer that has found a file's name may take to open it: longer by orders of magnitude.
GRACE = 0.05
PATIENCE = 20


def settle(disk: Files, ours: Ours, journal: Journal, like: Status, *, patient: bool = False) -> int:
    """Finish a change whose new files are in their places; how many lines came late and were carried over.

    A writer who is still at an old file is waited for a moment if `patient`; what he writes is then left to the next
    start. OSError; BusyError if not `patient`.
    """
    clear_names(disk, ours, journal)
    for folder in sorted({places_of(ours, swap).folder for swap in journal.files}):
        disk.flush_folder(folder)
    lines, attempts = 0, PATIENCE if patient else 1
    for attempt in range(attempts if journal.files else 0):
        try:
            lines += carry_over(disk, ours, journal, like)
            break
        except BusyError:
            if not patient:
                raise
            if attempt < PATIENCE - 1:
                disk.pause(GRACE)
    set_modes(disk, ours, journal.modes)
    if journal.undoes is not None:
        _mark(disk, ours, journal.undoes, like)
    journal.state = "done"
    save(disk, ours, journal, like)
    return lines


def clear_names(disk: Files, ours: Ours, journal: Journal) -> None:
    """Take from all files the names that they had on the way; an old one keeps the one among the backups. OSError."""
    for swap in journal.files:
        places = places_of(ours, swap)
        if inode_at(disk, places.waiting) == swap.old != inode_at(disk, places.backup):
            disk.rename(places.waiting, places.backup)
            disk.flush_folder(ours.inside(BACKUPS))
        for name in (places.waiting, places.spare):
            if inode_at(disk, name) in {swap.old, inode_at(disk, places.live)} - {None}:
                disk.remove(name)


def withdraw(disk: Files, ours: Ours, journal: Journal, *, grace: bool = False) -> None:
    """Remove what was made for a change whose old files are in their places. OSError.

    With `grace`, a writer who found a new file in its place a moment ago is given time to open it. BusyError if
    somebody did, or has written to it: then all stays as it is, for `recover`.
    """
    if any(swap.new and inode_at(disk, places_of(ours, swap).live) == swap.new for swap in journal.files):
        raise BusyError("the new file is in its place already; recover finishes what was begun")
    if journal.state == "ready":
        _check_untouched(disk, ours, journal, grace=grace)
    folders = sorted({places_of(ours, swap).folder for swap in journal.files})
    # Before the new files go, all old ones must be sure to have their names back, in whatever folder they lie.
    for folder in folders if journal.state == "ready" else ():
        disk.flush_folder(folder)
    for swap in journal.files:
        _remove_waiting(disk, places_of(ours, swap), swap)
    for folder in folders:
        disk.flush_folder(folder)
    _remove_backups(disk, ours, journal)
    remove_aside(disk, ours, journal.run)


def forget(disk: Files, ours: Ours, run: str) -> None:
    """Remove the journal of a run that changed nothing. OSError."""
    if disk.status(ours.journal(run)) is not None:
        disk.remove(ours.journal(run))


def _check_untouched(disk: Files, ours: Ours, journal: Journal, *, grace: bool) -> None:
    """BusyError unless what waits is, byte for byte, what we wrote, and nobody is about to add to it."""
    waiting = [swap for swap in journal.files if inode_at(disk, places_of(ours, swap).waiting) == swap.new]
    if grace and waiting:
        disk.pause(GRACE)
    for swap in waiting:
        watch = Watch(disk, places_of(ours, swap).waiting)
        try:
            watch.check_free()
            now = disk.status_of(watch.descriptor).size
            if now != swap.new_size or digest(disk, watch.descriptor, now) != swap.new_digest:
                raise BusyError(f"a program has written to what was to become {swap.file}")
        finally:
            watch.close()


def _remove_backups(disk: Files, ours: Ours, journal: Journal) -> None:
    """Take the second names from the old files."""
    for swap in journal.files:
        places = places_of(ours, swap)
        if inode_at(disk, places.backup) == swap.old == inode_at(disk, places.live):
            disk.remove(places.backup)
    # One that comes back would be a second name of the live file, which nobody expects.
    if disk.status(ours.inside(BACKUPS)) is not None:
        disk.flush_folder(ours.inside(BACKUPS))


def _remove_waiting(disk: Files, places: Places, swap: Swap) -> None:
    """Remove what waits, and the spare name; a name that is the last one of an old file becomes its backup."""
    if inode_at(disk, places.waiting) == swap.old and inode_at(disk, places.backup) is None:
        disk.rename(places.waiting, places.backup)
    for name in (places.waiting, places.spare):
        if disk.status(name) is not None:
            disk.remove(name)


def _mark(disk: Files, ours: Ours, run: str, like: Status) -> None:
    """Let the journal of a run say that it was taken back; what it had taken back itself is in force again."""
    if disk.status(ours.journal(run)) is None:
        return
    taken_back = load(disk, ours.journal(run))
    if taken_back.undoes is not None and disk.status(ours.journal(taken_back.undoes)) is not None:
        again = load(disk, ours.journal(taken_back.undoes))
        again.state = "done"
        save(disk, ours, again, like)
    taken_back.state = "undone"
    save(disk, ours, taken_back, like)
