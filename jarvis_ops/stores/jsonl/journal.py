"""What a run intends to do to a conversation, written down before it begins; afterwards, what it did."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Literal

import msgspec

from jarvis_ops.errors import UnreadableError
from jarvis_ops.model.plan import NewMode, Step
from jarvis_ops.stores.disk import Status, make_folders, replace
from jarvis_ops.stores.jsonl.ours import JOURNAL, RUN, Files, Ours, owner

# `begun`: nothing is visible yet. `ready`: all is written and safe; the files may have been swapped, or not.
State = Literal["begun", "ready", "done", "put-back", "undone"]
UNFINISHED = frozenset({"begun", "ready"})


class Swap(msgspec.Struct):
    """One file of a change: names are relative to the folder of the live file, `backup` to our backups.

    `old` and `new` are inodes, sizes are bytes, digests sha256 (hex). The old file's bytes up to `carried` are
    accounted for: what stands behind came late. While lines are being carried over, those up to `carry_to` go to
    the live file, whose inode was `carry_in` and which had `carry_at` bytes then.
    """

    file: str
    temporary: str
    backup: str
    old: int
    size: int
    digest: str
    new: int = 0
    new_size: int = 0
    new_digest: str = ""
    carried: int = 0
    carry_to: int = 0
    carry_at: int = 0
    carry_in: int = 0


class Journal(msgspec.Struct, kw_only=True):
    """One run on one conversation; see CONTRACTS. `inserted` are the ids of records that it put in.

    `modes` name files as `files` does.
    """

    format: int = 1
    run: str
    command: str
    conversation: str
    state: State
    files: list[Swap]
    modes: tuple[NewMode, ...] = ()
    steps: tuple[Step, ...] = ()
    inserted: tuple[str, ...] = ()
    moved: int = 0
    added: int = 0
    removed: int = 0
    undoes: str | None = None


def save(disk: Files, ours: Ours, journal: Journal, like: Status) -> None:
    """Write a journal down, so that it survives a power cut. OSError."""
    path = ours.journal(journal.run)
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f".{name}.tmp")
    make_folders(disk, folder, owner(disk, like))
    if disk.status(temporary) is not None:
        disk.remove(temporary)
    # Names that are not UTF-8 become escapes, which JSON text may hold.
    data = json.dumps(msgspec.to_builtins(journal), indent=1).encode() + b"\n"
    replace(disk, path, data, temporary=temporary, like=owner(disk, like))


def load(disk: Files, path: str) -> Journal:
    """A journal. OSError, or UnreadableError if it is none."""
    descriptor = disk.open(path)
    try:
        data = disk.read(descriptor, disk.status_of(descriptor).size, 0)
    finally:
        disk.close(descriptor)
    try:
        return msgspec.convert(json.loads(data), Journal)
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"the journal {path} cannot be understood: {error}") from error


def named(disk: Files, base: str) -> Iterator[tuple[str, str, bool]]:
    """(run, id, whether it was not even begun to be followed) of each journal below a folder. OSError."""
    for name in disk.names(Ours(base, "").inside(JOURNAL)):
        run, dot, rest = name.removeprefix(".").partition(".")
        is_temporary = name.startswith(".") and rest.endswith(".json.tmp")
        if dot and RUN.fullmatch(run) and (is_temporary or (rest.endswith(".json") and not name.startswith("."))):
            yield run, rest.removesuffix(".tmp").removesuffix(".json"), is_temporary


def journals(disk: Files, ours: Ours) -> Iterator[Journal]:
    """The journals of a conversation, oldest first. OSError, or UnreadableError for one that is none."""
    for run, name, is_temporary in named(disk, ours.base):
        if name == ours.id and not is_temporary:
            yield load(disk, ours.journal(run))
