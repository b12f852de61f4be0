"""Lists all conversations of a directory or of a single file, by name; nothing is opened."""

from __future__ import annotations

import os

from jarvis_ops.model.conversation import Conversation, Inventory, Oddity, PartFile
from jarvis_ops.stores.jsonl.bundle import (
    LOCK,
    LOG,
    METADATA,
    SEGMENTS,
    Bundle,
    Naming,
    bundles,
    conversation_of,
    leftovers,
)
from jarvis_ops.stores.jsonl.detect import Arrangement, arrangement, file_naming
from jarvis_ops.stores.jsonl.layout import Entry, Kind, Lister
from jarvis_ops.stores.jsonl.projects import Found, agent_files, project_conversations, session_folder
from jarvis_ops.stores.jsonl.tree import Descend, Folder, TreeScan


def directory_inventory(path: str) -> Inventory:
    """All conversations below a directory. OSError if it cannot be listed."""
    lister = Lister()
    how = arrangement(path, lister)
    scan = TreeScan(lister, _descend(how))
    top = scan.scan(how.top, how.place)
    conversations, odd = _conversations(top, how)
    if how.agent_root is not None:
        odd += agent_files(how.agent_root, path, lister)
    return _inventory(conversations, scan.oddities + odd, how.naming)


def file_inventory(path: str) -> Inventory:
    """The one conversation of a log file, with the companions that lie beside it. OSError if it is not there."""
    naming, agent_root = file_naming(path)
    lister = Lister()
    folder, name = os.path.split(path)
    stem = name.removesuffix(LOG)
    # Only the companions by name: thousands of other conversations may lie beside it.
    scan = TreeScan(lister, lambda _name, _depth: True)
    top = Folder(folder or os.curdir, "")
    bundle = Bundle(log=_look(top, name))
    bundle.metadata = _look_for(top, stem + METADATA, "file")
    bundle.lock = _look_for(top, stem + LOCK, "file")
    bundle.segments = _look_for(top, stem + SEGMENTS, "folder") if name != stem else None
    session = _look_for(top, stem, "folder") if name != stem else None
    odd: list[Oddity] = []
    for entry in filter(None, (bundle.segments, session)):
        top.folders[entry.name] = _scan_companion(scan, top, entry, odd)
    side_files: tuple[PartFile, ...] = ()
    if session is not None:
        agents, files, below = session_folder(top.folders[session.name], naming)
        side_files = tuple(agent.live for agent in agents if agent.live is not None) + files
        odd += below
    found, about = conversation_of(top, stem, bundle, naming, side_files)
    if agent_root is not None:
        odd += agent_files(agent_root, path, lister)
    return _inventory([found] if found else [], scan.oddities + odd + about, naming)


def _descend(how: Arrangement) -> Descend:
    if how.shape == "flat":
        return lambda name, _depth: name.endswith(SEGMENTS)
    if how.shape == "nested":
        return lambda name, depth: depth == 0 or (depth == 1 and name.endswith(SEGMENTS))
    return lambda name, _depth: not name.endswith(LOG)


def _conversations(top: Folder, how: Arrangement) -> Found:
    if how.shape == "project":
        return project_conversations(top, how.naming)
    if how.shape == "flat":
        return _flat_conversations(top, how.naming)
    conversations, odd = ([], []) if how.shape == "projects" else _flat_conversations(top, how.naming)
    for _, folder in sorted(top.folders.items()):
        of_folder = project_conversations if how.shape == "projects" else _flat_conversations
        more, about = of_folder(folder, how.naming)
        conversations += more
        odd += about
    return conversations, odd


def _flat_conversations(folder: Folder, naming: Naming) -> Found:
    conversations: list[Conversation] = []
    odd = leftovers(folder, naming)
    for stem, bundle in bundles(folder).items():
        found, about = conversation_of(folder, stem, bundle, naming)
        odd += about
        if found is not None:
            conversations.append(found)
    return conversations, odd


def _inventory(conversations: list[Conversation], odd: list[Oddity], naming: Naming) -> Inventory:
    return Inventory(
        conversations=tuple(sorted(conversations, key=lambda each: each.id)),
        oddities=tuple(sorted(odd, key=lambda each: (each.file, each.what))),
        layout=naming.layout,
    )


def _look(folder: Folder, name: str) -> Entry:
    path = os.path.join(folder.path, name) if folder.path != os.curdir else name
    status = os.stat(path)
    kind: Kind = "file" if os.path.isfile(path) else "folder" if os.path.isdir(path) else "other"
    return Entry(name, path, kind, (status.st_dev, status.st_ino), os.path.islink(path))


def _look_for(folder: Folder, name: str, kind: Kind) -> Entry | None:
    try:
        found = _look(folder, name)
    except OSError:
        return None
    return found if found.kind == kind else None


def _scan_companion(scan: TreeScan, top: Folder, entry: Entry, odd: list[Oddity]) -> Folder:
    place = top.place(entry.name)
    try:
        return scan.scan(entry.path, place)
    except OSError as error:
        reason = error.strerror or str(error)
        odd.append(Oddity("unreadable", place, reason, path=entry.path))
        return Folder(entry.path, place, unreadable=reason)
