"""Questions about many conversations that the database answers at once."""

from __future__ import annotations

import json
from collections.abc import Sequence

from psycopg.sql import SQL, Composed, Literal

from jarvis_ops.stores.postgres.query import Query, name_of
from jarvis_ops.stores.postgres.schema import Shape


def measures(shape: Shape) -> Composed:
    """Of each conversation that has records: its id, their number, their bytes as stored, and the last time."""
    query = Query(shape)
    columns = shape.profile.columns
    sized = [name for name in (columns.content, columns.calls, shape.profile.message) if shape.entries.has(name)]
    size = SQL(" + ").join(SQL("coalesce(pg_column_size({}), 0)").format(query.column(name)) for name in sized)
    return SQL("SELECT {session}, count(*), sum({size})::bigint, max({time}) FROM {table} e GROUP BY 1").format(
        session=query.text(columns.session), size=size, time=query.time(), table=name_of(shape.entries.name)
    )


def holders(shape: Shape, ids: Sequence[str]) -> Composed:
    """The conversations in whose rows one of these ids stands: as a key, as the call of a result, or inside JSON."""
    query = Query(shape)
    columns = shape.profile.columns
    exact = [name for name in (columns.key, columns.result) if shape.entries.has(name)]
    inside = [columns.calls, columns.content if shape.looks_inside else "", shape.profile.message]
    tests = [SQL("{} = ANY({})").format(query.text(name), Literal(list(ids))) for name in exact]
    tests += [
        SQL("strpos({}::text, {}) > 0").format(query.column(name), Literal(json.dumps(one, ensure_ascii=False)[1:-1]))
        for name in inside
        if shape.entries.has(name)
        for one in ids
    ]
    return SQL("SELECT DISTINCT {} FROM {} e WHERE {}").format(
        query.text(columns.session), name_of(shape.entries.name), SQL(" OR ").join(tests)
    )
