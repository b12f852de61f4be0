"""Opens all parts of a conversation so that no line is missed or met twice, also while its live file is sealed.

A seal gives the live file a second name among the segments and then puts a new live file in its place. So the live
file is opened first and held; then the segments are listed; and only when the live name still leads to what we hold,
and the listing has not changed, do the two belong together. Otherwise we look again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple

from jarvis_ops.errors import UnreadableError
from jarvis_ops.model.conversation import Conversation, PartFile
from jarvis_ops.stores.jsonl.bundle import LOCK, LOG, METADATA, SEGMENTS
from jarvis_ops.stores.jsonl.held import HeldFile
from jarvis_ops.stores.jsonl.layout import Entry, list_segments, printable

ATTEMPTS = 1000
# The newest segments stay open, so that most conversations are held whole; thousands would exhaust the descriptors.
KEPT_OPEN = 16
Listing = list[tuple[int, Entry]]


class Places(NamedTuple):
    """Where the files of a conversation are, or would be. Made from listed names only, never from an id."""

    live: PartFile
    segments: PartFile
    lock: PartFile


def places(conversation: Conversation) -> Places:
    """The places of the live file, of the folder of segments and of the lock."""
    stem = _stem(conversation)
    return Places(
        live=conversation.live or _beside(stem, LOG),
        segments=conversation.segments or _beside(stem, SEGMENTS),
        lock=conversation.lock or _beside(stem, LOCK),
    )


def _stem(conversation: Conversation) -> PartFile:
    named = ((conversation.live, LOG), (conversation.segments, SEGMENTS), (conversation.metadata, METADATA))
    for file, suffix in named:
        if file is not None:
            return PartFile(file.file.removesuffix(suffix), file.path.removesuffix(suffix))
    raise UnreadableError("it has no file")


def _beside(stem: PartFile, suffix: str) -> PartFile:
    return PartFile(stem.file + suffix, stem.path + suffix)


class Opening:
    """The search for a moment at which the live file and the segments belong together."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._places = places(conversation)
        self._live: HeldFile | None = None
        self._segments: dict[str, HeldFile] = {}
        self._inodes: dict[str, tuple[int, int]] = {}
        self._last_name = ""

    def run(self) -> tuple[HeldFile, ...]:
        """All parts in reading order, the live file last. UnreadableError if one cannot be opened."""
        for _ in range(ATTEMPTS):
            listing = self._attempt()
            if listing is not None:
                self._check_complete(listing)
                return self._parts(listing)
        raise UnreadableError(f"{self._places.live.file}: it was sealed again and again while it was being opened")

    def close(self) -> None:
        """Give every descriptor back."""
        for held in (self._live, *self._segments.values()):
            if held is not None:
                held.close()

    def _attempt(self) -> Listing | None:
        """The segments that go with the live file that we hold; None when something moved meanwhile."""
        if self._live is None or _identity(self._places.live) != self._live.identity:
            self._open_live()
        listing = self._list()
        if not self._open_segments(listing):
            return None
        if _names(self._list()) != _names(listing):
            return None
        if _identity(self._places.live) != (self._live.identity if self._live else None):
            return None
        return listing

    def _open_live(self) -> None:
        if self._live is not None:
            self._live.close()
        self._live = None
        try:
            self._live = _open(self._places.live)
        except FileNotFoundError:
            return
        self._live.stays_open = True

    def _list(self) -> Listing:
        try:
            return list_segments(self._places.segments.path).segments
        except NotADirectoryError:
            return []
        except OSError as error:
            raise UnreadableError(f"{self._places.segments.file}: {error.strerror or error}") from error

    def _open_segments(self, listing: Listing) -> bool:
        """Open what is listed, save what is open already; False when one of them has just gone away.

        The last one of the listing before may have been the live file under a second name, and have grown since.
        """
        self._forget(self._last_name)
        self._last_name = listing[-1][1].name if listing else ""
        newest = {entry.name for _, entry in listing[max(0, len(listing) - KEPT_OPEN) :]}
        for number, entry in listing:
            held = self._segments.get(entry.name)
            if held is None or self._inodes[entry.name] != entry.identity:
                held = self._open_segment(number, entry)
            if held is None:
                return False
            held.stays_open = entry.name in newest
            held.release()
        return True

    def _open_segment(self, number: int, entry: Entry) -> HeldFile | None:
        self._forget(entry.name)
        file = self._segment_file(number, entry)
        if entry.kind == "dangling":
            raise UnreadableError(f"{file.file}: it is a link that leads nowhere")
        try:
            held = _open(file)
        except FileNotFoundError:
            return None
        self._segments[entry.name] = held
        self._inodes[entry.name] = entry.identity
        return held

    def _forget(self, name: str) -> None:
        stale = self._segments.pop(name, None)
        if stale is not None:
            stale.close()

    def _segment_file(self, number: int, entry: Entry) -> PartFile:
        return PartFile(f"{self._places.segments.file}/{printable(entry.name)}", entry.path, number)

    def _check_complete(self, listing: Listing) -> None:
        """What the inventory listed must be here, or have moved on to a segment that the inventory did not know."""
        known = {part.number for part in self._conversation.parts if part.number is not None}
        numbers = {number for number, _ in listing}
        for part in self._conversation.parts:
            if part.number is not None and part.number not in numbers:
                raise UnreadableError(f"{part.file}: it is gone since the store was listed")
        if self._conversation.live is not None and self._live is None and numbers <= known:
            raise UnreadableError(f"{self._places.live.file}: it is gone since the store was listed")

    def _parts(self, listing: Listing) -> tuple[HeldFile, ...]:
        """No inode twice: a segment that is the live file is a seal that is not done yet."""
        seen = {self._live.identity} if self._live else set()
        parts = []
        for _, entry in listing:
            held = self._segments[entry.name]
            if held.identity in seen:
                held.close()
                continue
            seen.add(held.identity)
            parts.append(held)
        self._close_others(parts)
        return (*parts, self._live) if self._live else tuple(parts)

    def _close_others(self, parts: Iterable[HeldFile]) -> None:
        kept = {id(held) for held in parts}
        for held in self._segments.values():
            if id(held) not in kept:
                held.close()


def _open(file: PartFile) -> HeldFile:
    """FileNotFoundError is passed on: it may only mean that the file has moved."""
    try:
        return HeldFile(file)
    except FileNotFoundError:
        raise
    except UnreadableError as error:
        raise UnreadableError(f"{file.file}: {error.message}") from error
    except OSError as error:
        raise UnreadableError(f"{file.file}: {error.strerror or error}") from error


def _identity(file: PartFile) -> tuple[int, int] | None:
    """What the name leads to now, if anything."""
    try:
        status = os.stat(file.path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UnreadableError(f"{file.file}: {error.strerror or error}") from error
    return status.st_dev, status.st_ino


def _names(listing: Listing) -> list[tuple[str, tuple[int, int]]]:
    return [(entry.name, entry.identity) for _, entry in listing]
