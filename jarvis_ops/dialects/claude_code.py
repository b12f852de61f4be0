"""Claude Code: one content block a line, joined by `message.id`, ordered by a chain of parents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from jarvis_ops.dialects.blocks import kind_of, milliseconds, read_blocks, text
from jarvis_ops.dialects.claude_line import LOCAL_OUTPUT, NAMELESS, quick_message
from jarvis_ops.model.message import Message

SIDE_TYPES = frozenset(
    {
        "summary", "file-history-snapshot", "file-history-delta", "queue-operation", "last-prompt", "ai-title",
        "custom-title", "agent-name", "agent-setting", "tag", "mode", "permission-mode", "pr-link", "progress",
        "attachment",
    }
)  # fmt: skip
OWNERS = ("sessionId", "leafUuid", "messageId")
GOOD_ID = re.compile(r"[A-Za-z0-9_-]+")
SAVED_OUTPUT = re.compile(r"[^\s\"'<>`]*tool-results[/\\][^\s\"'<>`]+")


class ClaudeCode:
    """Reads Claude Code transcripts and those of its sub-agents; record types that it does not know are kept."""

    name = "claude_code"
    tree = True

    def sniff(self, record: Mapping[str, Any]) -> bool:
        """The envelope of a conversation record (but not Qwen's, whose messages have parts), or a known side record."""
        kind = record.get("type")
        if not isinstance(kind, str):
            return False
        if "uuid" in record and "parentUuid" in record:
            message = record.get("message")
            return "systemPayload" not in record and not (isinstance(message, dict) and "parts" in message)
        return kind in SIDE_TYPES and any(key in record for key in OWNERS)

    def is_record(self, value: Mapping[str, Any]) -> bool:
        """A typed object with an id of its own or an owner: no block, no usage, no tool input has both."""
        return isinstance(value.get("type"), str) and any(isinstance(value.get(key), str) for key in ("uuid", *OWNERS))

    def good_id(self, call_id: str) -> bool:
        """The pattern that the Anthropic API demands of call ids (ANT-7)."""
        return GOOD_ID.fullmatch(call_id) is not None

    def unique_id(self, call_id: str) -> bool:
        """Ids that the API made are unique in a whole history (ANT-6)."""
        return call_id.startswith("toolu_")

    def quick(self, raw: bytes) -> Message | None:
        """A user or assistant line of usual form; one that names saved outputs or a tool's addition wants more."""
        if b"persisted" in raw or b"sourceToolUseID" in raw:
            return None
        return quick_message(raw)

    def decode(self, record: Mapping[str, Any]) -> Message:
        """The Message of one line; only user, assistant and local command records count as sent."""
        kind = text(record.get("type"))
        message = Message(
            type=kind or "",
            subtype=text(record.get("subtype")) or "",
            id=text(record.get("uuid")),
            parent_id=text(record.get("parentUuid")),
            session_id=text(record.get("sessionId")),
            time=milliseconds(record.get("timestamp")),
            cwd=text(record.get("cwd")),
            sent=False,
        )
        if record.get("isSidechain") is True:
            message.chain = text(record.get("agentId")) or NAMELESS
        if kind in {"user", "assistant"}:
            decode_message(record, message)
        elif kind == "system":
            message.role = "system"
            message.sent = message.subtype == "local_command"
            if message.subtype == "compact_boundary":
                message.marker = dict(record)
        elif kind in SIDE_TYPES or message.id is None:
            message.marker = {key: record[key] for key in ("leafUuid", "explicit") if key in record}
        if kind is None:
            message.fault = "no type"
        return message


def decode_message(record: Mapping[str, Any], message: Message) -> None:
    """Fill in what a user or assistant record holds."""
    inner = record.get("message")
    message.role = message.type
    if not isinstance(inner, dict):
        message.fault = f"message is {kind_of(inner)}"
        return
    content = inner.get("content")
    if isinstance(content, list):
        calls, results, other = read_blocks(content, "message.content")
        message.calls, message.results = tuple(calls), tuple(results)
    else:
        other = True
        if content is not None and not isinstance(content, str):
            message.fault = f"message.content is {kind_of(content)}"
    if message.role == "assistant":
        message.group_id = text(inner.get("id"))
        message.stop = text(inner.get("stop_reason"))
        message.sent = record.get("isApiErrorMessage") is not True
        return
    message.calls = ()
    message.sent = record.get("isVisibleInTranscriptOnly") is not True
    local = isinstance(content, str) and content.startswith(LOCAL_OUTPUT)
    if local or record.get("isMeta") is True:
        message.subtype = "local_command"
    if record.get("isMeta") is True and "sourceToolUseID" in record:
        message.sent = False  # what a tool adds to its result; it goes out behind all results
    if record.get("isCompactSummary") is True:
        message.subtype = "compact_summary"
    message.typed = other and not message.results and not message.subtype
    if message.results:
        message.attachments = tuple(saved_outputs(record, content))


def saved_outputs(record: Mapping[str, Any], content: object) -> Iterator[str]:
    """The files that a result names as holding its whole output, as their paths are written."""
    extra = record.get("toolUseResult")
    path = extra.get("persistedOutputPath") if isinstance(extra, dict) else None
    found = [path] if isinstance(path, str) else []
    for block in content if isinstance(content, list) else ():
        inner = block.get("content") if isinstance(block, dict) else None
        for piece in inner if isinstance(inner, list) else (inner,):
            words = piece.get("text") if isinstance(piece, dict) else piece
            if isinstance(words, str) and words.lstrip().startswith("<persisted-output>"):
                found.extend(match.group().rstrip(".,;:)") for match in SAVED_OUTPUT.finditer(words[:4096]))
    yield from dict.fromkeys(found)
