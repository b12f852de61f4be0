"""What the rows of one moment tell of the order in which they were written, and what was made of it."""

from __future__ import annotations

from typing import NamedTuple


class Trace(NamedTuple):
    """One row. `place` is its number among all rows by what the database knows of their writing.

    `xid` is the transaction that wrote it (a lower one is older), `cmin` the statement in it, `page` and `item` where
    the row lies. `number` is the one it has in the order column, if any; `fresh` is how many rows without one come up
    to this place. `updated` says that it was written again later, so that all of this dates the update; `bulk` that its
    statement wrote rows of other moments too, as a restored copy does, or that its transaction is too old to be told
    from younger ones.
    """

    place: int
    key: str
    role: str
    calls: tuple[str, ...]
    results: tuple[str, ...]
    xid: int
    cmin: int
    page: int
    item: int
    number: int | None = None
    updated: bool = False
    bulk: bool = False
    fresh: int = 0


class Moment(NamedTuple):
    """The rows of one conversation that have one time, by place.

    `last` says that nothing later tells of updates. `awaited` are the results in it whose calls came earlier.
    """

    session: str
    time: str
    rows: tuple[Trace, ...]
    last: bool = False
    awaited: frozenset[str] = frozenset()


class Decision(NamedTuple):
    """The order of a moment's rows, as indexes of them; `doubt` says why it may be wrong, "" if it is not."""

    order: tuple[int, ...]
    doubt: str = ""
