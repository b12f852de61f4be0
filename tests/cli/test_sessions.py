"""What a listing of conversations tells."""

from __future__ import annotations

import time
from pathlib import Path

import orjson

from tests.cli.conftest import Run
from tests.cli.made import TIME, conversation, message, talk


def rows(run: Run, store: Path, *options: str) -> dict[str, dict[str, object]]:
    done = run("sessions", "--store", str(store), "--json", *options)
    assert done.returncode == 0, done.stderr
    return {row["conversation"]: row for row in orjson.loads(done.stdout)["outcomes"]}


def test_a_row(run: Run, healthy: Path) -> None:
    conversation(healthy, "agent_main__good", *talk(), archived_at=TIME, state="error")
    segments = healthy / "good.segments"
    segments.mkdir(mode=0o700)
    (segments / "000001.jsonl").write_bytes(orjson.dumps(message(0)) + b"\n \n")
    found = rows(run, healthy)
    size = sum(file.stat().st_size for file in (healthy / "good.jsonl", segments / "000001.jsonl"))
    assert found["good"] == {
        "conversation": "good", "session_id": "good", "parent": None, "status": "clean", "dialect": "jarvis",
        "records": 3, "bytes": size, "accepted": 0, "findings": [], "errors": [], "kind": "user", "parts": 2,
        "last_record_at": "2026-09-21T14:13:20.002Z", "state": "idle", "archived_at": None,
    }  # fmt: skip
    agent = found["agent_main__good"]
    assert (agent["kind"], agent["parent"], agent["state"]) == ("subagent", "good", "error")
    assert agent["archived_at"] == "2026-09-21T14:13:20.000Z"


def test_states(run: Run, healthy: Path) -> None:
    conversation(healthy, "now", message(1, timestamp=time.time_ns() // 1_000_000))
    conversation(healthy, "runs", *talk(), state="running")
    conversation(healthy, "shelved", *talk(), archived_at="2026-01-01T00:00:00+01:00")
    assert set(rows(run, healthy, "--state", "active")) == {"now"}
    assert set(rows(run, healthy, "--state", "active", "--state", "running")) == {"now", "runs"}
    assert set(rows(run, healthy, "--archived")) == {"shelved"}
    assert set(rows(run, healthy, "--no-archived")) == {"good", "now", "runs"}
    assert rows(run, healthy)["shelved"]["archived_at"] == "2025-12-31T23:00:00.000Z"


def test_orders_and_limit(run: Run, healthy: Path) -> None:
    conversation(healthy, "a", message(1, content="x" * 999, timestamp=TIME - 1))
    conversation(healthy, "b", *talk(), message(3), message(4, "assistant"))
    conversation(healthy, "c")
    assert list(rows(run, healthy)) == ["b", "good", "a", "c"]
    assert list(rows(run, healthy, "--sort", "id")) == ["a", "b", "c", "good"]
    assert list(rows(run, healthy, "--sort", "bytes")) == ["a", "b", "good", "c"]
    assert list(rows(run, healthy, "--sort", "records")) == ["b", "good", "a", "c"]
    assert list(rows(run, healthy, "--limit", "1")) == ["b"]


def test_plain_lines(run: Run, healthy: Path) -> None:
    done = run("sessions", "--store", str(healthy))
    (line,) = done.stdout.decode().splitlines()
    assert line.split("\t")[:5] == ["good", "user", "idle", "2026-09-21T14:13:20.002Z", "2"]
    assert b"1 conversation" in done.stderr


def test_sub_agents_of_claude_code(run: Run, tmp_path: Path) -> None:
    parent = "11111111-0000-4000-8000-000000000001"
    folder = tmp_path / "projects" / "-home-u" / parent / "subagents"
    folder.mkdir(parents=True)
    record = {
        "type": "user", "uuid": "u1", "parentUuid": None, "sessionId": parent, "timestamp": "2026-09-21T14:13:20.002Z",
        "message": {"role": "user", "content": "x"}, "isSidechain": True, "agentId": "a1", "cwd": "/home/u",
    }  # fmt: skip
    (folder / "agent-a1.jsonl").write_bytes(orjson.dumps(record) + b"\n")
    main = {key: value for key, value in record.items() if key != "agentId"} | {"isSidechain": False}
    (folder.parents[1] / f"{parent}.jsonl").write_bytes(orjson.dumps(main) + b"\n")
    found = rows(run, tmp_path / "projects", "--kind", "subagent")
    (row,) = found.values()
    assert (row["parent"], row["dialect"], row["kind"]) == (f"-home-u/{parent}", "claude_code", "subagent")
    assert set(rows(run, tmp_path / "projects", "--kind", "user")) == {f"-home-u/{parent}"}


def test_one_that_cannot_be_read_is_a_row(run: Run, healthy: Path) -> None:
    (healthy / "broken.jsonl").symlink_to(healthy / "gone")
    done = run("sessions", "--store", str(healthy), "--json")
    report = orjson.loads(done.stdout)
    assert "good" in [row["conversation"] for row in report["outcomes"]]
    assert done.returncode == (3 if report["errors"] else 0)
