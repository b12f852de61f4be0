"""Rows as the JARVIS lines that they stand for."""

from __future__ import annotations

import json
from typing import Any

import orjson

from jarvis_ops.dialects.blocks import SECONDS_BELOW, milliseconds
from jarvis_ops.model.profile import Clock
from jarvis_ops.model.record import Row
from jarvis_ops.stores.postgres.items import line_of_item
from jarvis_ops.stores.postgres.schema import Shape

# A number above this counts microseconds: in milliseconds it would lie behind the year 5138.
MICROSECONDS_ABOVE = 100_000_000_000_000
# How a list of calls begins that is told by ids alone.
IDS = '["'


def milliseconds_of(time: int | str | None, clock: Clock) -> int | None:
    """A stored time as milliseconds since the epoch, whatever its column counts."""
    if isinstance(time, int) and (clock == "micros" or time >= MICROSECONDS_ABOVE):
        return time // 1000
    return milliseconds(time)


def unit_of(time: int | str, clock: Clock) -> str:
    """What a stored time counts, by its size where the column does not tell."""
    if clock != "number" or isinstance(time, str):
        return clock
    return "s" if abs(time) < SECONDS_BELOW else "ms" if abs(time) < MICROSECONDS_ABOVE else "us"


class Lines:
    """Makes rows of what was fetched from a store of one shape."""

    def __init__(self, shape: Shape) -> None:
        self.profile = shape.profile
        self.clock = shape.clock
        self.looks_inside = shape.looks_inside

    def unit(self, time: int | str) -> str:
        """What a stored time counts."""
        return unit_of(time, self.clock)

    def reduced(self, fetched: tuple[Any, ...]) -> Row:
        """A reduced row as a line."""
        session, key, _, time, seq, _, _, _, compacted = fetched
        return self.row(session, key, time, seq, compacted, self.value(fetched))

    def value(self, fetched: tuple[Any, ...]) -> dict[str, Any]:
        """What a reduced row says: the line without its id and its time."""
        _, _, role, _, _, result, calls, content, _ = fetched
        if self.profile.message and content is not None:
            return self.spoken(json_or_none(content))
        value: dict[str, Any] = {"role": self.profile.roles.get(role, role)} if role is not None else {}
        if content is not None:
            value["content"] = structured(json_or_none(content))
        if calls is not None:
            value["tool_calls"] = self.called(calls)
        if result is not None:
            value["tool_call_id"] = result
        return value

    def whole(self, fetched: tuple[Any, ...]) -> Row:
        """A row with all its columns as a line."""
        session, key, _, time, seq, compacted, columns = fetched
        stored, names = orjson.loads(columns), self.profile.columns
        if self.profile.message:
            value = self.spoken(parsed(stored.get(self.profile.message)))
        else:
            value = {"role": stored.get(names.role), "content": self.content(stored.get(names.content))}
            for field, name in (("tool_calls", names.calls), ("tool_call_id", names.result), ("turn_id", names.turn)):
                if stored.get(name) is not None:
                    value[field] = parsed(stored[name])
            own = {names.key, names.session, names.time, names.seq, names.role, names.content, names.calls}
            own |= {names.result, names.turn}
            value |= {name: kept for name, kept in stored.items() if name not in own and kept is not None}
        return self.row(session, key, time, seq, compacted, value)

    def row(
        self,
        session: str,
        key: str,
        time: int | str | None,
        seq: int | None,
        compacted: str | None,
        value: dict[str, Any],
    ) -> Row:
        """The line of a message, with its id and its time."""
        line = {"id": key, **{name: kept for name, kept in value.items() if name != "id"}}
        moment = milliseconds_of(time, self.clock)
        if moment is not None:
            line["timestamp"] = moment
        raw = orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE)
        table = self.profile.entries
        return Row(session, None, 0, raw, table=table, key=key, time=time, seq=seq, compacted=compacted)

    def content(self, value: Any) -> Any:
        """The content of a column; text that holds calls or results in JSON is read where they may lie there."""
        found = structured(parsed(value)) if self.looks_inside else None
        return value if found is None else found

    def called(self, calls: str) -> Any:
        """Calls as a line has them."""
        value = json_or_none(calls)
        if calls.startswith(IDS) and isinstance(value, list):
            return [{"id": each} for each in value]
        return self.spelled(value)

    def spelled(self, value: Any) -> Any:
        """Calls with their parts under the names that JARVIS has for them."""
        paths = self.profile.paths
        if not self.profile.message or not isinstance(value, list):
            return value
        names = {paths.id: "id", paths.name: "name", paths.arguments: "arguments"}
        return [
            {names.get(name, name): kept for name, kept in call.items()} if isinstance(call, dict) else call
            for call in value
        ]

    def spoken(self, stored: Any) -> dict[str, Any]:
        """The message of a column that holds all of it."""
        if not isinstance(stored, dict):
            return {"content": stored}
        if self.profile.items:
            return line_of_item(stored)
        paths, value = self.profile.paths, {}
        role = inside(stored, paths.role)
        if role is not None:
            value["role"] = self.profile.roles.get(role, role) if isinstance(role, str) else role
        for name, path in (("content", paths.content), ("tool_call_id", paths.result)):
            kept = inside(stored, path)
            if kept is not None:
                value[name] = kept
        calls = inside(stored, paths.calls)
        return {**value, "tool_calls": self.spelled(calls)} if calls else value


def inside(value: Any, path: str) -> Any:
    """What lies at a path of names; None if nothing does."""
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def json_or_none(text: str) -> Any:
    """The value of a JSON text; None where it is none."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        pass
    try:
        # A number may be larger in a database than any that a line can hold.
        return json.loads(text, parse_int=float)
    except (ValueError, RecursionError):
        return None


def parsed(value: Any) -> Any:
    """A value of a column; JSON that is kept as text is read."""
    found = json_or_none(value) if isinstance(value, str) and value[:1] in {"{", "["} else None
    return value if found is None else found


def structured(value: Any) -> Any:
    """The content where it may hold calls or results; None for text that merely is JSON."""
    if isinstance(value, dict):
        return value if {"tool_calls", "tool_call_id"} & value.keys() else None
    if isinstance(value, list):
        return value if any(isinstance(block, dict) and "type" in block for block in value) else None
    return value
