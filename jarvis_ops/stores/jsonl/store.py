"""A directory of logs, or a single log, as a Store."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from jarvis_ops.errors import StoreError, UnreadableError
from jarvis_ops.model.conversation import Conversation, Inventory, PartFile
from jarvis_ops.model.pieces import PieceTable
from jarvis_ops.model.plan import Change
from jarvis_ops.model.run import Applied, Freed, Recovered, Run
from jarvis_ops.stores.base import Snapshot
from jarvis_ops.stores.jsonl.held import kind_of, open_regular
from jarvis_ops.stores.jsonl.inventory import directory_inventory, file_inventory
from jarvis_ops.stores.jsonl.layout import printable
from jarvis_ops.stores.jsonl.opening import Opening, places
from jarvis_ops.stores.jsonl.reader import JsonlSnapshot
from jarvis_ops.stores.lock import is_locked

if TYPE_CHECKING:
    from jarvis_ops.stores.jsonl.writer import Writer


OURS = ".jarvis-ops"


class JsonlStore:
    """Conversations as JSONL files below a path. StoreError if the path is neither a directory nor a regular file."""

    def __init__(self, path: str) -> None:
        self._path = path
        try:
            mode = os.stat(path).st_mode
        except (OSError, ValueError) as error:
            raise StoreError(f"{self.name}: {_reason(error)}") from error
        self._is_directory = stat.S_ISDIR(mode)
        if not self._is_directory and kind_of(mode):
            raise StoreError(f"{self.name}: it is {kind_of(mode)}, and a store is a directory or a regular file")

    @property
    def name(self) -> str:
        """The path as it was given."""
        return printable(self._path)

    def inventory(self) -> Inventory:
        """All conversations, sorted by id, and what else lies there. StoreError if the path cannot be listed."""
        try:
            return directory_inventory(self._path) if self._is_directory else file_inventory(self._path)
        except OSError as error:
            raise StoreError(f"{self.name}: {_reason(error)}") from error

    def open(self, conversation: Conversation) -> AbstractContextManager[Snapshot]:
        """Hold a conversation open for reading. UnreadableError if any part of it cannot be opened."""
        return _held_open(conversation)

    def companion(self, file: PartFile, limit: int = 16 << 20) -> bytes:
        """The bytes of a companion file. UnreadableError if it cannot be read or is longer than `limit`."""
        try:
            descriptor, _ = open_regular(file.path)
            with open(descriptor, "rb") as stream:
                data = stream.read(limit + 1)
        except UnreadableError as error:
            raise UnreadableError(f"{file.file}: {error.message}") from error
        except OSError as error:
            raise UnreadableError(f"{file.file}: {_reason(error)}") from error
        if len(data) > limit:
            raise UnreadableError(f"{file.file}: it is longer than {limit} bytes")
        return data

    def locked(self, conversation: Conversation) -> bool:
        """Whether another process holds the agent's own lock file of this conversation."""
        return is_locked(places(conversation).lock.path)

    def edited(self, snapshot: Snapshot, tables: Mapping[str, PieceTable]) -> Snapshot:
        """The conversation of a snapshot of this store with other content for some parts; nothing is written."""
        from jarvis_ops.stores.jsonl.view import edited

        if not isinstance(snapshot, JsonlSnapshot):
            raise TypeError("a snapshot of this store is needed")
        return edited(snapshot, tables)

    @cached_property
    def _writer(self) -> Writer:
        """The writing half. It is loaded when it is first needed, since most commands only read."""
        from jarvis_ops.stores.jsonl.writer import Writer

        return Writer()

    def hold(self, conversation: Conversation, run: str, *, wait: float = 0) -> AbstractContextManager[None]:
        """Hold a conversation against other runs of ours, and against its agent; see WritableStore."""
        return self._writer.hold(conversation, run, wait=wait)

    def apply(self, change: Change, run: str) -> Applied:
        """Carry a change out, for a conversation that is held; see WritableStore."""
        return self._writer.apply(change, run)

    def unfinished(self, conversation: Conversation) -> list[str]:
        """The runs that were interrupted on a conversation; nothing is written."""
        beside = os.path.dirname(os.path.realpath(places(conversation).live.path))
        # Where nothing was ever changed, there is no need to load what could change it.
        return self._writer.unfinished(conversation) if os.path.isdir(os.path.join(beside, OURS)) else []

    def recover(self, conversation: Conversation) -> list[Recovered]:
        """Finish or put back what an interrupted run left of a held conversation."""
        return self._writer.recover(conversation)

    def runs(self, inventory: Inventory) -> list[Run]:
        """What runs of ours did and are still remembered, oldest first."""
        return self._writer.runs(inventory)

    def undoing(self, run: Run, conversation: Conversation) -> Change:
        """The change that takes a run back; see WritableStore."""
        return self._writer.undoing(run, conversation)

    def freeable(self, inventory: Inventory, kinds: Collection[str], before: int) -> list[Freed]:
        """What our own folders hold of `kinds` from before an instant (ms)."""
        return self._writer.freeable(inventory, kinds, before)

    def free(self, items: Collection[Freed]) -> None:
        """Remove such files, and journals of runs of which nothing is left."""
        self._writer.free(items)


@contextmanager
def _held_open(conversation: Conversation) -> Iterator[Snapshot]:
    try:
        with closing(Opening(conversation)) as opening:
            yield JsonlSnapshot(opening.run())
    except UnreadableError as error:
        error.conversation = error.conversation or conversation.id
        raise


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
