"""Small stores, written line by line, and what a run over one of them must say."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jarvis_ops.model.finding import Finding
from jarvis_ops.model.settings import Settings
from jarvis_ops.operations.verify import verify
from jarvis_ops.stores.open import open_store

Json = dict[str, Any]
# 2026-03-10T09:00:00Z, and a moment so much later that nothing counts as running.
START = 1_773_133_200_000
NOW = START + 3 * 86_400_000
SESSION = "11111111-2222-4333-8444-555555555555"
PROJECT = "projects/-home-user-demo"
MAIN = f"{PROJECT}/{SESSION}.jsonl"


@dataclass(frozen=True)
class Expected:
    """A finding that must come: rule, severity, file, line, and the id of its call or record."""

    rule: str
    line: int | None = None
    id: str | None = None
    severity: str = "error"
    file: str = MAIN

    def agrees(self, finding: Finding) -> bool:
        """Whether a finding is this one; what is None here is not compared."""
        at = finding.position
        return (
            (finding.rule, finding.severity) == (self.rule, self.severity)
            and at.file.rstrip("/") == self.file.rstrip("/")
            and (self.line is None or at.line == self.line)
            and (self.id is None or self.id in (finding.call_id, finding.record_id))
        )


@dataclass
class Scenario:
    """A store that `write` makes in an empty folder, and all errors and warnings (and the infos named) that it has."""

    name: str
    write: Callable[[Path], None]
    expected: Sequence[Expected] = ()
    settings: Json = field(default_factory=dict)
    never: Sequence[str] = ()


def differences(scenario: Scenario, folder: Path, store: Path | None = None) -> list[str]:
    """Everything in which the verdict on a scenario differs from what must come."""
    scenario.write(folder)
    left = verdict(store or folder, scenario.settings)
    problems = []
    for wanted in scenario.expected:
        match = next((finding for finding in left if wanted.agrees(finding)), None)
        if match is None:
            problems.append(f"missing: {wanted}")
        else:
            left.remove(match)
    return problems + [
        f"too much: {one.rule} {one.severity} {one.position.file}:{one.position.line} {one.detail}"
        for one in left
        if one.severity != "info" or one.rule in scenario.never
    ]


def verdict(store: Path, settings: Json | None = None) -> list[Finding]:
    """All findings of a store."""
    opened = open_store(str(store))
    inventory = opened.inventory()
    chosen = Settings(**{"now": NOW, **(settings or {})})
    outcomes = verify(
        opened, inventory, inventory.conversations, chosen, whole=True, executor=None, advance=lambda _: None
    )
    return [finding for outcome in outcomes for finding in outcome.findings]


def encode(value: Json) -> bytes:
    """One JSON line, compact."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def stamp(milliseconds: int) -> str:
    """A time as Claude Code writes it."""
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Transcript:
    """A Claude Code transcript. Records are numbered by their line; a parent is given by its line, None for a root.

    Left out, the parent is the record of the tree that was written last.
    """

    def __init__(self, session: str = SESSION, prefix: str = "aaaaaaaa", *, agent: str | None = None) -> None:
        self.session = session
        self.prefix = prefix
        self.agent = agent
        self.lines: list[bytes] = []
        self.last: int | None = None
        self.cwd = "/home/user/demo"

    def uuid(self, line: int) -> str:
        """The id of the record that stands (or will stand) in a line."""
        return f"{self.prefix}-0000-4000-8000-{line:012d}"

    def node(self, kind: str, fields: Json, parent: int | str | None = -1, **more: Any) -> int:
        """A record of the tree; its line."""
        line = len(self.lines) + 1
        above = self.last if parent == -1 else parent
        head = {
            "parentUuid": self.uuid(above) if isinstance(above, int) else above,
            "isSidechain": self.agent is not None,
            "userType": "external",
            "cwd": self.cwd,
            "sessionId": self.session,
            "version": "2.1.100",
            "gitBranch": "main",
            "type": kind,
        }
        tail = {"uuid": self.uuid(line), "timestamp": stamp(START + line * 2000)}
        tail |= {"agentId": self.agent} if self.agent else {}
        self.lines.append(encode({**head, **fields, **tail, **more}))
        self.last = line
        return line

    def bare(self, kind: str, **fields: Any) -> int:
        """A record outside the tree."""
        self.lines.append(encode({"type": kind, **fields, "sessionId": self.session}))
        return len(self.lines)

    def raw(self, data: bytes) -> int:
        """Bytes as they are."""
        self.lines.append(data)
        return len(self.lines)

    def user(self, content: Any = "go on", parent: int | str | None = -1, **more: Any) -> int:
        """What the user types, or any other content."""
        return self.node("user", {"message": {"role": "user", "content": content}}, parent, **more)

    def result(self, call: Any, parent: int | str | None = -1, content: Any = "done", **more: Any) -> int:
        """The result of a call."""
        block = {"type": "tool_result", "tool_use_id": call, "content": content, "is_error": False}
        return self.node(
            "user", {"message": {"role": "user", "content": [block]}, "toolUseResult": "done"}, parent, **more
        )

    def answer(self, name: str | None, *blocks: Json, parent: int | str | None = -1, **more: Any) -> int:
        """A line of an answer."""
        stop = "tool_use" if any(block["type"] == "tool_use" for block in blocks) else "end_turn"
        message: Json = {"id": name, "type": "message", "role": "assistant", "model": "claude-opus-4-8"}
        message |= {"content": list(blocks), "stop_reason": more.pop("stop", stop), "stop_sequence": None}
        message |= {"usage": {"input_tokens": 10, "output_tokens": 5}}
        return self.node("assistant", {"message": message, "requestId": f"req_{name}"}, parent, **more)

    def say(self, name: str, words: str = "ok", parent: int | str | None = -1, **more: Any) -> int:
        """A line of text."""
        return self.answer(name, {"type": "text", "text": words}, parent=parent, **more)

    def call(self, name: str | None, call: Any, parent: int | str | None = -1, **more: Any) -> int:
        """A line with a call."""
        use = {"type": "tool_use", "id": call, "name": "Bash", "input": more.pop("input", {"command": "ls"})}
        return self.answer(name, use, parent=parent, **more)

    def system(self, subtype: str, parent: int | str | None = -1, **more: Any) -> int:
        """A record of the system."""
        return self.node("system", {"subtype": subtype}, parent, **more)

    def compact(self, **metadata: Any) -> int:
        """A compaction and its summary; the line of the summary."""
        logical = self.uuid(self.last) if self.last else None
        about = {"trigger": "auto", "preTokens": 150_000, **metadata}
        self.system(
            "compact_boundary", None, logicalParentUuid=logical, content="Conversation compacted", compactMetadata=about
        )
        return self.user("This session is being continued.", isCompactSummary=True, isVisibleInTranscriptOnly=True)

    def write(self, folder: Path, file: str = MAIN) -> None:
        """Put it on disk."""
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(self.lines))
        path.chmod(0o600)


def message(number: int, role: str, content: Any = "text", **more: Any) -> Json:
    """A message of JARVIS."""
    return {"id": f"m{number}", "role": role, "content": content, "timestamp": START + number * 1000, **more}


def calling(number: int, *calls: str, content: Any = "", **more: Any) -> Json:
    """An answer of JARVIS with calls."""
    listed = [{"id": call, "name": "search", "arguments": {"q": "x"}} for call in calls]
    return message(number, "assistant", content, tool_calls=listed, **more)


def answering(number: int, call: Any, content: Any = "found", **more: Any) -> Json:
    """A result of JARVIS."""
    return message(number, "tool", content, tool_call_id=call, name="search", **more)


def log(folder: Path, name: str, *records: Json | bytes, metadata: Json | None = None) -> None:
    """A log, with its metadata if any is given."""
    path = folder / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(one if isinstance(one, bytes) else encode(one) for one in records))
    path.chmod(0o600)
    if metadata is not None:
        about = folder / f"{name}.meta.json"
        about.write_bytes(encode({"id": name, **metadata}))
        about.chmod(0o600)
