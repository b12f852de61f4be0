"""Changes one conversation in one transaction: whole, or not at all."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any, LiteralString

from psycopg import Connection, errors
from psycopg.sql import SQL, Identifier, Literal

from jarvis_ops.dialects.base import Dialect
from jarvis_ops.errors import BusyError, RefusedError, StaleError, StoreError
from jarvis_ops.model.conversation import Conversation
from jarvis_ops.model.pieces import PieceTable, Span
from jarvis_ops.model.plan import Change, Content
from jarvis_ops.model.run import Applied
from jarvis_ops.stores.postgres.changes import RowChange, changes_of
from jarvis_ops.stores.postgres.connect import connect, name_of, reason
from jarvis_ops.stores.postgres.held import HeldRows, edited, held
from jarvis_ops.stores.postgres.journal import Journal
from jarvis_ops.stores.postgres.query import Query
from jarvis_ops.stores.postgres.query import name_of as named
from jarvis_ops.stores.postgres.rows import Rows, with_numbers
from jarvis_ops.stores.postgres.schema import Shape
from jarvis_ops.stores.postgres.undo import check_unreferred, taking_back

SETTINGS: tuple[LiteralString, ...] = (
    "SET LOCAL statement_timeout = '10min'",
    # What others hold is said, not waited for; a table that is being altered is worth a moment.
    "SET LOCAL lock_timeout = '2s'",
)
LOCK: LiteralString = "SELECT pg_try_advisory_xact_lock(hashtextextended('jarvis-ops:heal:' || {} || ':' || {}, 0))"
# The expression that numbers new rows, and the name of the sequence of a column that numbers itself.
DEFAULT: LiteralString = """
SELECT pg_get_expr(d.adbin, d.adrelid), pg_get_serial_sequence({}, {})
FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attrelid = {} AND a.attname = {}"""
# A turn that began so long ago (seconds) is running no more, as everywhere where nobody says otherwise.
TURN = 300
BEHIND = "what numbers new rows of its table gives lower numbers than there are; migrate-seq puts that right"


class Writer:
    """Carries changes out in the database that `dsn` names."""

    def __init__(self, dsn: str, shape: Shape, dialect: Dialect) -> None:
        self.dsn = dsn
        self.shape = shape
        self.dialect = dialect

    @contextmanager
    def connection(self) -> Iterator[Connection[Any]]:
        """A connection that may write; what goes wrong on it is rolled back, and said in a sentence."""
        try:
            with closing(connect(self.dsn)) as connection:
                yield connection
        except (errors.LockNotAvailable, errors.DeadlockDetected, errors.SerializationFailure):
            raise BusyError("somebody else is changing its rows at this moment; it was left alone") from None
        except errors.ReadOnlySqlTransaction:
            raise RefusedError(f"{name_of(self.dsn)} is a standby that can only be read") from None
        except errors.InsufficientPrivilege as error:
            raise RefusedError(
                f"{name_of(self.dsn)}: this role may not change it ({error.diag.message_primary})"
            ) from None
        except errors.IntegrityError as error:
            raise RefusedError(f"the database does not allow it: {error.diag.message_primary}") from None
        except errors.Error as error:
            raise StoreError(f"{name_of(self.dsn)}: {reason(error)}") from None

    def apply(self, change: Change, run: str, seen: Mapping[str, Any] | None) -> Applied:
        """Carry a change out; `seen` is the row of the conversation when it was looked at. See WritableStore."""
        with self.connection() as connection:
            journal = Journal(connection, self.shape)
            journal.make_ready()
            for setting in SETTINGS:
                connection.execute(setting)
            self.lock(connection, change.conversation, seen, undo=change.undoes is not None)
            rows = Rows(connection, self.shape, change.conversation.id)
            if change.undoes is not None:
                changes = taking_back(journal, change.undoes, change.conversation.id)
                rows.lock([one.key for one in changes])
                check_unreferred(rows, changes)
            else:
                changes = self.planned(connection, rows, change)
            journal.write(run, change, rows.carry(changes))
            connection.commit()
        return Applied(None)

    def lock(
        self, connection: Connection[Any], conversation: Conversation, seen: Mapping[str, Any] | None, *, undo: bool
    ) -> None:
        """Keep others away from a conversation. BusyError where somebody is at it, or a turn began since."""
        taken = connection.execute(SQL(LOCK).format(Literal(self.shape.entries.name), Literal(conversation.id)))
        row = taken.fetchone()
        if row is None or not row[0]:
            raise BusyError("another run of jarvis-ops is changing it; it was left alone")
        now = self.session(connection, conversation.id)
        names = self.shape.profile.session_columns
        for name in (names.state, names.turn, names.turn_started_at):
            if (now or {}).get(name) != (seen or {}).get(name):
                raise BusyError("a turn began or ended while it was looked at; it was left alone")
        if undo and now is not None and now.get(names.state) == "running" and young(now, names.turn_started_at):
            raise BusyError("its metadata says that a turn is running; it was left alone")

    def session(self, connection: Connection[Any], session: str) -> dict[str, Any] | None:
        """The row of a conversation, which nobody can change from here on; None where there is none."""
        table = self.shape.sessions
        if table is None:
            return None
        key = self.shape.profile.session_columns.key
        found = connection.execute(
            SQL("SELECT to_jsonb(s) FROM {} s WHERE s.{} = {}::{} FOR UPDATE NOWAIT").format(
                named(table.name), Identifier(key), Literal(session), Identifier(table.types[key])
            )
        ).fetchone()
        return found[0] if found is not None else None

    def planned(self, connection: Connection[Any], rows: Rows, change: Change) -> list[RowChange]:
        """What a plan means for the rows as they are now. StaleError if they are not what it was made from."""
        base = self.read(connection, change.conversation)
        (part,) = base.parts
        for known in change.fingerprint:
            if known.bytes != part.size or known.sha256 != base.digest(part):
                raise StaleError("its rows have changed since the plan was made")
        view = edited(base, {one.file: table_of(one) for one in change.contents})
        changes = changes_of(base, view)
        rows.lock([one.key for one in changes if one.before is not None])
        if self.shape.has_seq:
            seq = self.shape.profile.columns.seq
            changes = with_numbers(changes, seq, base.highest, lambda n: self.numbers(connection, n, base.highest))
        return changes

    def read(self, connection: Connection[Any], conversation: Conversation) -> HeldRows:
        """The rows of a conversation as they are now."""
        fetched = connection.execute(Query(self.shape).whole(conversation.id)).fetchall()
        return held(self.shape, conversation, self.dialect, fetched)

    def numbers(self, connection: Connection[Any], wanted: int, highest: int) -> list[int]:
        """So many new numbers, from where the table itself takes them. RefusedError where they are not the highest."""
        names, table = self.shape.profile.columns, named(self.shape.entries.name)
        known = (table.as_string(connection), names.seq, self.shape.entries.oid, names.seq)
        row = connection.execute(SQL(DEFAULT).format(*map(Literal, known))).fetchone()
        made, owned = row if row is not None else (None, None)
        if owned is not None:
            source = SQL("nextval({}::regclass)").format(Literal(owned))
        elif made is not None and "nextval(" in made:
            source = SQL(made).format()
        else:
            source = SQL("(SELECT max({}) FROM {}) + n").format(Identifier(names.seq), table)
        found = connection.execute(SQL("SELECT {} FROM generate_series(1, {}) n").format(source, Literal(wanted)))
        numbers = sorted(int(one[0]) for one in found)
        if numbers[0] <= highest:
            raise RefusedError(BEHIND)
        return numbers


def young(row: Mapping[str, Any], started: str) -> bool:
    """Whether the turn of a conversation began a short time ago."""
    from jarvis_ops.dialects.blocks import milliseconds

    began = milliseconds(row.get(started))
    return began is None or time.time() - began / 1000 < TURN


def table_of(content: Content) -> PieceTable:
    """The new content of a conversation, as a plan holds it."""
    return PieceTable(
        base64.b64decode(piece.base64, validate=True)
        if piece.base64 is not None
        else Span(piece.file, piece.offset, piece.offset + piece.length)
        for piece in content.pieces
    )
