"""What all dialects have in common, once decoded."""

from __future__ import annotations

from typing import Any

import msgspec


class ToolCall(msgspec.Struct, frozen=True, gc=False):
    """A tool call inside an assistant message.

    `id` is None when the stored id is missing or no text. `fault` says what is wrong with the arguments
    ("" when nothing is). `server` calls are answered inside the assistant message by the provider.
    """

    id: str | None
    path: str
    fault: str = ""
    server: bool = False


class ToolResult(msgspec.Struct, frozen=True, gc=False):
    """The answer to a tool call, linked by its id (None when missing or no text)."""

    id: str | None
    path: str
    server: bool = False


class Message(msgspec.Struct, kw_only=True, gc=False):
    """One decoded record.

    `role` is user, assistant, tool, system, or "" for a record that is no message (`type` then says what it
    is and `marker` holds its fields). `group_id` joins records that are one answer; `chain` names the thread
    of a sub-agent inside a shared file; `time` is milliseconds since the epoch. `sent` is False when the
    agent never sends the record to its model. `typed` marks a prompt of the user's own. `fault` says what
    is wrong with the record's shape ("" when nothing is).
    """

    type: str = ""
    subtype: str = ""
    role: str = ""
    id: str | None = None
    parent_id: str | None = None
    group_id: str | None = None
    turn_id: str | None = None
    session_id: str | None = None
    chain: str | None = None
    time: int | None = None
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()
    sent: bool = True
    typed: bool = False
    proactive: bool = False
    stop: str | None = None
    cwd: str | None = None
    attachments: tuple[str, ...] = ()
    fault: str = ""
    marker: dict[str, Any] | None = None
