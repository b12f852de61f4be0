"""Small conversations in the three forms in which calls and results are stored."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

Json = dict[str, Any]
FORMS = ("flat", "openai", "blocks")
TIME = 1_767_225_600_000


def encode(value: Json) -> bytes:
    """One compact line."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def message(number: int, role: str, content: Any = "hello", **more: Any) -> bytes:
    return encode({"id": f"m{number}", "role": role, "content": content, **more, "timestamp": TIME + number})


def call(form: str, call_id: Any, arguments: Any = None, name: str = "look") -> Json:
    given = {"q": "x"} if arguments is None else arguments
    if form == "blocks":
        return {"type": "tool_use", "id": call_id, "name": name, "input": given}
    if form == "openai":
        text = given if isinstance(given, str) else json.dumps(given)
        return {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}
    return {"id": call_id, "name": name, "arguments": given}


def asks(form: str, number: int, *call_ids: Any, **more: Any) -> bytes:
    """An answer with calls."""
    return asks_for(form, number, *(call(form, one) for one in call_ids), **more)


def asks_for(form: str, number: int, *calls: Json, **more: Any) -> bytes:
    if form == "blocks":
        return message(number, "assistant", list(calls), **more)
    return message(number, "assistant", "", tool_calls=list(calls), **more)


def block(call_id: Any, text: Any = "found", **more: Any) -> Json:
    return {"type": "tool_result", "tool_use_id": call_id, "content": text, **more}


def answers(form: str, number: int, call_id: Any, text: Any = "found", **more: Any) -> bytes:
    """A result in a record of its own."""
    if form == "blocks":
        return message(number, "user", [block(call_id, text)], **more)
    return encode(
        {
            "id": f"m{number}",
            "role": "tool",
            "tool_call_id": call_id,
            "content": text,
            **more,
            "timestamp": TIME + number,
        }
    )


def records(content: bytes) -> list[Json]:
    return [json.loads(line) for line in content.split(b"\n") if line.strip()]


def ids(content: bytes) -> list[str]:
    """The ids of all records in order."""
    return [str(record.get("id")) for record in records(content)]


class Answer(NamedTuple):
    """A result as a test looks at it."""

    call_id: Any
    text: Any
    is_error: Any
    record: Json


def results(content: bytes) -> list[Answer]:
    """All results in order, whatever their form."""
    found = []
    for record in records(content):
        inner = record.get("content")
        blocks = [one for one in inner if one.get("type") == "tool_result"] if isinstance(inner, list) else []
        found += [Answer(one.get("tool_use_id"), one["content"], one.get("is_error"), record) for one in blocks]
        if not blocks and record.get("role") == "tool":
            found.append(Answer(record.get("tool_call_id"), inner, record.get("is_error"), record))
    return found


Ask = Callable[..., bytes]
