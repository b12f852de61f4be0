"""Conversations to look at."""

from __future__ import annotations

from pathlib import Path

import orjson

# 2026-09-21T14:13:20Z
TIME = 1_790_000_000_000


def message(number: int, role: str = "user", **fields: object) -> dict[str, object]:
    """A plain message of JARVIS."""
    return {"id": f"m{number}", "role": role, "content": f"text {number}", "timestamp": TIME + number, **fields}


def conversation(folder: Path, name: str, *records: dict[str, object], **metadata: object) -> Path:
    """A private conversation with its metadata; its log."""
    log = folder / f"{name}.jsonl"
    log.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    about = folder / f"{name}.meta.json"
    # Half a surrogate pair stands for a byte that is no UTF-8, which no JSON can hold.
    known = {} if any("\ud800" <= letter <= "\udfff" for letter in name) else {"id": name}
    about.write_bytes(orjson.dumps({**known, **metadata}))
    log.chmod(0o600)
    about.chmod(0o600)
    return log


def talk() -> list[dict[str, object]]:
    """A question and its answer: nothing is wrong with it."""
    return [message(1), message(2, "assistant")]


def damage() -> list[dict[str, object]]:
    """An answer with a call that nothing answers, and a turn after it: one error."""
    call = {"id": "call_1", "name": "search", "arguments": {}}
    return [message(1), message(2, "assistant", tool_calls=[call]), message(3), message(4, "assistant")]
