"""A log in another encoding is said to be so, and never touched."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import command, contents

TALK = [
    {"id": "m1", "role": "user", "content": "정원에 물을 줘", "timestamp": 1780000000000},
    {"id": "m2", "role": "assistant", "content": "줬어요", "timestamp": 1780000000000},
]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32"])
def test_it_is_left_alone(encoding: str, tmp_path: Path) -> None:
    text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in TALK)
    mark = "\ufeff" if encoding.endswith("be") else ""
    (tmp_path / "c.jsonl").write_bytes((mark + text).encode(encoding))
    (tmp_path / "c.meta.json").write_text('{"id": "c"}')
    before = contents(tmp_path)
    found = command("verify-pairs", "--dialect", "jarvis", store=tmp_path, home=tmp_path)
    assert [one["rule"] for one in found.findings if one["severity"] == "error"] == ["unreadable"]
    assert found.code != 0
    healed = command("heal", "--all", "--apply", "--lossy", "--dialect", "jarvis", store=tmp_path, home=tmp_path)
    assert healed.code != 0
    assert healed.run == ""
    assert contents(tmp_path) == before
