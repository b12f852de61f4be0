"""The tables of a database as a Store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import orjson

from jarvis_ops.dialects.base import Dialect
from jarvis_ops.dialects.blocks import milliseconds
from jarvis_ops.dialects.items import Items
from jarvis_ops.dialects.jarvis import Jarvis
from jarvis_ops.errors import UnreadableError
from jarvis_ops.model.conversation import Conversation, Inventory, PartFile
from jarvis_ops.model.profile import Profile
from jarvis_ops.stores.base import Measure
from jarvis_ops.stores.postgres.connect import explained, name_of
from jarvis_ops.stores.postgres.lines import milliseconds_of, unit_of
from jarvis_ops.stores.postgres.query import Query, highest_number, sessions_in_records, sessions_of
from jarvis_ops.stores.postgres.reader import RowsSnapshot
from jarvis_ops.stores.postgres.schema import Shape, look_up
from jarvis_ops.stores.postgres.search import holders, measures
from jarvis_ops.stores.postgres.transaction import Transaction

# What the metadata of a conversation is called in its row.
TIMES = ("turn_started_at", "archived_at", "created_at", "updated_at")
BATCH = 5_000


class PostgresStore:
    """Conversations in a database. StoreError if it cannot be reached, or holds no tables of this profile."""

    def __init__(self, dsn: str, profile: Profile) -> None:
        self.name = name_of(dsn)
        self.transaction = Transaction(dsn)
        with explained(dsn):
            self.shape: Shape = look_up(self.transaction.connection, profile)
        self.dialect: Dialect = Items() if profile.items else Jarvis()
        self.orphans: frozenset[str] = frozenset()
        self._metadata: dict[str, bytes] = {}

    def inventory(self) -> Inventory:
        """All conversations, sorted by id: those of their own table, and those that only records name."""
        shape = self.shape
        if shape.sessions is not None:
            self._metadata = {
                key: row.encode() for key, row in self.transaction.fetch(sessions_of(shape, shape.sessions))
            }
        ids = set(self._metadata)
        if not shape.linked:
            named = {row[0] for row in self.transaction.fetch(sessions_in_records(shape))}
            self.orphans = frozenset(named - ids) if shape.sessions is not None else frozenset()
            ids |= named
        return Inventory(conversations=tuple(self._conversation(one) for one in sorted(ids)), layout="rows")

    def _conversation(self, name: str) -> Conversation:
        table = self.shape.profile.sessions
        metadata = PartFile(name, name, table=table) if name in self._metadata else None
        return Conversation(id=name, session_id=name, folder="", parts=(), live=None, metadata=metadata, layout="rows")

    @contextmanager
    def open(self, conversation: Conversation) -> Iterator[RowsSnapshot]:
        """Hold a conversation open for reading: its rows with all their columns."""
        yield self.snapshot(conversation, whole=True)

    def snapshot(self, conversation: Conversation, *, whole: bool) -> RowsSnapshot:
        """The rows of a conversation, `whole` or reduced to what judging needs."""
        return RowsSnapshot(self.transaction, self.shape, conversation, self.dialect, whole=whole)

    def batches(self, sessions: Sequence[str] | None) -> Iterator[list[tuple[Any, ...]]]:
        """The reduced rows of these conversations (None: of all) by id and in reading order, some at a time."""
        return self.transaction.steps(Query(self.shape).reduced(sessions), BATCH)

    def companion(self, file: PartFile, limit: int = 16 << 20) -> bytes:  # noqa: ARG002 - a row is never so long
        """The row of a conversation as its metadata. UnreadableError if there is none."""
        metadata = self.metadata(file.path)
        if metadata is None:
            raise UnreadableError(f"table {file.table} has no row {file.path}")
        return orjson.dumps(metadata)

    def metadata(self, session: str) -> dict[str, Any] | None:
        """What the row of a conversation says, under JARVIS's names; times in milliseconds. None without a row."""
        row = self._metadata.get(session)
        if row is None:
            return None
        stored, names = orjson.loads(row), self.shape.profile.session_columns
        columns = {
            "agent_id": names.agent if names.agent in stored else "agent",
            "parent_id": names.parent,
            "title": names.title,
            "state": names.state,
            "turn_id": names.turn,
            **{name: getattr(names, name) for name in TIMES},
        }
        found = {name: stored[column] for name, column in columns.items() if stored.get(column) is not None}
        return {"id": session, **found, **{name: milliseconds(found[name]) for name in TIMES if name in found}}

    def running(self) -> dict[str, dict[str, Any]]:
        """The metadata of all conversations that say that a turn is running, by id."""
        named = {key: self.metadata(key) for key, row in self._metadata.items() if b"running" in row}
        return {key: one for key, one in named.items() if one is not None and one.get("state") == "running"}

    def measured(self) -> Mapping[str, Measure]:
        """All conversations that have records, by id."""
        return {
            session: Measure(records, size, milliseconds_of(last, self.shape.clock))
            for session, records, size, last in self.transaction.fetch(measures(self.shape))
            if session is not None
        }

    def holding(self, ids: Sequence[str]) -> set[str]:
        """The conversations in whose rows one of these ids stands somewhere."""
        return {row[0] for row in self.transaction.all(holders(self.shape, ids)) if row[0] is not None}

    def locked(self, conversation: Conversation) -> bool:  # noqa: ARG002 - a store of files knows locks
        """Never: there are no lock files."""
        return False

    def unfinished(self, conversation: Conversation) -> list[str]:  # noqa: ARG002 - as above
        """Nothing: this store is only read."""
        return []

    def unit(self, time: int | str) -> str:
        """What a stored time counts."""
        return unit_of(time, self.shape.clock)

    def highest(self) -> int | None:
        """The highest number of a row."""
        row = self.transaction.all(highest_number(self.shape))
        return row[0][0] if row else None

    def invalid_indexes(self) -> tuple[str, ...]:
        """Indexes that were not built to their end, and are not being built."""
        tables = (self.shape.entries, self.shape.sessions)
        return tuple(
            index.name
            for table in tables
            if table is not None
            for index in table.indexes
            if not index.valid and not index.building
        )

    def missing_columns(self) -> tuple[str, ...]:
        """Columns without which one that is there means nothing."""
        names, entries = self.shape.profile.columns, self.shape.entries
        lacks = names.compacted_by and entries.has(names.compacted_at) and not entries.has(names.compacted_by)
        return (names.compacted_by,) if lacks else ()
