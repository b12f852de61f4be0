"""JARVIS and Pippa: one flat JSON object a message, markers between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jarvis_ops.dialects.blocks import argument_fault, kind_of, milliseconds, read_blocks, text
from jarvis_ops.dialects.envelope import OBJECT, PLAIN, decode_envelope
from jarvis_ops.model.message import Message, ToolCall, ToolResult

# Roles as they are stored, and what they mean.
ROLES = {
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "tool_result": "tool",
    "toolResult": "tool",
    "system": "system",
    "developer": "system",
}
MARKER_PREFIXES = ("pippa_", "turn_")
SEALED = "pippa_segment_sealed"
COMPACTION = "pippa_compaction"
HEALED = "pippa_segment_healed"


class Jarvis:
    """Reads flat messages with `tool_calls` in flat or OpenAI form, and Anthropic blocks."""

    name = "jarvis"
    tree = False

    def sniff(self, record: Mapping[str, Any]) -> bool:
        """A known role at the top level, or one of our markers; goose's messages (`created`, no id) are not ours."""
        if is_marker(record):
            return True
        return (
            text(record.get("role")) in ROLES
            and "uuid" not in record
            and not ("created" in record and "timestamp" not in record)
        )

    def is_record(self, value: Mapping[str, Any]) -> bool:
        """A message with something in it, or a marker: a content block or a nested call is neither."""
        if is_marker(value):
            return True
        return text(value.get("role")) in ROLES and any(
            key in value for key in ("content", "tool_calls", "tool_call_id")
        )

    def good_id(self, call_id: str) -> bool:  # noqa: ARG002 - which provider a JARVIS talks to is its own choice
        """Any id will do: the store belongs to no one provider."""
        return True

    def unique_id(self, call_id: str) -> bool:  # noqa: ARG002 - as above
        """Never: models that count their calls anew in each turn are legal here."""
        return False

    def quick(self, raw: bytes) -> Message | None:
        """A message of text with calls in flat or OpenAI form."""
        line = decode_envelope(raw)
        role = ROLES.get(line.role or "")
        if role is None or line.type is not None or memoryview(line.content)[0] not in PLAIN:
            return None
        calls: list[ToolCall] = []
        if line.tool_calls and role == "assistant":
            for number, call in enumerate(line.tool_calls):
                function = call.function or call
                if memoryview(function.arguments)[0] != OBJECT:
                    return None
                calls.append(ToolCall(call.id, f"tool_calls[{number}]"))
        if role == "tool" and line.tool_call_id is None:
            return None
        return Message(
            role=role,
            id=line.id,
            turn_id=line.turn_id,
            time=milliseconds(line.timestamp),
            calls=tuple(calls),
            results=(ToolResult(line.tool_call_id, ""),) if role == "tool" else (),
            typed=role == "user",
            proactive=line.proactive,
        )

    def decode(self, record: Mapping[str, Any]) -> Message:
        """The message or marker of one line."""
        role = record.get("role")
        if role is None or is_marker(record):
            return decode_marker(record)
        message = Message(
            role=ROLES.get(role, "system") if isinstance(role, str) else "system",
            id=identity(record.get("id")),
            turn_id=identity(record.get("turn_id")),
            time=milliseconds(record.get("timestamp")),
            proactive=record.get("proactive") is True,
        )
        if not isinstance(role, str):
            message.fault = f"role is {kind_of(role)}"
        read_calls(record, message)
        message.typed = message.role == "user" and not message.results
        return message


def is_marker(record: Mapping[str, Any]) -> bool:
    """Whether a record is one of the markers that stand between messages."""
    kind = record.get("type")
    return isinstance(kind, str) and kind.startswith(MARKER_PREFIXES)


def decode_marker(record: Mapping[str, Any]) -> Message:
    """A record without a role: a marker when it names its type, else of a wrong shape."""
    kind = record.get("type")
    fault = "" if isinstance(kind, str) else "neither a role nor a type"
    return Message(
        type=kind if isinstance(kind, str) else "",
        id=identity(record.get("id")),
        turn_id=identity(record.get("turn_id")),
        time=milliseconds(record.get("timestamp", record.get("compacted_at"))),
        sent=False,
        fault=fault,
        marker=dict(record),
    )


def identity(value: object) -> str | None:
    """An id as text; numbers count, since old stores numbered their rows."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return text(value)


def read_calls(record: Mapping[str, Any], message: Message) -> None:
    """Find the calls and results of a message, wherever this version of the agent put them."""
    content = record.get("content")
    calls: list[ToolCall] = []
    results: list[ToolResult] = []
    if isinstance(content, list):
        calls, results, _ = read_blocks(content, "content")
    elif isinstance(content, dict):
        # A database row keeps what belongs to the message inside its content.
        listed(content.get("tool_calls"), "content.tool_calls", calls, message)
        if "tool_call_id" in content:
            results.append(ToolResult(identity(content.get("tool_call_id")), "content"))
    elif content is not None and not isinstance(content, str):
        message.fault = f"content is {kind_of(content)}"
    listed(record.get("tool_calls"), "tool_calls", calls, message)
    if message.role == "tool" and not results:
        key = "tool_call_id" if "tool_call_id" in record else "toolCallId"
        results.append(ToolResult(identity(record.get(key)), ""))
    message.calls = tuple(calls) if message.role == "assistant" else ()
    message.results = tuple(results) if message.role != "system" else ()


def listed(value: object, path: str, calls: list[ToolCall], message: Message) -> None:
    """Read a `tool_calls` list of flat or OpenAI calls into `calls`.

    A message may hold its calls in two forms; a call that is there already is the same one.
    """
    known = {call.id for call in calls}
    if value is None:
        return
    if not isinstance(value, list):
        message.fault = f"{path} is {kind_of(value)}"
        return
    for number, call in enumerate(value):
        if not isinstance(call, dict):
            message.fault = f"{path}[{number}] is {kind_of(call)}"
            continue
        inner = call.get("function")
        function = inner if isinstance(inner, dict) else call
        call_id = identity(call.get("id"))
        if call_id is None or call_id not in known:
            calls.append(ToolCall(call_id, f"{path}[{number}]", argument_fault(function, "arguments")))
