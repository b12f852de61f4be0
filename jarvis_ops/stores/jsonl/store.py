"""A directory of logs, or a single log, as a Store."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager

from jarvis_ops.errors import StoreError, UnreadableError
from jarvis_ops.model.conversation import Conversation, Inventory, PartFile
from jarvis_ops.stores.base import Snapshot
from jarvis_ops.stores.jsonl.held import kind_of, open_regular
from jarvis_ops.stores.jsonl.inventory import directory_inventory, file_inventory
from jarvis_ops.stores.jsonl.layout import printable
from jarvis_ops.stores.jsonl.opening import Opening, places
from jarvis_ops.stores.jsonl.reader import JsonlSnapshot
from jarvis_ops.stores.lock import is_locked


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
