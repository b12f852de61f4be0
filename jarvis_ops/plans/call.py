"""Calls as they stand in their records: where, under which id, and how to give them another."""

from __future__ import annotations

import hashlib
import json
from typing import Any, NamedTuple

from jarvis_ops.model.message import ToolCall
from jarvis_ops.plans.lines import Change, Line
from jarvis_ops.plans.results import member
from jarvis_ops.plans.splice import element, value_at, value_span
from jarvis_ops.plans.style import style_of
from jarvis_ops.rules.pairing import UNUSABLE

# The lists that may hold the calls of a record, the same call perhaps in two of them.
CALL_LISTS = ("content", "tool_calls", "content.tool_calls")


class Call(NamedTuple):
    """A call: its line and the path inside it."""

    line: Line
    path: str

    @property
    def value(self) -> dict[str, Any]:
        """The object of the call."""
        value: dict[str, Any] = value_at(self.line.value, self.path)
        return value

    @property
    def inner(self) -> str:
        """The path of the object that holds name and arguments."""
        return f"{self.path}.function" if isinstance(self.value.get("function"), dict) else self.path

    @property
    def name(self) -> Any:
        """The tool's name."""
        return value_at(self.line.value, self.inner).get("name")

    @property
    def said(self) -> tuple[str, str]:
        """What two calls have in common that are the same: the name and the arguments, as JSON text."""
        held = value_at(self.line.value, self.inner)
        value = held.get("input", held.get("arguments"))
        return json.dumps(self.name), json.dumps(parsed(value), sort_keys=True)


def usable(call_id: str | None) -> bool:
    """Whether an id says anything."""
    return call_id is not None and call_id.strip() not in UNUSABLE


def twins(call: Call) -> list[ToolCall]:
    """The calls of a record that have the id of `call`, itself among them, in order."""
    mine = next(one.id for one in call.line.message.calls if one.path == call.path)
    return [one for one in call.line.message.calls if one.id == mine]


def places(call: Call) -> list[str]:
    """The paths of a call, which a record may hold in two forms: the one as often met in each list is the same."""
    own, index = element(call.path)
    listed = value_at(call.line.value, own)
    mine = call.value.get("id")
    number = sum(1 for other in listed[:index] if isinstance(other, dict) and same_id(other.get("id"), mine))
    paths = [call.path]
    for other in CALL_LISTS:
        if other != own:
            paths += calls_in(call.line.value, other, mine)[number : number + 1]
    return paths


def calls_in(value: Any, path: str, mine: Any) -> list[str]:
    """The paths of the calls in the list at `path`, if there is one, that have the id `mine`."""
    try:
        listed = value_at(value, path)
    except (KeyError, IndexError, TypeError):
        return []
    if not isinstance(listed, list):
        return []
    return [
        f"{path}[{number}]"
        for number, one in enumerate(listed)
        if isinstance(one, dict)
        and same_id(one.get("id"), mine)
        and (path != "content" or str(one.get("type")).endswith("tool_use"))
    ]


def same_id(one: Any, other: Any) -> bool:
    """Whether two stored ids are the same; an old store may have a number in one place and text in another."""
    return one == other or (one is not None and other is not None and str(one) == str(other))


def new_id(call: Call) -> str:
    """Another id for a call, always the same for the same call."""
    old = call.value.get("id")
    digest = hashlib.sha256(call.line.raw + call.path.encode()).hexdigest()
    stem = str(old)[:48] if old is not None and usable(str(old)) else "call"
    return f"{stem}_{digest[:12]}"


def given_id(line: Line, path: str, encoded: bytes) -> Change:
    """The change that gives the call at `path` another id."""
    if "id" not in value_at(line.value, path):
        return member(line, path, "id", encoded, style_of(line.raw))
    return Change(line, *value_span(line.raw, f"{path}.id"), encoded)


def parsed(value: Any) -> Any:
    """A value, or the value of the JSON text that it is."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
