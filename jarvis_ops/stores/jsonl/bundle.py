"""Groups the entries of one folder into conversations: a log, its segments, its metadata and its lock."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from typing import Literal

from jarvis_ops.model.conversation import Conversation, Oddity, PartFile
from jarvis_ops.stores.jsonl.layout import Entry, Kind, SegmentListing, sort_segments
from jarvis_ops.stores.jsonl.tree import Folder

LOG, METADATA, SEGMENTS, LOCK = ".jsonl", ".meta.json", ".segments", ".lock"
SUBAGENTS = "subagents"
Layout = Literal["flat", "projects", "file"]
LEFTOVER = re.compile(r".*(\.bak.*|\.tmp|\.jsonl\..+|\.reset\..*|\.deleted\..*)", re.DOTALL)


@dataclass(slots=True)
class Bundle:
    """What lies in a folder under one name."""

    log: Entry | None = None
    metadata: Entry | None = None
    lock: Entry | None = None
    segments: Entry | None = None


@dataclass(frozen=True, slots=True)
class Naming:
    """How the ids of a store follow from the places of its files: `prefix` for `cut` at their beginning."""

    layout: Layout
    prefix: str = ""
    cut: str = ""

    def id(self, place: str) -> str:
        """The id of a conversation whose log, less its suffix, lies at `place` relative to the store."""
        return self.prefix + place.removeprefix(self.cut)

    def lineage(self, conversation: str) -> tuple[str, str | None]:
        """(session id, parent) as the id tells them."""
        names = conversation.split("/")
        if SUBAGENTS in names[1:-1]:
            owner = names.index(SUBAGENTS, 1)
            return names[owner - 1], "/".join(names[:owner])
        is_old_subagent = self.layout != "flat" and names[-1].startswith("agent-")
        return "" if is_old_subagent else names[-1], None


def bundles(folder: Folder) -> dict[str, Bundle]:
    """The bundles of a folder by the name that their files share."""
    found: dict[str, Bundle] = {}
    for entry in folder.entries:
        name = entry.name
        if name.endswith(LOG):
            found.setdefault(name[: -len(LOG)], Bundle()).log = entry
        elif entry.kind == "folder":
            if name.endswith(SEGMENTS):
                found.setdefault(name[: -len(SEGMENTS)], Bundle()).segments = entry
        elif name.endswith(METADATA):
            found.setdefault(name[: -len(METADATA)], Bundle()).metadata = entry
        elif name.endswith(LOCK):
            found.setdefault(name[: -len(LOCK)], Bundle()).lock = entry
    found.pop("", None)
    if any(name.startswith("agent-") for name in found):
        found.pop("journal", None)  # beside sub-agents it says when they began and ended, and is no conversation
    return found


def leftovers(folder: Folder, naming: Naming) -> list[Oddity]:
    """Copies that other programs forgot: backups, temporary files, what was reset or deleted."""
    odd = []
    for entry in folder.entries:
        name = entry.name
        is_companion = name.endswith((LOG, METADATA, LOCK)) or entry.kind == "folder"
        if is_companion or not LEFTOVER.fullmatch(name):
            continue
        stem = name.partition(LOG)[0] if LOG in name else None
        owner = naming.id(folder.place(stem)) if stem else None
        odd.append(Oddity("leftover", folder.place(name), conversation=owner, path=entry.path))
    return odd


def conversation_of(
    folder: Folder, stem: str, bundle: Bundle, naming: Naming, side_files: tuple[PartFile, ...] = ()
) -> tuple[Conversation | None, list[Oddity]]:
    """The conversation that a bundle is, if it is one, and what is odd about its files."""
    name = naming.id(folder.place(stem))
    listing, segment_folder = _segment_listing(folder, bundle)
    log = bundle.log or (_log_now(folder, stem) if bundle.segments else None)
    segments, odd = _segment_parts(segment_folder, listing, log, name)
    unlisted = segment_folder is not None and bool(segment_folder.unreadable)
    if log is None and not segments and not unlisted and bundle.metadata is None:
        return None, odd
    live = folder.part(log) if log else None
    if log is not None and log.kind != "file":
        odd.append(Oddity("not-a-file", folder.place(log.name), conversation=name, path=log.path))
    session_id, parent = naming.lineage(name)
    found = Conversation(
        id=name,
        session_id=session_id,
        folder=folder.file,
        parts=(*segments, live) if live else tuple(segments),
        live=live,
        segments=folder.part(bundle.segments) if bundle.segments else None,
        metadata=folder.part(bundle.metadata) if bundle.metadata else None,
        lock=folder.part(bundle.lock) if bundle.lock else None,
        parent=parent,
        side_files=side_files,
        layout=naming.layout,
    )
    return found, odd


def _segment_listing(folder: Folder, bundle: Bundle) -> tuple[SegmentListing, Folder | None]:
    inside = folder.folders.get(bundle.segments.name) if bundle.segments else None
    return sort_segments(sorted(inside.entries) if inside else ()), inside


def _segment_parts(
    folder: Folder | None, listing: SegmentListing, log: Entry | None, conversation: str
) -> tuple[list[PartFile], list[Oddity]]:
    parts: list[PartFile] = []
    odd: list[Oddity] = []
    if folder is None:
        return parts, odd
    live = _identities(log) if log is not None and listing.segments else set()
    for number, entry in listing.segments:
        if entry.identity in live:
            odd.append(_odd("unfinished-seal", folder, entry, conversation))
            continue
        if entry.kind != "file":
            odd.append(_odd("not-a-file", folder, entry, conversation))
        parts.append(folder.part(entry, number))
    odd += [_odd("segment-name", folder, entry, conversation) for entry in listing.misnamed]
    return parts, odd


def _log_now(folder: Folder, stem: str) -> Entry | None:
    """The live file that was not there when its folder was listed: some agents seal by moving it away first."""
    path = os.path.join(folder.path, stem + LOG)
    try:
        status = os.stat(path)
    except OSError:
        return None
    kind: Kind = "file" if stat.S_ISREG(status.st_mode) else "other"
    return Entry(stem + LOG, path, kind, (status.st_dev, status.st_ino))


def _identities(log: Entry) -> set[tuple[int, int]]:
    """What the live file was when its folder was listed, and what it is now that its segments have been listed."""
    try:
        status = os.stat(log.path)
    except OSError:
        return {log.identity}
    return {log.identity, (status.st_dev, status.st_ino)}


def _odd(what: str, folder: Folder, entry: Entry, conversation: str) -> Oddity:
    return Oddity(what, folder.place(entry.name), conversation=conversation, path=entry.path)
