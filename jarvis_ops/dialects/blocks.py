"""Content blocks of the Anthropic message form, which several agents store as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import orjson

from jarvis_ops.model.message import ToolCall, ToolResult

# A time stamp below this is in seconds: in milliseconds it would lie before March 1973.
SECONDS_BELOW = 100_000_000_000


def read_blocks(content: Sequence[Any], path: str) -> tuple[list[ToolCall], list[ToolResult], bool]:
    """The calls and results in a list of blocks at `path`, and whether anything else is there."""
    calls: list[ToolCall] = []
    results: list[ToolResult] = []
    other = False
    for number, block in enumerate(content):
        kind = text(block.get("type")) if isinstance(block, dict) else None
        where = f"{path}[{number}]"
        if kind is not None and kind.endswith("tool_use"):
            fault = argument_fault(block, "input")
            calls.append(ToolCall(text(block.get("id")), where, fault, kind != "tool_use"))
        elif kind is not None and kind.endswith("tool_result"):
            results.append(ToolResult(text(block.get("tool_use_id")), where, kind != "tool_result"))
        else:
            other = True
    return calls, results, other


def argument_fault(call: Mapping[str, Any], key: str) -> str:
    """What keeps the arguments of a call from being one JSON object; "" when they are one.

    JSON text of an object counts as one, and absent arguments as none, save for `input`: there the
    provider demands an object itself.
    """
    value = call.get(key)
    if type(value) is dict:
        return ""
    if isinstance(value, str) and key != "input":
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            return "cut off or no JSON"
        return "" if isinstance(value, dict) else f"JSON text of {kind_of(value)}"
    if key not in call:
        return "missing" if key == "input" else ""
    return kind_of(value)


def kind_of(value: object) -> str:
    """The JSON name of a value's type, with its article."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    return "a string" if isinstance(value, str) else "a list" if isinstance(value, list) else "an object"


def text(value: object) -> str | None:
    """A value that must be text, or None."""
    return value if isinstance(value, str) else None


def milliseconds(value: object) -> int | None:
    """A stored time as milliseconds since the epoch: a number in ms or s, or ISO 8601 text (UTC without a zone)."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        if not -1e18 < value < 1e18:
            return None
        return int(value * 1000 if abs(value) < SECONDS_BELOW else value)
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
            return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
        except (ValueError, OverflowError):
            return None
    return None
