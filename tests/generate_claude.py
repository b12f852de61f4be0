"""A seeded generator of healthy Claude Code transcripts."""

from __future__ import annotations

import os
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.generate import START, Json, encode, phrase

SESSION = "12345678-0000-4000-8000-000000000001"
PROJECT = "projects/-home-mina-garden"


class ClaudeWriter:
    """Writes a healthy transcript turn by turn; `lines` is what was written so far, `leaf` the record to hang on.

    With `marks` it also writes compactions, rewinds, side chains, progress, attachments and unknown types.
    """

    def __init__(self, rng: random.Random, *, marks: bool = True) -> None:
        self.rng = rng
        self.marks = marks
        self.lines: list[bytes] = []
        self.leaf: str | None = None
        self.count = 0
        self.answers = 0
        self.time = START

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def bare(self, **fields: Any) -> None:
        """Append a record that stands in no chain."""
        self.lines.append(encode({**fields, "sessionId": SESSION}))

    def node(self, kind: str, parent: str | None, *, agent: str | None = None, **fields: Any) -> str:
        """Append a record of the tree; give its uuid."""
        self.count += 1
        self.time += 1 + self.rng.randrange(4000)
        identity = f"{self.count:08x}-0000-4000-8000-{self.rng.randrange(16**12):012x}"
        stamp = datetime.fromtimestamp(self.time / 1000, UTC).isoformat(timespec="milliseconds")
        head = {"parentUuid": parent, "isSidechain": agent is not None, "cwd": "/home/mina/garden"}
        value = {**head, "sessionId": SESSION, "version": "2.1.100", "type": kind, **fields}
        value |= {"uuid": identity, "timestamp": stamp.replace("+00:00", "Z")}
        self.lines.append(encode(value | ({"agentId": agent} if agent else {}), ascii_only=self.chance(0.2)))
        return identity

    def chain(self, kind: str, **fields: Any) -> str:
        """Append a record behind the leaf and make it the leaf."""
        self.leaf = self.node(kind, self.leaf, **fields)
        return self.leaf

    def prompt(self, **more: Any) -> str:
        """Something that the user types."""
        return self.chain("user", message={"role": "user", "content": phrase(self.rng)}, **more)

    def answer_id(self) -> str:
        self.answers += 1
        return f"msg_{self.answers:06d}"

    def block(self, answer: str, block: Json, stop: str = "end_turn", **more: Any) -> str:
        """One block of an answer, behind the leaf."""
        message: Json = {"id": answer, "type": "message", "role": "assistant", "model": "m", "content": [block]}
        message |= {"stop_reason": stop, "usage": {"input_tokens": 3, "output_tokens": 5}}
        return self.chain("assistant", message=message, requestId=f"req_{answer}", **more)

    def say(self, answer: str | None = None, **more: Any) -> str:
        """A text block."""
        return self.block(answer or self.answer_id(), {"type": "text", "text": phrase(self.rng)}, **more)

    def call(self, answer: str, call_id: str) -> str:
        """A call block."""
        use = {"type": "tool_use", "id": call_id, "name": "Bash", "input": {"command": phrase(self.rng)}}
        return self.block(answer, use, "tool_use")

    def result(self, call_id: str, parent: str | None, **more: Any) -> str:
        """The result of a call as a record of its own; it becomes the leaf."""
        block = {"type": "tool_result", "tool_use_id": call_id, "content": phrase(self.rng), "is_error": False}
        self.leaf = self.node("user", parent, message={"role": "user", "content": [block]}, toolUseResult="x", **more)
        return self.leaf

    def call_id(self) -> str:
        """An id as the API makes them; no two are alike."""
        return f"toolu_{self.rng.randrange(16**10):010x}{len(self.lines)}"

    def round(self) -> None:
        """One answer of several lines, with calls and their results as siblings or as a chain."""
        answer = self.answer_id()
        if self.chance(0.3):
            self.block(answer, {"type": "thinking", "thinking": phrase(self.rng), "signature": "c2ln"}, "tool_use")
        if self.chance(0.4):
            self.block(answer, {"type": "text", "text": phrase(self.rng)}, "tool_use")
        calls = {name: self.call(answer, name) for name in (self.call_id() for _ in range(self.rng.randint(1, 4)))}
        siblings = self.chance(0.6)
        names = list(calls) if siblings else self.rng.sample(list(calls), len(calls))
        for name in names:
            self.result(name, calls[name] if siblings else self.leaf)
            if self.marks and self.chance(0.1):
                self.chain("progress", data={"type": "hook_progress"}, toolUseID=name, parentToolUseID=name)

    def turn(self) -> None:
        """A prompt and everything up to the next one."""
        before = self.leaf
        self.prompt()
        for _ in range(self.rng.randrange(3)):
            self.round()
            if self.marks:
                self.aside()
        self.say()
        if not self.marks:
            return
        if self.chance(0.2):
            self.chain("system", subtype="turn_duration", durationMs=self.rng.randrange(9000))
        if before is not None and self.chance(0.1):
            self.leaf = before
            self.prompt()
            self.say()
        if self.chance(0.1):
            self.compact()

    def aside(self) -> None:
        """Records that are no message, between two answers."""
        if self.chance(0.2):
            self.chain("attachment", attachment={"type": "hook_success", "hookName": phrase(self.rng)})
        if self.chance(0.1):
            self.chain("orchard-note", note=phrase(self.rng))
        if self.chance(0.2):
            self.bare(type="file-history-snapshot", messageId=self.leaf, snapshot={}, isSnapshotUpdate=False)
        if self.chance(0.1):
            self.sidechain()

    def sidechain(self) -> None:
        """A sub-agent's thread inside the main file, as old versions wrote it."""
        agent, call_id = f"a{self.count}", self.call_id()
        before, self.leaf = self.leaf, None
        self.prompt(agent=agent)
        answer = self.answer_id()
        use = {"type": "tool_use", "id": call_id, "name": "Bash", "input": {}}
        self.block(answer, use, "tool_use", agent=agent)
        self.result(call_id, self.leaf, agent=agent)
        self.say(agent=agent)
        self.leaf = before

    def compact(self) -> None:
        """A compaction with its summary."""
        fields = {"subtype": "compact_boundary", "content": "Conversation compacted", "logicalParentUuid": self.leaf}
        self.leaf = self.node("system", None, **fields, compactMetadata={"trigger": "auto", "preTokens": 9})
        self.prompt(isCompactSummary=True, isVisibleInTranscriptOnly=self.chance(0.5))

    def turns(self, amount: int) -> ClaudeWriter:
        """Write so many turns and give the writer."""
        for _ in range(amount):
            self.turn()
        return self

    def close(self) -> None:
        """The notes that stand at the end of many transcripts."""
        if self.chance(0.3):
            self.bare(type="ai-title", aiTitle=phrase(self.rng))
        if self.chance(0.3):
            self.bare(type="last-prompt", leafUuid=self.leaf, lastPrompt=phrase(self.rng))


def write_claude(folder: Path, lines: list[bytes]) -> None:
    """Write a transcript into a store of one project."""
    path = folder / PROJECT / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(lines))
    os.utime(path, (START / 1000, START / 1000))
