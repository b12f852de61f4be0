"""A listing of nested folders in which every file and folder stands once, however many links lead to it."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from jarvis_ops.model.conversation import Oddity, PartFile
from jarvis_ops.stores.jsonl.layout import Entry, Lister, printable

# Whether to go down into a folder: its name, and how many folders lie between it and the top (0 = directly in it).
Descend = Callable[[str, int], bool]


@dataclass(slots=True)
class Folder:
    """A listed folder. `file` is its place relative to the store ("" is the store itself).

    `folders` holds the listed ones below it, by name. `unreadable` is why it could not be listed, if so.
    `linked` says that a link leads to it or to a folder above it.
    """

    path: str
    file: str
    depth: int = 0
    linked: bool = False
    unreadable: str = ""
    entries: list[Entry] = field(default_factory=list)
    folders: dict[str, Folder] = field(default_factory=dict)

    def part(self, entry: Entry, number: int | None = None) -> PartFile:
        """An entry of this folder as reports name it and as it can be opened."""
        return PartFile(self.place(entry.name), entry.path, number)

    def place(self, name: str) -> str:
        """Where `name` lies, relative to the store."""
        return f"{self.file}/{printable(name)}" if self.file else printable(name)


class TreeScan:
    """Walks real entries first and links afterwards, so that a real entry always wins over a link to it."""

    def __init__(self, lister: Lister, descend: Descend) -> None:
        self._lister = lister
        self._descend = descend
        self._folders: set[tuple[int, int]] = set()
        self._files: set[tuple[int, int]] = set()
        self._links: deque[tuple[Folder, Entry]] = deque()
        self.oddities: list[Oddity] = []

    def scan(self, path: str, file: str = "") -> Folder:
        """The tree below `path`. OSError if that folder itself cannot be listed."""
        self._lister.entries(path)
        self._forbid_ancestors(path)
        top = Folder(path, file)
        self._fill(top)
        while self._links:
            self._follow(*self._links.popleft())
        return top

    def _forbid_ancestors(self, path: str) -> None:
        """A link to a folder above the store would list the store inside itself."""
        place = os.path.realpath(path)
        while True:
            self._folders.add(_identity(place))
            parent = os.path.dirname(place)
            if parent == place:
                return
            place = parent

    def _fill(self, top: Folder) -> None:
        pending = deque([top])
        while pending:
            folder = pending.popleft()
            for entry in self._listed(folder):
                if entry.link:
                    self._links.append((folder, entry))
                elif entry.kind != "folder":
                    self._add_file(folder, entry)
                elif (child := self._add_folder(folder, entry)) is not None:
                    pending.append(child)

    def _listed(self, folder: Folder) -> list[Entry]:
        try:
            return self._lister.entries(folder.path)
        except OSError as error:
            folder.unreadable = error.strerror or str(error)
            self.oddities.append(Oddity("unreadable", folder.file, folder.unreadable, path=folder.path))
            return []

    def _follow(self, folder: Folder, entry: Entry) -> None:
        if entry.kind == "dangling":
            self.oddities.append(Oddity("dangling-link", folder.place(entry.name), entry.reason, path=entry.path))
        elif entry.kind != "folder":
            self._add_file(folder, entry)
        elif (child := self._add_folder(folder, entry)) is not None:
            self._fill(child)

    def _add_file(self, folder: Folder, entry: Entry) -> None:
        # Two real names of one file (hard links) are both listed: only links lead to what is listed elsewhere.
        if (entry.link or folder.linked) and entry.identity in self._files:
            return
        self._files.add(entry.identity)
        folder.entries.append(entry)

    def _add_folder(self, folder: Folder, entry: Entry) -> Folder | None:
        """The child to go down into, if any."""
        if not self._descend(entry.name, folder.depth):
            if not entry.link or entry.identity not in self._folders:
                folder.entries.append(entry)
            return None
        # Its own inode, not the one in its parent's listing: they differ where a file system is mounted.
        try:
            identity = _identity(entry.path)
        except OSError:
            identity = entry.identity
        if identity in self._folders:
            return None
        self._folders.add(identity)
        linked = folder.linked or entry.link
        child = Folder(entry.path, folder.place(entry.name), folder.depth + 1, linked)
        folder.folders[entry.name] = child
        folder.entries.append(entry)
        return child


def _identity(path: str) -> tuple[int, int]:
    status = os.stat(path)
    return status.st_dev, status.st_ino
