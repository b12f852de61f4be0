"""The only code of the project that lists a directory."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Literal, NamedTuple

Kind = Literal["file", "folder", "other", "dangling"]
SEGMENT_NAME = re.compile(r"[0-9]{6}\.jsonl")
# A hidden name is a temporary file of some program, our own folder, or an editor's lock: never a conversation.
# This one is the exception: Claude Code keeps a list of sibling projects in it.
VISIBLE_ALTHOUGH_HIDDEN = frozenset({".session-aliases"})


class Entry(NamedTuple):
    """One name in a folder, as the system spells it (surrogates stand for bytes that are not UTF-8).

    `identity` is (device, inode) of what the name leads to, links followed; `link` says that it is one.
    `reason` says why a link cannot be followed, when that is for another cause than a missing target.
    """

    name: str
    path: str
    kind: Kind
    identity: tuple[int, int]
    link: bool = False
    reason: str = ""


class SegmentListing(NamedTuple):
    """The files of a `.segments` folder: segments in number order, and the names that are no segment's."""

    segments: list[tuple[int, Entry]]
    misnamed: list[Entry]


class Lister:
    """Lists each folder at most once, so that looking what a store is costs nothing when it is then listed."""

    def __init__(self) -> None:
        self._seen: dict[str, list[Entry]] = {}

    def entries(self, path: str) -> list[Entry]:
        """The visible entries of a folder, sorted by name. OSError if it cannot be listed."""
        listed = self._seen.get(path)
        if listed is None:
            listed = self._seen[path] = list_folder(path)
        return listed


def list_folder(path: str) -> list[Entry]:
    """The visible entries of a folder, sorted by name. OSError if it cannot be listed."""
    device = os.stat(path).st_dev
    with os.scandir(path) as found:
        entries = [_entry(each, device) for each in found if _is_visible(each.name)]
    entries.sort()
    return entries


def names_in(path: str) -> list[str]:
    """All names in a folder, hidden ones as well, sorted; none if there is no such folder. OSError otherwise."""
    try:
        with os.scandir(path) as found:
            return sorted(each.name for each in found)
    except (FileNotFoundError, NotADirectoryError):
        return []


def list_segments(path: str) -> SegmentListing:
    """The segments in a folder, in number order. No folder means no segments; other OSErrors are raised."""
    try:
        return sort_segments(list_folder(path))
    except FileNotFoundError:
        return SegmentListing([], [])


def sort_segments(entries: Iterable[Entry]) -> SegmentListing:
    """Tells segments (six digits) from what else lies in their folder."""
    segments: list[tuple[int, Entry]] = []
    misnamed: list[Entry] = []
    for entry in entries:
        if SEGMENT_NAME.fullmatch(entry.name):
            segments.append((int(entry.name[:6]), entry))
        else:
            misnamed.append(entry)
    return SegmentListing(segments, misnamed)


def printable(name: str) -> str:
    r"""A name as reports spell it: bytes that are not UTF-8 become `\xNN`."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _is_visible(name: str) -> bool:
    return not name.startswith(".") or name in VISIBLE_ALTHOUGH_HIDDEN


def _entry(found: os.DirEntry[str], device: int) -> Entry:
    # The type and the inode come with the listing: no further system call, save for links.
    if found.is_symlink():
        return _linked_entry(found)
    kind: Kind = "other"
    if found.is_file(follow_symlinks=False):
        kind = "file"
    elif found.is_dir(follow_symlinks=False):
        kind = "folder"
    return Entry(found.name, found.path, kind, (device, found.inode()))


def _linked_entry(found: os.DirEntry[str]) -> Entry:
    try:
        identity = os.stat(found.path)
        kind: Kind = "folder" if found.is_dir() else "file" if found.is_file() else "other"
    except FileNotFoundError:
        return Entry(found.name, found.path, "dangling", (0, 0), link=True)
    except OSError as error:
        return Entry(found.name, found.path, "dangling", (0, 0), link=True, reason=error.strerror or "")
    return Entry(found.name, found.path, kind, (identity.st_dev, identity.st_ino), link=True)
