"""What the files of a conversation look like from outside, without reading them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from jarvis_ops.model.conversation import Conversation, PartFile

# One file: its name in the store, inode, size in bytes, time of change in nanoseconds, and mode.
Mark = tuple[str, int, int, int, int]


def footprint(conversation: Conversation) -> tuple[Mark, ...] | None:
    """A mark for each file that belongs to a conversation; None when one of them cannot be looked at."""
    try:
        return tuple(_mark(file) for file in _files(conversation))
    except OSError:
        return None


def _files(conversation: Conversation) -> Iterator[PartFile]:
    yield from conversation.parts
    yield from (file for file in (conversation.metadata, conversation.lock) if file is not None)
    yield from conversation.side_files


def _mark(file: PartFile) -> Mark:
    about = os.stat(file.path)
    return (file.file, about.st_ino, about.st_size, about.st_mtime_ns, about.st_mode)


def log_bytes(conversation: Conversation) -> int:
    """The bytes of all parts; a part that cannot be looked at counts as none."""
    return sum(_sizes(conversation.parts))


def _sizes(files: Iterable[PartFile]) -> Iterator[int]:
    for file in files:
        try:
            yield os.stat(file.path).st_size
        except OSError:
            yield 0
