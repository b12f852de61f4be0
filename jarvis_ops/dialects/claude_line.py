"""A typed reading of Claude Code's lines: what a verdict needs is made, all else is checked and skipped."""

from __future__ import annotations

import msgspec

from jarvis_ops.dialects.blocks import argument_fault, milliseconds
from jarvis_ops.model.message import Message, ToolCall, ToolResult

OBJECT = ord("{")
# The thread of a sub-agent whose records do not name it.
NAMELESS = "sidechain"
# How content begins that the agent wrote for a local command.
LOCAL_OUTPUT = ("<local-command-", "<command-name>", "<command-message>")
# The paths of the first blocks, made once: nearly every line has one block.
PATHS = tuple(f"message.content[{number}]" for number in range(64))


class Block(msgspec.Struct, gc=False):
    """One block of content."""

    type: str
    id: str | None = None
    tool_use_id: str | None = None
    input: msgspec.Raw = msgspec.Raw(b"null")


class Inner(msgspec.Struct, gc=False):
    """The message as the provider knows it."""

    id: str | None = None
    content: str | list[Block] | None = None
    stop_reason: str | None = None


class Line(msgspec.Struct, gc=False, rename="camel"):
    """A record of a conversation or of its bookkeeping."""

    type: str
    uuid: str
    parent_uuid: str | None = None
    session_id: str | None = None
    timestamp: str | None = None
    subtype: str = ""
    cwd: str | None = None
    agent_id: str | None = None
    is_sidechain: bool = False
    is_meta: bool = False
    is_compact_summary: bool = False
    is_api_error_message: bool = False
    is_visible_in_transcript_only: bool = False
    message: Inner | None = None


decode = msgspec.json.decode
decode_line = msgspec.json.Decoder(Line).decode


def quick_message(raw: bytes) -> Message | None:
    """The Message of a plain user or assistant line; None for all that wants the full reading.

    The bytes must be known to be UTF-8 without risky escapes. Raises what msgspec raises.
    """
    line = decode_line(raw)
    inner, kind = line.message, line.type
    if inner is None or inner.content is None or kind not in {"user", "assistant"}:
        return None
    message = Message(
        type=kind,
        role=kind,
        id=line.uuid,
        parent_id=line.parent_uuid,
        session_id=line.session_id,
        time=milliseconds(line.timestamp),
        cwd=line.cwd,
        chain=(line.agent_id or NAMELESS) if line.is_sidechain else None,
        subtype=line.subtype,
    )
    other = True
    if isinstance(inner.content, list):
        if len(inner.content) > len(PATHS):
            return None
        other = take_blocks(inner.content, message)
    if kind == "assistant":
        message.group_id = inner.id
        message.stop = inner.stop_reason
        message.sent = not line.is_api_error_message
        return message
    message.calls = ()
    if line.is_meta or (isinstance(inner.content, str) and inner.content.startswith(LOCAL_OUTPUT)):
        message.subtype = "local_command"
    if line.is_compact_summary:
        message.subtype = "compact_summary"
    message.sent = not line.is_visible_in_transcript_only
    message.typed = other and not message.results and not message.subtype
    return message


def take_blocks(blocks: list[Block], message: Message) -> bool:
    """Put the calls and results among the blocks into the message; whether anything else is there."""
    calls: list[ToolCall] = []
    results: list[ToolResult] = []
    other = False
    for block, path in zip(blocks, PATHS, strict=False):
        name = block.type
        if name.endswith("tool_use"):
            fault = (
                "" if memoryview(block.input)[0] == OBJECT else argument_fault({"input": decode(block.input)}, "input")
            )
            calls.append(ToolCall(block.id, path, fault, name != "tool_use"))
        elif name.endswith("tool_result"):
            results.append(ToolResult(block.tool_use_id, path, name != "tool_result"))
        else:
            other = True
    message.calls, message.results = tuple(calls), tuple(results)
    return other
