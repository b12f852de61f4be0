"""Taking a run back: the rows as they were before, where they are still what the run made of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from psycopg.sql import SQL, Literal

from jarvis_ops.errors import RefusedError
from jarvis_ops.model.conversation import Conversation
from jarvis_ops.model.plan import Change, Step
from jarvis_ops.model.record import Position
from jarvis_ops.stores.postgres.images import text_of
from jarvis_ops.stores.postgres.rows import Rows, part_of_row, turned

if TYPE_CHECKING:
    from jarvis_ops.stores.postgres.changes import RowChange
    from jarvis_ops.stores.postgres.journal import Journal


def taking_back(journal: Journal, run: str, conversation: str) -> list[RowChange]:
    """What takes a run back. RefusedError if it is not remembered, or was taken back."""
    journal.head(run, conversation)
    return turned(journal.changes(run, conversation))


def undoing(journal: Journal, rows: Rows, run: str, conversation: Conversation) -> Change:
    """The change that takes a run back. RefusedError where its rows were changed since, or others refer to them."""
    head = journal.head(run, conversation.id)
    changes = taking_back(journal, run, conversation.id)
    check_unreferred(rows, changes)
    check_unchanged(rows, changes, run)
    return Change(
        command="undo",
        conversation=conversation,
        fingerprint=(),
        contents=(),
        steps=tuple(steps_of(rows, changes, run)),
        moved=head.moved,
        added=head.removed,
        removed=head.added,
        undoes=run,
    )


def check_unreferred(rows: Rows, changes: Sequence[RowChange]) -> None:
    """RefusedError if another row names one that is to go because a run had put it in."""
    gone = [change.key for change in changes if change.after is None]
    for key in gone:
        found = rows.connection.execute(
            SQL(
                "SELECT {}::text FROM {} e WHERE {} AND NOT {}::text = ANY({}) AND strpos(to_jsonb(e)::text, {}) > 0"
                " LIMIT 1"
            ).format(
                rows.column(rows.names.key),
                rows.table,
                rows.is_session(),
                rows.column(rows.names.key),
                Literal(gone),
                Literal(text_of({"": key})[4:-1]),
            )
        ).fetchone()
        if found is not None:
            raise RefusedError(f"row {found[0]} refers to {key}, which the run had put in")


def check_unchanged(rows: Rows, changes: Sequence[RowChange], run: str) -> None:
    """RefusedError where a row is no longer what a run made of it."""
    for change in changes:
        if change.before is None:
            found = rows.connection.execute(
                SQL("SELECT 1 FROM {} e WHERE {}").format(rows.table, rows.is_row(change.key))
            )
            wrong = found.fetchone() is not None
        else:
            same = SQL("{} = {}::jsonb").format(part_of_row(change.before), Literal(text_of(change.before)))
            found = rows.connection.execute(
                SQL("SELECT 1 FROM {} e WHERE {} AND {}").format(rows.table, rows.is_row(change.key), same)
            )
            wrong = found.fetchone() is None
        if wrong:
            raise RefusedError(f"row {change.key} was changed since run {run}; take back what came later first")


def steps_of(rows: Rows, changes: Sequence[RowChange], run: str) -> Iterator[Step]:
    """What is done to each row, in words."""
    for change in changes:
        put_back, gone = change.before is None, change.after is None
        yield Step(
            step="insert" if put_back else "set-aside" if gone else "replace",
            position=Position(table=rows.shape.entries.name, key=change.key),
            why=(
                f"run {run} had taken it out, and it is put back"
                if put_back
                else f"run {run} had put it in, and it goes"
                if gone
                else f"what it was before run {run} is put back"
            ),
            rule="undo",
            safety="safe",
            record_id=change.key,
        )
