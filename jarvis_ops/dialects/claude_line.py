"""A typed reading of Claude Code's lines: what a verdict needs is made, all else is checked and skipped."""

from __future__ import annotations

from datetime import datetime

import msgspec

from jarvis_ops.model.message import Message, ToolCall, ToolResult

OBJECT = ord("{")
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


decode_line = msgspec.json.Decoder(Line).decode


def quick_message(raw: bytes) -> Message | None:  # noqa: C901 - one pass over the blocks, for speed
    """The Message of a plain user or assistant line; None for all that wants the full reading.

    The bytes must be known to be UTF-8 without risky escapes. Raises what msgspec raises.
    """
    line = decode_line(raw)
    inner, kind = line.message, line.type
    if inner is None or inner.content is None or kind not in {"user", "assistant"}:
        return None
    calls: list[ToolCall] = []
    results: list[ToolResult] = []
    other = True
    if isinstance(inner.content, list):
        other = False
        if len(inner.content) > len(PATHS):
            return None
        for block, path in zip(inner.content, PATHS, strict=False):
            name = block.type
            if name == "tool_use" or name == "server_tool_use":  # noqa: PLR1714 - faster than a set of two
                if memoryview(block.input)[0] != OBJECT:
                    return None
                calls.append(ToolCall(block.id, path, "", name != "tool_use"))
            elif name.endswith("tool_result"):
                results.append(ToolResult(block.tool_use_id, path, name != "tool_result"))
            else:
                other = True
    message = Message(
        type=kind,
        role=kind,
        id=line.uuid,
        parent_id=line.parent_uuid,
        session_id=line.session_id,
        time=int(datetime.fromisoformat(line.timestamp).timestamp() * 1000) if line.timestamp else None,
        cwd=line.cwd,
        results=tuple(results),
        chain=(line.agent_id or "sidechain") if line.is_sidechain else None,
        subtype=line.subtype,
    )
    if kind == "assistant":
        message.calls = tuple(calls)
        message.group_id = inner.id
        message.stop = inner.stop_reason
        message.sent = not line.is_api_error_message
        return message
    local = line.is_meta or (isinstance(inner.content, str) and inner.content.startswith(LOCAL_OUTPUT))
    if local:
        message.subtype = "local_command"
    if line.is_compact_summary:
        message.subtype = "compact_summary"
    message.sent = not line.is_visible_in_transcript_only
    message.typed = other and not results and not message.subtype
    return message
