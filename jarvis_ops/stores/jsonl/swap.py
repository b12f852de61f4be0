"""Lets new files take the place of old ones, all or none, and gives way to a writer who comes meanwhile."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from jarvis_ops.errors import BusyError, StaleError
from jarvis_ops.model.run import Level
from jarvis_ops.stores.jsonl.journal import Swap
from jarvis_ops.stores.jsonl.ours import BACKUPS, Files, Ours
from jarvis_ops.stores.jsonl.watch import Watch, surest


class Places(NamedTuple):
    """Where the files of one swap lie: the live one, the one that waits beside it, a spare name, the backup."""

    live: str
    waiting: str
    spare: str
    backup: str

    @property
    def folder(self) -> str:
        """The folder of the live file."""
        return os.path.dirname(self.live)


def places_of(ours: Ours, swap: Swap) -> Places:
    """Where the files of a swap lie."""
    live = ours.path(swap.file)
    waiting = os.path.join(os.path.dirname(live), swap.temporary)
    return Places(live, waiting, waiting + "2", ours.inside(BACKUPS, swap.backup))


def inode_at(disk: Files, path: str) -> int | None:
    """The inode of what lies at a path; None if nothing does."""
    found = disk.status(path)
    return found.inode if found is not None else None


def swap_all(disk: Files, ours: Ours, swaps: Sequence[Swap], olds: Sequence[Watch]) -> Level:
    """Put the new files in place of the old ones, which `olds` are; on any failure, all are where they were.

    How well it was known that nobody writes. Whether the names survive a power cut is not seen to.

    Raises:
        BusyError: somebody writes, or came meanwhile.
        StaleError: a file was replaced.
    """
    with contextlib.ExitStack() as closing:
        news: list[Watch] = []
        for swap in swaps:
            news.append(Watch(disk, places_of(ours, swap).waiting))
            closing.callback(news[-1].close)
        for watch in (*olds, *news):
            closing.callback(watch.let_go)
            watch.guard()
        _check_places(disk, ours, swaps)
        if any(watch.disturbed() for watch in olds):
            raise BusyError("it was written to meanwhile; it was left alone")
        done: list[Swap] = []
        try:
            for swap in swaps:
                done.append(swap)
                trade(disk, places_of(ours, swap))
            _give_way(olds, news)
        except BaseException:
            put_back(disk, ours, done)
            raise
        return surest([*olds, *news])


def _give_way(olds: Sequence[Watch], news: Sequence[Watch]) -> None:
    """BusyError if somebody has come to write to an old file, and nobody to a new one.

    Who waits for a new file has found it in its place: for him there is no way back.
    """
    if any(watch.disturbed() for watch in olds) and not any(watch.disturbed() for watch in news):
        raise BusyError("a program came to write to it meanwhile; it was left alone")


def trade(disk: Files, places: Places) -> None:
    """Put the new file in place of the old one, which stays beside it, or else in the backup alone."""
    if not disk.exchange(places.waiting, places.live):
        disk.rename(places.waiting, places.live)


def put_back(disk: Files, ours: Ours, swaps: Iterable[Swap]) -> None:
    """Put the old files back in their places, as far as they are not there."""
    for swap in reversed([*swaps]):
        places = places_of(ours, swap)
        if inode_at(disk, places.live) == swap.new:
            trade_back(disk, places, swap)


def trade_back(disk: Files, places: Places, swap: Swap) -> None:
    """Put the old file back in its place; the new one then waits beside it again."""
    if inode_at(disk, places.waiting) == swap.old and disk.exchange(places.waiting, places.live):
        return
    if inode_at(disk, places.waiting) is None:
        disk.link(places.live, places.waiting)
    disk.link(places.backup, places.spare)
    disk.rename(places.spare, places.live)


def _check_places(disk: Files, ours: Ours, swaps: Sequence[Swap]) -> None:
    for swap in swaps:
        if inode_at(disk, places_of(ours, swap).live) != swap.old:
            raise StaleError(f"{swap.file} was replaced by another program")
