"""What runs of ours did to rows, written into a table beside them, in the same transaction."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, LiteralString

import msgspec
from psycopg.sql import SQL, Composed, Identifier, Literal

from jarvis_ops.errors import RefusedError
from jarvis_ops.model.plan import Change, Step
from jarvis_ops.model.run import Freed, Run
from jarvis_ops.stores.postgres.changes import RowChange
from jarvis_ops.stores.postgres.images import Image, image_of, text_of
from jarvis_ops.stores.postgres.schema import Shape

if TYPE_CHECKING:
    from psycopg import Connection

NAME = "jarvis_ops_journal"
# Row 0 of a run in a conversation says what the run was; its rows hold the changes in their order.
HEAD = 0
KEPT_DAYS = 7
SCHEMA_OF: LiteralString = (
    "SELECT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = %s"
)
THERE: LiteralString = "SELECT to_regclass(%s)"
CREATE: LiteralString = """CREATE TABLE IF NOT EXISTS {} (
 run text NOT NULL, conversation text NOT NULL, n integer NOT NULL, table_name text NOT NULL, key text,
 before jsonb, after jsonb, at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (run, conversation, table_name, n))"""
LOCK: LiteralString = "SELECT pg_advisory_xact_lock(hashtextextended('jarvis-ops:journal', 0))"


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """What a run was, as its first row in the journal tells it."""

    command: str
    steps: tuple[Step, ...] = ()
    undoes: str | None = None
    moved: int = 0
    added: int = 0
    removed: int = 0


class Journal:
    """The journal beside a table of records, on any connection."""

    def __init__(self, connection: Connection[Any], shape: Shape) -> None:
        self.connection = connection
        self.of = shape.entries.name
        row = connection.execute(SCHEMA_OF, (shape.entries.oid,)).fetchone()
        self.table = Identifier(row[0] if row is not None else "public", NAME)

    def exists(self) -> bool:
        """Whether there is one."""
        row = self.connection.execute(THERE, (self.table.as_string(self.connection),)).fetchone()
        return row is not None and row[0] is not None

    def make_ready(self) -> None:
        """Make the table where there is none, and forget what is too old; a transaction of its own."""
        if not self.exists():
            self.connection.execute(LOCK)
            self.connection.execute(SQL(CREATE).format(self.table))
        self.run("DELETE FROM {} WHERE at < now() - {} * interval '1 day'", Literal(KEPT_DAYS))
        self.connection.commit()

    def write(self, run: str, change: Change, changes: Sequence[RowChange]) -> None:
        """Write down what a run has done."""
        head = Head(
            command=change.command,
            steps=tuple(step.told() for step in change.steps),
            undoes=change.undoes,
            moved=change.moved,
            added=change.added,
            removed=change.removed,
        )
        images: list[tuple[str | None, str | None, str | None]] = [(None, None, msgspec.json.encode(head).decode())]
        images += [(one.key, text_or_none(one.before), text_or_none(one.after)) for one in changes]
        keys, befores, afters = map(list, zip(*images, strict=True))
        self.run(
            "INSERT INTO {} (run, conversation, n, table_name, key, before, after) SELECT {}, {}, n - 1, {}, key,"
            " before::jsonb, after::jsonb"
            " FROM unnest({}::text[], {}::text[], {}::text[]) WITH ORDINALITY AS r(key, before, after, n)",
            Literal(run), Literal(change.conversation.id), Literal(self.of), Literal(keys), Literal(befores),
            Literal(afters),
        )  # fmt: skip

    def runs(self) -> list[Run]:
        """All runs that are remembered, oldest first; one entry for each conversation of a run."""
        heads = self.heads() if self.exists() else []
        undone = {(head.undoes, conversation) for _, conversation, head, _ in heads}
        return [
            Run(
                run=run,
                command=head.command,
                conversation=conversation,
                state="undone" if (run, conversation) in undone else "done",
                steps=head.steps,
                journal=NAME,
                backups=(NAME,),
                bytes=size,
                undoes=head.undoes,
            )
            for run, conversation, head, size in heads
        ]

    def heads(self) -> list[tuple[str, str, Head, int]]:
        """(run, conversation, what it was, bytes of what it keeps) of each entry."""
        rows = self.run(
            "SELECT run, conversation, max(after::text) FILTER (WHERE n = 0), min(at),"
            " sum(coalesce(pg_column_size(before), 0))::bigint"
            " FROM {} WHERE table_name = {} GROUP BY run, conversation HAVING bool_or(n = 0) ORDER BY min(at), run, 2",
            Literal(self.of),
        )
        return [(row[0], row[1], msgspec.json.decode(row[2], type=Head), row[4]) for row in rows]

    def head(self, run: str, conversation: str) -> Head:
        """What a run was. RefusedError if it is not remembered, or was taken back."""
        heads = {(one, other): head for one, other, head, _ in (self.heads() if self.exists() else [])}
        if (run, conversation) not in heads:
            raise RefusedError(f"what run {run} found is no longer kept, so it cannot be taken back")
        if any(head.undoes == run and other == conversation for (_, other), head in heads.items()):
            raise RefusedError(f"run {run} was taken back already")
        return heads[run, conversation]

    def changes(self, run: str, conversation: str) -> list[RowChange]:
        """What a run did to the rows of a conversation, in its order."""
        rows = self.run(
            "SELECT key, before::text, after::text FROM {} WHERE table_name = {} AND run = {} AND conversation = {}"
            " AND n > 0 ORDER BY n",
            Literal(self.of), Literal(run), Literal(conversation),
        )  # fmt: skip
        return [RowChange(key, before and image_of(before), after and image_of(after)) for key, before, after in rows]

    def freeable(self, before: int) -> list[Freed]:
        """What the journal keeps of runs from before an instant (ms)."""
        if not self.exists():
            return []
        rows = self.run(
            "SELECT run, sum(coalesce(pg_column_size(before), 0))::bigint FROM {} WHERE table_name = {}"
            " GROUP BY run HAVING max(at) < to_timestamp({} / 1000.0) ORDER BY run",
            Literal(self.of), Literal(before),
        )  # fmt: skip
        return [Freed("backups", NAME, size, run) for run, size in rows]

    def forget(self, runs: Collection[str]) -> None:
        """Remove what is kept of runs."""
        self.run("DELETE FROM {} WHERE table_name = {} AND run = ANY({})", Literal(self.of), Literal(list(runs)))
        self.connection.commit()

    def run(self, statement: LiteralString, *values: Literal) -> list[tuple[Any, ...]]:
        """Carry out a statement about the journal."""
        made: Composed = SQL(statement).format(self.table, *values)
        cursor = self.connection.execute(made)
        return cursor.fetchall() if cursor.description is not None else []


def text_or_none(image: Image | None) -> str | None:
    """The columns of a row as JSON text, where there is such a row."""
    return text_of(image) if image is not None else None
