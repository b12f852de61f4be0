"""A sample store in the making, and the list of all samples."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Describe = Callable[["Folder"], None]
SAMPLES: dict[str, Describe] = {}


def sample(name: str) -> Callable[[Describe], Describe]:
    """Register the function that describes the sample store `name`."""

    def register(describe: Describe) -> Describe:
        SAMPLES[name] = describe
        return describe

    return register


def line(value: dict[str, Any]) -> bytes:
    """One record as JARVIS and Claude Code write it: compact JSON, UTF-8, one line feed."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


class Folder:
    """A folder that a sample is written to, with the findings that it must give."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.expected: list[dict[str, Any]] = []
        self.unreadable = False
        path.mkdir(parents=True)

    def put(self, name: str, *lines: bytes) -> bytes:
        """Write a file of these lines and give its bytes."""
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(b"".join(lines))
        return target.read_bytes()

    def text(self, name: str, text: str) -> None:
        """Write a text file."""
        self.put(name, text.encode())

    def log(self, conversation: str, *lines: bytes, **metadata: Any) -> None:
        """Write a JARVIS conversation: its live file and its metadata."""
        self.put(f"{conversation}.jsonl", *lines)
        self.metadata(conversation, **metadata)

    def metadata(self, conversation: str, **more: Any) -> None:
        """Write `<conversation>.meta.json`."""
        fields = {"id": conversation, "agent_id": "assistant", "parent_id": None, "state": "idle", **more}
        self.put(f"{conversation}.meta.json", line(fields))

    def expect(self, rule: str, severity: str, file: str, at: int | None = None, **more: Any) -> None:
        """Say which finding the sample must give; `at` is the line, `id` the record id or call id."""
        place = {} if at is None else {"line": at}
        self.expected.append({"rule": rule, "severity": severity, "file": file, **place, **more})

    def exit_code(self) -> int:
        """What `verify-pairs` must answer for this store."""
        if self.unreadable:
            return 3
        return int(any(finding["severity"] == "error" for finding in self.expected))


def seal(conversation: str, number: int, content: bytes) -> bytes:
    """The marker that stands first in the file behind the segment `number` of these bytes."""
    records = [json.loads(raw) for raw in content.split(b"\n") if raw.strip()]
    messages = [record for record in records if "role" in record]
    return line(
        {
            "type": "pippa_segment_sealed",
            "conversation_id": conversation,
            "seq": number,
            "segment": f"{number:06d}.jsonl",
            "bytes": len(content),
            "lines": content.count(b"\n"),
            "messages": len(messages),
            "sha256": hashlib.sha256(content).hexdigest(),
            "first_id": messages[0]["id"],
            "last_id": messages[-1]["id"],
            "timestamp": messages[-1]["timestamp"] + 1,
        }
    )
