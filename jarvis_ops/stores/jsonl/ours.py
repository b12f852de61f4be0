"""The places in our own folder, and the files of a conversation as they lie on disk."""

from __future__ import annotations

import hashlib
import os
import re
from typing import NamedTuple

from jarvis_ops.model.conversation import Conversation
from jarvis_ops.stores.disk import Disk, Status
from jarvis_ops.stores.jsonl.bundle import LOG
from jarvis_ops.stores.jsonl.layout import names_in
from jarvis_ops.stores.jsonl.opening import places
from jarvis_ops.stores.jsonl.processes import Writers, open_for_writing

FOLDER = ".jarvis-ops"
LOCKS, JOURNAL, BACKUPS, QUARANTINE, TRASH = "locks", "journal", "backups", "quarantine", "trash"
LONGEST_ID = 100
RUN = re.compile(r"[0-9]{8}T[0-9]{6}Z-[0-9a-f]{4,}")


class Files(Disk):
    """The disk, and the names in our own folders."""

    def names(self, folder: str) -> list[str]:
        """All names in a folder, sorted; none if there is no such folder. OSError."""
        return names_in(folder)

    def writers(self, status: Status) -> Writers:
        """The processes that have a file open for writing, as far as the system shows them."""
        return open_for_writing(status)


class Ours(NamedTuple):
    """Where we keep what belongs to one conversation: below `base`, the real folder of its live file.

    `id` is the name that it has there. It comes from the real live file, so that a conversation has the same one
    however its store was named, and two in one folder never share one.
    """

    base: str
    id: str

    @property
    def folder(self) -> str:
        """Our own folder."""
        return os.path.join(self.base, FOLDER)

    def inside(self, *names: str) -> str:
        """A place in our own folder."""
        return os.path.join(self.base, FOLDER, *names)

    def journal(self, run: str) -> str:
        """Where the journal of a run on this conversation lies."""
        return self.inside(JOURNAL, f"{run}.{self.id}.json")

    def path(self, file: str) -> str:
        """Where a file of the conversation lies, whose name is relative to `base`."""
        return os.path.normpath(os.path.join(self.base, file))


def ours(disk: Disk, conversation: Conversation) -> Ours:
    """Where we keep what belongs to a conversation. UnreadableError if it has no file."""
    real = disk.resolve(places(conversation).live.path)
    return Ours(os.path.dirname(real), safe_id(os.path.basename(real).removesuffix(LOG)))


def real_files(disk: Disk, conversation: Conversation, base: str) -> dict[str, str]:
    """The parts of a conversation by the names that plans use: where each really lies, relative to `base`."""
    return {part.file: os.path.relpath(disk.resolve(part.path), base) for part in conversation.parts}


def safe_id(name: str) -> str:
    """A name that can be part of a file name, and that no other name shares."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", name)[:LONGEST_ID]
    if plain == name:
        return plain
    return f"{plain}-{hashlib.sha256(os.fsencode(name)).hexdigest()[:8]}"


def backup_name(file: str, size: int, run: str) -> str:
    """The name of a backup: it says how many bytes of it were there before the run."""
    flat = file.replace(os.sep, "__")
    plain = flat if re.fullmatch(r"\w[\w.-]*", flat, re.ASCII) and len(flat) <= LONGEST_ID else safe_id(file)
    return f"{plain}.{size}.{run}.bak"


def temporary_name(file: str, run: str) -> str:
    """A hidden name beside a file, for what is to take its place."""
    return f".{safe_id(os.path.basename(file))}.{run}.tmp"


def owner(disk: Disk, like: Status) -> Status | None:
    """Whose our own files are to be: root gives them to the owner of what lies beside them."""
    return like if disk.is_root() else None
