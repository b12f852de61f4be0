"""Finishes or puts back what an interrupted run left, from the journal, the names, the inodes and the sizes alone."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from jarvis_ops.errors import RefusedError, UnreadableError
from jarvis_ops.model.run import Recovered
from jarvis_ops.stores.disk import Status
from jarvis_ops.stores.jsonl.compose import digest
from jarvis_ops.stores.jsonl.journal import UNFINISHED, Journal, Swap, journals, named, save
from jarvis_ops.stores.jsonl.late import carry_over, late_bytes
from jarvis_ops.stores.jsonl.ours import JOURNAL, Files, Ours
from jarvis_ops.stores.jsonl.settle import settle, withdraw
from jarvis_ops.stores.jsonl.swap import inode_at, places_of, swap_all
from jarvis_ops.stores.jsonl.watch import Watch


def unfinished(disk: Files, ours: Ours) -> list[str]:
    """The runs that were interrupted on a conversation, or whose old file has got lines since, oldest first.

    OSError, or UnreadableError for a journal that cannot be understood.
    """
    runs = [journal.run for journal in journals(disk, ours) if _is_open(disk, ours, journal)]
    return sorted({*runs, *(run for run, _ in _unborn(disk, ours))})


def recover(disk: Files, ours: Ours, conversation: str) -> list[Recovered]:
    """Deal with each of them; what was done, in words.

    Raises:
        OSError, UnreadableError: a step was refused; the next call goes on.
        BusyError: somebody writes to one of the files.
        RefusedError: the files are none that a run can have left, so nothing was touched.
    """
    done = []
    for run, path in [*_unborn(disk, ours)]:
        disk.remove(path)
        done.append(Recovered(run, conversation, "it had not begun to change anything"))
    left = [journal for journal in journals(disk, ours) if _is_open(disk, ours, journal)]
    if left:
        # What we read may have been written down only a moment ago; what we do now must not survive it.
        disk.flush_folder(ours.inside(JOURNAL))
    return done + [Recovered(journal.run, conversation, _deal_with(disk, ours, journal)) for journal in left]


def _is_open(disk: Files, ours: Ours, journal: Journal) -> bool:
    return journal.state in UNFINISHED or any(late_bytes(disk, ours, swap) for swap in journal.files)


def _unborn(disk: Files, ours: Ours) -> Iterator[tuple[str, str]]:
    """(run, path) of journals that were being written when the run ended."""
    for run, name, is_temporary in named(disk, ours.base):
        if is_temporary and name == ours.id:
            yield run, ours.inside(JOURNAL, f".{run}.{name}.json.tmp")


def _deal_with(disk: Files, ours: Ours, journal: Journal) -> str:
    like = _like(disk, ours, journal)
    if journal.state not in UNFINISHED:
        lines = carry_over(disk, ours, journal, like)
        save(disk, ours, journal, like)
        return f"{lines} lines were written to the file that it had replaced, and were carried over"
    if journal.state == "ready" and _was_seen(disk, ours, journal):
        _go_on(disk, ours, journal)
        lines = settle(disk, ours, journal, like)
        return "it was finished" + (f", and {lines} lines that came late were carried over" if lines else "")
    withdraw(disk, ours, journal)
    journal.state = "put-back"
    save(disk, ours, journal, like)
    return "it had changed nothing yet, and what it had prepared was removed"


def _was_seen(disk: Files, ours: Ours, journal: Journal) -> bool:
    """Whether a new file is in its place, or has been, so that somebody has written to it; so too if none is to be."""
    if not journal.files:
        return True
    for swap in journal.files:
        places = places_of(ours, swap)
        if inode_at(disk, places.live) == swap.new:
            return True
        waiting = disk.status(places.waiting)
        if waiting is not None and waiting.inode == swap.new and waiting.size != swap.new_size:
            return True
    return False


def _go_on(disk: Files, ours: Ours, journal: Journal) -> None:
    """Put those new files in their places that are not there."""
    with contextlib.ExitStack() as closing:
        swaps: list[Swap] = []
        olds: list[Watch] = []
        for swap in journal.files:
            places = places_of(ours, swap)
            if inode_at(disk, places.waiting) != swap.new or inode_at(disk, places.live) == swap.new:
                continue
            if inode_at(disk, places.live) != swap.old:
                raise RefusedError(f"{swap.file} was replaced by another program; {places.waiting} has lines of it")
            swaps.append(swap)
            olds.append(_checked(disk, places.live, swap.size, swap.digest, closing))
            _checked(disk, places.waiting, swap.new_size, swap.new_digest, closing)
        swap_all(disk, ours, swaps, olds)


def _checked(disk: Files, path: str, size: int, sha256: str, closing: contextlib.ExitStack) -> Watch:
    watch = Watch(disk, path)
    closing.callback(watch.close)
    if watch.seen.size < size or digest(disk, watch.descriptor, size) != sha256:
        raise RefusedError(f"{path} is no longer what the interrupted run left there, so it was left alone")
    return watch


def _like(disk: Files, ours: Ours, journal: Journal) -> Status:
    """Whose our files are to be."""
    files = [mode.file for mode in journal.modes] + [swap.file for swap in journal.files]
    found = disk.status(ours.path(files[-1])) or disk.status(os.path.join(ours.base, os.curdir))
    if found is None:
        raise UnreadableError("its folder is gone")
    return found
