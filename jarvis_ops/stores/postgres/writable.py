"""The tables of a database as a store whose conversations can be repaired."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

import orjson
from psycopg.sql import SQL, Identifier, Literal

from jarvis_ops.errors import RefusedError
from jarvis_ops.model.conversation import Conversation, Inventory
from jarvis_ops.model.pieces import PieceTable
from jarvis_ops.model.plan import Change
from jarvis_ops.model.profile import Profile
from jarvis_ops.model.run import Applied, Freed, Recovered, Run
from jarvis_ops.stores.base import Snapshot
from jarvis_ops.stores.postgres.connect import explained
from jarvis_ops.stores.postgres.held import HeldRows, edited, held
from jarvis_ops.stores.postgres.journal import Journal
from jarvis_ops.stores.postgres.query import Query, name_of
from jarvis_ops.stores.postgres.rows import Rows
from jarvis_ops.stores.postgres.store import PostgresStore
from jarvis_ops.stores.postgres.transaction import SETTINGS

if TYPE_CHECKING:
    from jarvis_ops.stores.postgres.writer import Writer


class WritablePostgres(PostgresStore):
    """A PostgresStore that can be changed: each conversation is read afresh when it is opened, and held in memory.

    RefusedError for tables that this cannot be done with.
    """

    def __init__(self, dsn: str, profile: Profile) -> None:
        super().__init__(dsn, profile)
        self._dsn = dsn
        try:
            self._check()
        except RefusedError:
            self.transaction.close()
            raise

    def _check(self) -> None:
        """RefusedError for tables in which no row can be changed safely."""
        profile = self.shape.profile
        if profile.message:
            raise RefusedError(
                f"rows of the shape {profile.name} hold a whole message in one column, and this version only reads such"
            )
        if not self.shape.entries.unique(profile.columns.key):
            raise RefusedError(
                f"nothing keeps the {profile.columns.key} of two rows of {profile.entries} from being the same,"
                " so none of them can be changed safely"
            )

    @cached_property
    def _writer(self) -> Writer:
        """The writing half. It is loaded when it is first needed."""
        from jarvis_ops.stores.postgres.writer import Writer

        return Writer(self._dsn, self.shape, self.dialect)

    def _renew(self) -> None:
        """Look at the database as it is now."""
        with explained(self._dsn):
            self.transaction.connection.rollback()
            for setting in SETTINGS:
                self.transaction.connection.execute(setting)

    @contextmanager
    def open(self, conversation: Conversation) -> Iterator[HeldRows]:
        """Hold a conversation open: its rows with all their columns, as they are now."""
        self._renew()
        self._look_up(conversation.id)
        fetched = self.transaction.all(Query(self.shape).whole(conversation.id))
        yield held(self.shape, conversation, self.dialect, fetched)

    def _look_up(self, session: str) -> None:
        """Read the row of a conversation again."""
        table = self.shape.sessions
        if table is None:
            return
        key = self.shape.profile.session_columns.key
        rows = self.transaction.all(
            SQL("SELECT to_jsonb(s)::text FROM {} s WHERE s.{} = {}::{}").format(
                name_of(table.name), Identifier(key), Literal(session), Identifier(table.types[key])
            )
        )
        self._metadata.pop(session, None)
        if rows:
            self._metadata[session] = rows[0][0].encode()

    def edited(self, snapshot: Snapshot, tables: Mapping[str, PieceTable]) -> HeldRows:
        """The conversation of a snapshot of this store with other content; nothing is written."""
        if not isinstance(snapshot, HeldRows):
            raise TypeError("a snapshot of this store is needed")
        return edited(snapshot, tables)

    @contextmanager
    def hold(self, conversation: Conversation, run: str, *, wait: float = 0) -> Iterator[None]:  # noqa: ARG002 - as the protocol has it
        """Nothing yet: a conversation is held from the beginning to the end of the transaction that changes it."""
        yield

    def apply(self, change: Change, run: str) -> Applied:
        """Carry a change out, in one transaction; see WritableStore."""
        row = self._metadata.get(change.conversation.id)
        return self._writer.apply(change, run, orjson.loads(row) if row is not None else None)

    def recover(self, conversation: Conversation) -> list[Recovered]:  # noqa: ARG002 - as the protocol has it
        """Nothing is ever left half done."""
        return []

    def runs(self, inventory: Inventory) -> list[Run]:  # noqa: ARG002 - the journal knows them
        """What runs of ours did and are still remembered, oldest first."""
        self._renew()
        with explained(self._dsn):
            return self._journal.runs()

    def undoing(self, run: Run, conversation: Conversation) -> Change:
        """The change that takes a run back; see WritableStore."""
        from jarvis_ops.stores.postgres.undo import undoing

        self._renew()
        with explained(self._dsn):
            rows = Rows(self.transaction.connection, self.shape, conversation.id)
            return undoing(self._journal, rows, run.run, conversation)

    @property
    def _journal(self) -> Journal:
        return Journal(self.transaction.connection, self.shape)

    def freeable(self, inventory: Inventory, kinds: Collection[str], before: int) -> list[Freed]:  # noqa: ARG002 - as above
        """What the journal keeps of runs from before an instant (ms), as backups."""
        self._renew()
        with explained(self._dsn):
            return self._journal.freeable(before) if "backups" in kinds else []

    def free(self, items: Collection[Freed]) -> None:
        """Forget what is kept of these runs, so that they cannot be taken back any more."""
        with self._writer.connection() as connection:
            Journal(connection, self.shape).forget({item.run for item in items})
