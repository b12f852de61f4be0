"""The result that is put in where none was recorded, in the form and style of its neighbours."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, NamedTuple

from jarvis_ops.plans.lines import Line, Lines
from jarvis_ops.plans.placeholders import MARK, TEXT
from jarvis_ops.plans.results import COPIED, Result, made_id
from jarvis_ops.plans.splice import value_at
from jarvis_ops.plans.style import style_of

# A neighbour to look like is sought among so many records before the call.
NEAR = 40
BLOCK, ROW, FLAT = "block", "row", "flat"
ORDER = (
    "id", "role", "type", "tool_call_id", "toolCallId", "tool_use_id", "name", "content", "text", "is_error",
    "timestamp", *COPIED,
)  # fmt: skip


class Made(NamedTuple):
    """A new line, and the id of its record if it has one."""

    raw: bytes
    id: str | None


def made_result(lines: Lines, answer: Line, path: str, end_like: bytes) -> Made:
    """A result for the call at `path` of an answer; its line ends as `end_like` does."""
    like = neighbour(lines, answer, path)
    call = value_at(answer.value, path)
    form = form_of(like.path) if like is not None else form_of_call(path)
    fields = envelope(answer, path, like)
    if form == BLOCK:
        block = {"type": "tool_result", "tool_use_id": call.get("id"), "content": TEXT, "is_error": True}
        fields["content"] = [ordered(block, like.value if like is not None else {})]
    elif form == ROW:
        fields |= {"content": {"text": TEXT, "tool_call_id": call.get("id")}, "is_error": True}
    else:
        fields |= flat(call, like)
    record = ordered(fields, like.line.value if like is not None else {})
    style = style_of(*((like.line.raw, answer.raw) if like is not None else (answer.raw,)))
    end = b"\r\n" if end_like.endswith(b"\r\n") else b"\n"
    name = record.get("id")
    return Made(style.encoded({**record, "jarvis_ops": MARK}) + end, name if isinstance(name, str) else None)


def envelope(answer: Line, path: str, like: Result | None) -> dict[str, Any]:
    """What every form of result has: an id and a time if its call has them, a role, the turn."""
    role = like.line.value["role"] if like is not None else "user" if form_of_call(path) == BLOCK else "tool"
    fields: dict[str, Any] = {"role": role}
    if "id" in answer.value:
        fields["id"] = made_id(answer, path)
    fields |= {key: answer.value[key] for key in ("timestamp", *COPIED) if key in answer.value}
    return fields


def flat(call: Mapping[str, Any], like: Result | None) -> dict[str, Any]:
    """What belongs to a result that is a record of its own."""
    known = like.line.value if like is not None else {}
    inner = call.get("function")
    name = (inner if isinstance(inner, dict) else call).get("name")
    key = "toolCallId" if "toolCallId" in known and "tool_call_id" not in known else "tool_call_id"
    in_blocks = isinstance(known.get("content"), list)
    fields = {
        key: call.get("id"),
        "content": [{"type": "text", "text": TEXT}] if in_blocks else TEXT,
        "is_error": True,
    }
    return fields | ({"name": name} if isinstance(name, str) and (like is None or "name" in known) else {})


def ordered(fields: Mapping[str, Any], like: Mapping[str, Any]) -> dict[str, Any]:
    """Fields in the order of a neighbour's; what it lacks stands in the usual order behind."""
    keys = [key for key in like if key in fields]
    keys += [key for key in ORDER if key in fields and key not in keys]
    return {key: fields[key] for key in keys}


def neighbour(lines: Lines, answer: Line, path: str) -> Result | None:
    """A result to look like: another of this answer, else the nearest one before of the form that the call asks for."""
    own = {call.id for call in answer.message.calls}
    for line in lines.behind(answer):
        if not line.message.results:
            break
        for result in line.message.results:
            if result.id in own and not result.server:
                return Result(line, result.path)
    for line in itertools.islice(lines.before(answer), NEAR):
        for result in line.message.results if line.message.role != "assistant" else ():
            if not result.server and form_of(result.path) == form_of_call(path):
                return Result(line, result.path)
    return None


def form_of(result_path: str) -> str:
    """The form of a result."""
    return BLOCK if result_path.endswith("]") else ROW if result_path == "content" else FLAT


def form_of_call(path: str) -> str:
    """The form of result that goes with a call."""
    return BLOCK if path.startswith("content[") else ROW if path.startswith("content.") else FLAT
