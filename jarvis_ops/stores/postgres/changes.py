"""What the edited lines of a conversation mean for its rows: columns that change, rows that come, rows that go."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import NAMESPACE_OID, UUID, uuid5

import msgspec
import orjson

from jarvis_ops.errors import RefusedError
from jarvis_ops.model.record import Row
from jarvis_ops.stores.postgres.held import HeldRows, tied_anew
from jarvis_ops.stores.postgres.images import Image, image_of
from jarvis_ops.stores.postgres.schema import FRACTIONS, TEXTS, WHOLE_NUMBERS, Shape

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
HOW_TO_ORDER = (
    "nothing orders rows of one time in this table; migrate-seq gives them numbers, and --spread-ms moves the times"
    " of one conversation apart"
)


class RowChange(msgspec.Struct, frozen=True):
    """What becomes of one row: `before` is None for one that is put in, `after` for one that is taken out.

    Both hold all columns of such a row, and of a row that stays only those that change.
    """

    key: str
    before: Image | None
    after: Image | None


def changes_of(base: HeldRows, view: HeldRows) -> list[RowChange]:
    """All changes that make the rows of `view` out of those of `base`, in reading order; what goes comes last.

    RefusedError where the table cannot hold what is wanted, or cannot keep its order. Numbers above those that the
    conversation has stand for new ones.
    """
    if tied_anew(base, view):
        raise RefusedError(HOW_TO_ORDER)
    times = {row.time: image_of(base.images[row.key]).get(time_of(base.shape)) for row in base.rows}
    found: list[RowChange] = []
    before: Row | None = None
    for row in view.rows:
        old = base.by_key.get(row.key)
        change = put_in(base, row, before, times) if old is None else changed(base, old, row, times)
        found += [change] if change is not None else []
        before = row
    kept = {row.key for row in view.rows}
    found += [RowChange(row.key, image_of(base.images[row.key]), None) for row in base.rows if row.key not in kept]
    return found


def time_of(shape: Shape) -> str:
    """The column of the time."""
    return shape.profile.columns.time


def changed(base: HeldRows, old: Row, new: Row, times: Mapping[Any, Any]) -> RowChange | None:
    """What becomes of a row that stays; None for nothing."""
    shape, names = base.shape, base.shape.profile.columns
    after: Image = {}
    stored = image_of(base.images[old.key])
    if old.raw != new.raw:
        exact = json.loads(base.images[old.key], parse_float=Decimal)
        after |= columns_between(shape, orjson.loads(old.raw), orjson.loads(new.raw), stored, exact)
    if new.time != old.time:
        after[names.time] = time_value(shape, new.time, times)
    if shape.has_seq and new.seq != old.seq:
        after[names.seq] = new.seq
    before = {name: stored.get(name) for name in after}
    return RowChange(old.key, before, after) if after else None


def columns_between(
    shape: Shape, old: Mapping[str, Any], new: Mapping[str, Any], stored: Image, exact: Image
) -> Iterator[tuple[str, Any]]:
    """Each column in which two lines of a row differ, with its new value."""
    for name in sorted({*old, *new} - {"timestamp"}):
        if (name in old) != (name in new) or old.get(name) != new.get(name):
            column = column_of(shape, name)
            if column is None:
                raise RefusedError(f"its table has no column for {name}")
            if not carried_exactly(exact.get(column), old.get(name)):
                raise RefusedError(f"the column {column} of row {old['id']} holds numbers that would lose digits")
            yield column, stored_value(shape, column, new.get(name), stored.get(column))


def put_in(base: HeldRows, row: Row, before: Row | None, times: Mapping[Any, Any]) -> RowChange:
    """A new row behind another one: what of its line the table has columns for."""
    shape, names = base.shape, base.shape.profile.columns
    line = orjson.loads(row.raw)
    after: Image = {}
    for name, value in line.items():
        column = column_of(shape, name)
        if column is not None and name not in {"id", "timestamp"}:
            after[column] = stored_value(shape, column, value, None)
    after[names.key] = key_value(shape, row.key)
    after[names.session] = base.conversation.id
    if shape.has_time:
        after[names.time] = time_value(shape, row.time, times)
    if shape.has_seq:
        after[names.seq] = row.seq
    if row.compacted is not None and before is not None and before.key in base.images:
        like = image_of(base.images[before.key])
        after |= {name: like[name] for name in (names.compacted_at, names.compacted_by) if name in like}
    return RowChange(str(after[names.key]), None, after)


def column_of(shape: Shape, name: str) -> str | None:
    """The column that holds a member of a line; None where there is none."""
    names = shape.profile.columns
    own = {
        "id": names.key, "role": names.role, "content": names.content, "tool_calls": names.calls,
        "tool_call_id": names.result, "turn_id": names.turn, "is_error": names.error,
    }  # fmt: skip
    column = own.get(name, name)
    reserved = {names.session, names.time, names.seq} if name not in own else set()
    return column if shape.entries.has(column) and column not in reserved else None


def stored_value(shape: Shape, column: str, value: Any, stored: Any) -> Any:
    """A member of a line as its column has it; `stored` is what stands there now."""
    if value is None or isinstance(value, str):
        return value
    as_text = shape.entries.types[column] in TEXTS or (isinstance(stored, str) and not isinstance(value, bool))
    return orjson.dumps(value).decode() if as_text else value


def carried_exactly(stored: Any, told: Any) -> bool:
    """Whether a line tells a stored value to the last digit."""
    if isinstance(stored, str) and not isinstance(told, str) and told is not None:
        try:
            stored = json.loads(stored, parse_float=Decimal)
        except ValueError:
            return False
    if isinstance(stored, dict) and isinstance(told, dict):
        return stored.keys() == told.keys() and all(carried_exactly(one, told[name]) for name, one in stored.items())
    if isinstance(stored, list) and isinstance(told, list):
        return len(stored) == len(told) and all(map(carried_exactly, stored, told))
    if isinstance(stored, Decimal) or isinstance(told, float):
        return stored is not None and Decimal(stored) == Decimal(repr(told))
    return bool(stored == told)


def key_value(shape: Shape, key: str) -> Any:
    """The key of a new row, as its column takes it."""
    kind = shape.entries.types[shape.profile.columns.key]
    if kind in TEXTS:
        return key
    if kind == "uuid":
        return str(uuid_of(key))
    raise RefusedError("its table has keys that are neither text nor UUIDs, so no row can be put in")


def uuid_of(key: str) -> UUID:
    """A key as a UUID: itself where it is one; else one made of it, always the same."""
    try:
        return UUID(key)
    except ValueError:
        return uuid5(NAMESPACE_OID, key)


def time_value(shape: Shape, time: Any, times: Mapping[Any, Any]) -> Any:
    """A time as its column has it: as another row has it, or made."""
    if time in times:
        return times[time]
    kind = shape.entries.types[time_of(shape)]
    if kind in WHOLE_NUMBERS:
        return time
    if kind in {"timestamptz", "timestamp"} and kind not in FRACTIONS and isinstance(time, int):
        moment = EPOCH + timedelta(microseconds=time)
        return (moment if kind == "timestamptz" else moment.replace(tzinfo=None)).isoformat()
    raise RefusedError("its times cannot be told to the millisecond, so none of them is changed")
