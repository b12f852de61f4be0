"""Results that are none: what repairs, ours and those of other tools, put in where a result was missing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

# The text of a result that we put in.
TEXT = "No result was recorded for this call. It may or may not have run; check the current state before repeating it."
MARK = {"synthetic": True}

WHOLE = frozenset(
    {
        TEXT,
        "No result provided",
        "aborted",
        "Tool execution aborted",
        "[Tool execution was interrupted]",
        "The tool call was interrupted before a result was produced.",
        "Tool call interrupted by user",
        "Tool result missing from saved history; the previous run likely ended before this tool completed.",
    }
)
# Texts that name the call or go on freely.
PATTERN = re.compile(
    r"\[(?:openclaw|lossless-claw)\] missing tool result in session history;.*"
    r"|\[System: Tool execution skipped/interrupted by user\. No result provided for tool '.*'\.\]"
    r"|Tool call .* was cancelled - another message came in before it could be completed\."
    r"|\[cc-switch:tool-result-unavailab.*",
    re.DOTALL,
)


def is_placeholder(content: Any, *holders: Mapping[str, Any]) -> bool:
    """Whether the content of a result only says that there is none; `holders` are its block and its record.

    Ask only where there is a second result: a tool may well have said `aborted` itself.
    """
    if any(_marked(holder) for holder in holders):
        return True
    text = text_of(content)
    return text is not None and (text.strip() in WHOLE or PATTERN.fullmatch(text.strip()) is not None)


def text_of(content: Any) -> str | None:
    """The text of a result that is nothing but text."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return text_of(content.get("text"))
    if isinstance(content, list):
        texts = [text_of(block) for block in content]
        return "".join(text for text in texts if text is not None) if None not in texts else None
    return None


def _marked(holder: Mapping[str, Any]) -> bool:
    ours, metadata = holder.get("jarvis_ops"), holder.get("metadata")
    return (isinstance(ours, dict) and ours.get("synthetic") is True) or (
        isinstance(metadata, dict) and bool(metadata.get("pydantic_ai_synthesized_tool_return"))
    )
