"""Whether the numbers of a table and what gives them out are right."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, LiteralString, NamedTuple

from psycopg import Connection

from jarvis_ops.rules.words import counted
from jarvis_ops.stores.postgres.seq.column import Column, column_of, lacking
from jarvis_ops.stores.postgres.seq.finishing import duplicates, indexes
from jarvis_ops.stores.postgres.seq.plan_table import State, state_of
from jarvis_ops.stores.postgres.seq.target import Target, execute

NUMBERS: LiteralString = "SELECT count(*), count({seq}), coalesce(max({seq}), 0) FROM {table}"


class Health(NamedTuple):
    """What was found. `column` is None where there is none yet; `state` is that of a migration that was begun."""

    schema: str
    column: Column | None
    state: State | None
    rows: int
    unnumbered: int
    highest: int
    duplicates: int
    roles: tuple[str, ...]
    invalid: tuple[str, ...]

    @property
    def begun(self) -> bool:
        """Whether a migration was begun and is not at its end."""
        return self.state is not None and not self.state.done

    def ailments(self) -> Iterator[str]:
        """What has to be put right besides the order, as sentences."""
        column = self.column
        if column is None:
            return
        if self.unnumbered:
            yield f"{counted(self.unnumbered, 'row')} without a number"
        if self.duplicates:
            yield f"{counted(self.duplicates, 'number')} on more than one row"
        if column.sequence is None:
            yield "no sequence gives out numbers"
        else:
            yield from self.of_sequence(column)
        if self.roles and column.sequence is not None:
            yield f"roles may add rows and not number them: {', '.join(self.roles)}"
        for name in self.invalid:
            yield f"index {name} was not built to its end"

    def of_sequence(self, column: Column) -> Iterator[str]:
        """What is wrong with the sequence."""
        name = ".".join(column.sequence or ())
        if not column.default:
            yield "new rows do not take their number from the sequence"
        if column.last < self.highest:
            yield f"sequence {name} stands at {column.last}, below {self.highest}, which is in use"
        # One in another schema cannot belong to a column of this one.
        if not column.owned and (column.sequence or ("",))[0] == self.schema:
            yield f"sequence {name} does not belong to the column"


def examine(connection: Connection[Any], target: Target) -> Health:
    """Look at the column and at all that belongs to it."""
    column, state = column_of(connection, target), state_of(connection, target)
    roles = tuple(lacking(connection, target, column.sequence if column is not None else None))
    if column is None:
        rows = int(execute(connection, "SELECT count(*) FROM {table}", table=target.name)[0][0])
        return Health(target.schema, None, state, rows, rows, 0, 0, roles, ())
    rows, numbered, highest = execute(connection, NUMBERS, table=target.name, seq=target.seq)[0]
    # The sequence is asked after the rows: others may take numbers meanwhile.
    column = column_of(connection, target)
    repeated = duplicates(connection, target)
    invalid = tuple(one.name for one in indexes(connection, target) if not one.valid and not one.building)
    return Health(target.schema, column, state, rows, rows - numbered, highest, repeated, roles, invalid)
