"""Two small notebooks in which a sample's conversation is written down line by line."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from builders.folder import line

WINTER = 1_768_467_600_000  # 2026-01-15 09:00 UTC, in milliseconds
SPRING = datetime(2026, 3, 10, 9, tzinfo=UTC)


class Dialog:
    """A JARVIS log. Each method adds one line and gives its number; `ids` counts m1, m2 and so on."""

    def __init__(self, first_id: int = 1, time: int = WINTER) -> None:
        self.lines: list[bytes] = []
        self.next_id = first_id
        self.time = time

    def raw(self, content: bytes) -> int:
        """Add bytes as they are."""
        self.lines.append(content)
        return len(self.lines)

    def record(self, **fields: Any) -> int:
        """Add a record with the next id and the next time."""
        identity = f"m{self.next_id}"
        self.next_id += 1
        self.time += 4_000
        return self.raw(line({"id": identity, **fields, "timestamp": self.time}))

    def user(self, text: Any, **more: Any) -> int:
        """Something that the user says."""
        return self.record(role="user", content=text, **more)

    def answer(self, text: Any, *calls: dict[str, Any], **more: Any) -> int:
        """Something that the agent says, and the tools that it calls."""
        extra = {"tool_calls": list(calls)} if calls else {}
        return self.record(role="assistant", content=text, **extra, **more)

    def result(self, call_id: Any, text: str, **more: Any) -> int:
        """What a tool answers."""
        return self.record(role="tool", tool_call_id=call_id, content=text, **more)

    def replace(self, number: int, old: bytes, new: bytes) -> None:
        """Damage the line `number`: its bytes `old`, which must be there, become `new`."""
        before = self.lines[number - 1]
        if old not in before:
            raise ValueError(f"line {number} does not hold {old!r}")
        self.lines[number - 1] = before.replace(old, new, 1)


def call(call_id: Any, name: str, **arguments: Any) -> dict[str, Any]:
    """A call as JARVIS stores it."""
    return {"id": call_id, "name": name, "arguments": arguments}


def openai_call(call_id: str, name: str, **arguments: Any) -> dict[str, Any]:
    """A call in the nested form of OpenAI, its arguments as JSON text."""
    text = json.dumps(arguments, ensure_ascii=False)
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}


class Transcript:
    """A Claude Code transcript. Each method adds one line, hung on the last one, and gives its uuid."""

    def __init__(self, session: str, cwd: str = "/home/mina/garden", agent: str | None = None) -> None:
        self.session = session
        self.cwd = cwd
        self.agent = agent
        self.lines: list[bytes] = []
        self.last: str | None = None
        self.count = 0
        self.time = SPRING

    def uuid(self, number: int) -> str:
        """The uuid of the record that was made as the `number`-th."""
        return f"{self.session[:8]}-0000-4000-9000-{number:012d}"

    def bare(self, **fields: Any) -> None:
        """Add a line that is in no chain, such as a title."""
        self.lines.append(line({**fields, "sessionId": self.session}))

    def node(self, kind: str, parent: str | None = "last", **fields: Any) -> str:
        """Add a record to the chain; `parent` None makes it a root."""
        self.count += 1
        self.time += timedelta(seconds=3)
        identity = self.uuid(self.count)
        envelope = {
            "parentUuid": self.last if parent == "last" else parent,
            "isSidechain": self.agent is not None,
            "userType": "external",
            "cwd": self.cwd,
            "sessionId": self.session,
            "version": "2.1.100",
            "gitBranch": "main",
            "type": kind,
            **fields,
            "uuid": identity,
            "timestamp": self.time.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        }
        self.lines.append(line(envelope | ({"agentId": self.agent} if self.agent else {})))
        self.last = identity
        return identity

    def user(self, text: Any, parent: str | None = "last", **more: Any) -> str:
        """A prompt."""
        return self.node("user", parent, message={"role": "user", "content": text}, **more)

    def block(self, answer: str, block: dict[str, Any], parent: str | None = "last") -> str:
        """One content block of the answer `answer` (its message id)."""
        stop = "tool_use" if block["type"] == "tool_use" else "end_turn"
        message = {"id": answer, "type": "message", "role": "assistant", "model": "claude-opus-4-8"}
        usage = {"input_tokens": 10, "output_tokens": 5}
        message |= {"content": [block], "stop_reason": stop, "stop_sequence": None, "usage": usage}
        return self.node("assistant", parent, message=message, requestId=f"req_{answer}")

    def say(self, answer: str, text: str, parent: str | None = "last") -> str:
        """A text block."""
        return self.block(answer, {"type": "text", "text": text}, parent)

    def call(self, answer: str, call_id: str, command: str, parent: str | None = "last") -> str:
        """A tool call."""
        use = {"type": "tool_use", "id": call_id, "name": "Bash", "input": {"command": command}}
        return self.block(answer, use, parent)

    def result(self, call_id: str, text: str, parent: str | None = "last") -> str:
        """The result of a tool call."""
        block = {"type": "tool_result", "tool_use_id": call_id, "content": text, "is_error": False}
        return self.node("user", parent, message={"role": "user", "content": [block]}, toolUseResult=text)
