"""What a store knows of a conversation before reading it."""

from __future__ import annotations

from typing import Literal

import msgspec

from jarvis_ops.model.record import Position

Kind = Literal["user", "test", "subagent"]
Layout = Literal["flat", "projects", "file", "rows"]


class PartFile(msgspec.Struct, frozen=True):
    """One file of a conversation: `file` relative to the store, `path` where it can be opened.

    `number` is the segment number; None is the live file. A row that stands for a companion file has a `table` and
    its key as `path`.
    """

    file: str
    path: str
    number: int | None = None
    table: str | None = None

    def position(self) -> Position:
        """The place of the file as a whole, or of the row that stands for it."""
        return Position(self.file) if self.table is None else Position(table=self.table, key=self.path)


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation as a listing of the store shows it. It holds names only, so it can go to another process.

    `live` is None when there are only segments; `parts` come in reading order, live file last. A segment that
    is still the live file under a second name (an unfinished seal) is no part. `segments` is their folder, if any.
    `metadata` and `lock` are the companion files that exist. `side_files` are the other files that belong to
    it (saved tool results, sub-agent transcripts). `parent` is the conversation of which this is a sub-agent.
    `folder` is the folder of the live file, relative to the store ("" is the store itself).
    `session_id` is "" where the name of a file does not tell it (a sub-agent beside the main conversations).
    In a database (layout "rows") there are no parts and no live file.
    """

    id: str
    session_id: str
    folder: str
    parts: tuple[PartFile, ...]
    live: PartFile | None
    segments: PartFile | None = None
    metadata: PartFile | None = None
    lock: PartFile | None = None
    parent: str | None = None
    side_files: tuple[PartFile, ...] = ()
    layout: Layout = "flat"


class Oddity(msgspec.Struct, frozen=True):
    """Something in a listing that a rule may speak about: `what` says which kind, `file` where.

    `path` is where it can be opened, for files that a rule may want to read.
    """

    what: str
    file: str
    detail: str = ""
    conversation: str | None = None
    path: str = ""


class Inventory(msgspec.Struct, frozen=True, kw_only=True):
    """A whole listing: conversations in the order of their ids, and what else lay there."""

    conversations: tuple[Conversation, ...]
    oddities: tuple[Oddity, ...] = ()
    layout: Layout = "flat"
