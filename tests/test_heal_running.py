"""A running turn is left alone, whatever shows it; `--assume-idle` overrides the signs that may deceive, no others."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from tests.commands import command, contents

SESSION = "12345678-0000-4000-8000-000000000001"
LONG_AGO = 1_780_000_000_000
Sign = Callable[[Path], AbstractContextManager[None]]


def now() -> int:
    return time.time_ns() // 1_000_000


def broken(*last: dict[str, Any]) -> bytes:
    """A result in the wrong place, long ago, and then the last records."""
    call = {"id": "call_1", "name": "read", "arguments": {}}
    records: list[dict[str, Any]] = [
        {"id": "m1", "role": "user", "content": "Read it."},
        {"id": "m2", "role": "assistant", "content": "", "tool_calls": [call]},
        {"id": "m3", "role": "user", "content": "Well?"},
        {"id": "m4", "role": "tool", "tool_call_id": "call_1", "content": "the text"},
        {"id": "m5", "role": "assistant", "content": "Here it is."},
    ]
    lines = [{"timestamp": LONG_AGO, **record} for record in (*records, *last)]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def store_with(folder: Path, *last: dict[str, Any], **metadata: object) -> Path:
    (folder / "c.jsonl").write_bytes(broken(*last))
    (folder / "c.meta.json").write_text(json.dumps({"id": "c", "state": "idle", **metadata}))
    return folder


@contextmanager
def other(code: str, *words: str) -> Iterator[None]:
    """Another process that does something, says so, and keeps at it."""
    program = f"import sys, time, fcntl, os\n{code}\nprint('ready', flush=True)\ntime.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", program, *words], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        try:
            yield
        finally:
            process.kill()


def lock_held(folder: Path) -> AbstractContextManager[None]:
    store_with(folder)
    (folder / "c.lock").touch()
    return other("file = open(sys.argv[1]); fcntl.flock(file, fcntl.LOCK_EX)", str(folder / "c.lock"))


def log_open(folder: Path) -> AbstractContextManager[None]:
    store_with(folder)
    return other("file = open(sys.argv[1], 'ab')", str(folder / "c.jsonl"))


def lock_file_of_a_live_process(folder: Path) -> AbstractContextManager[None]:
    store_with(folder)
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    (folder / "c.jsonl.lock").write_text(json.dumps({"pid": os.getpid(), "createdAt": created}))
    return nullcontext()


def registry_of_a_live_process(folder: Path) -> AbstractContextManager[None]:
    claude_store(folder, os.getpid(), now())
    return nullcontext()


def running_by_its_metadata(folder: Path) -> AbstractContextManager[None]:
    store_with(folder, state="running", turn_id="t9", turn_started_at=now() - 1000)
    return nullcontext()


def accepted_with_no_event_yet(folder: Path) -> AbstractContextManager[None]:
    store_with(folder, {"type": "turn_accepted", "turn_id": "t9", "timestamp": now() - 1000})
    return nullcontext()


def asked_a_moment_ago(folder: Path) -> AbstractContextManager[None]:
    store_with(folder, {"id": "m6", "role": "user", "content": "And now?", "timestamp": now() - 1000})
    return nullcontext()


def calling(folder: Path) -> AbstractContextManager[None]:
    call = {"id": "call_2", "name": "build", "arguments": {}}
    time_of_call = now() - 1_200_000  # tools run long
    store_with(
        folder,
        {"id": "m6", "role": "user", "content": "Build it.", "timestamp": time_of_call},
        {"id": "m7", "role": "assistant", "content": "", "tool_calls": [call], "timestamp": time_of_call},
    )
    return nullcontext()


def registry_of_a_process_out_of_sight(folder: Path) -> AbstractContextManager[None]:
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    claude_store(folder, gone.pid, now())
    return nullcontext()


def claude_store(folder: Path, pid: int, updated: int) -> None:
    """A transcript with a call that nothing answers, and the registry file of a process."""
    project = folder / "projects" / "-home-user-demo"
    project.mkdir(parents=True)
    blocks = (
        ("user", "Read it."),
        ("assistant", [{"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {}}]),
        ("user", "Well?"),
    )
    parent = None
    with (project / f"{SESSION}.jsonl").open("w") as file:
        for number, (role, content) in enumerate(blocks):
            uuid = f"aaaaaaaa-0000-4000-8000-00000000000{number}"
            message = {"role": role, "content": content, **({"id": "msg_1"} if role == "assistant" else {})}
            record = {
                "parentUuid": parent, "isSidechain": False, "cwd": "/home/user/demo", "sessionId": SESSION,
                "version": "2.1.0", "type": role, "message": message, "uuid": uuid,
                "timestamp": "2026-03-10T09:00:08.000Z",
            }  # fmt: skip
            file.write(json.dumps(record) + "\n")
            parent = uuid
    sessions = folder / "sessions"
    sessions.mkdir()
    entry = {"pid": pid, "sessionId": SESSION, "status": "busy", "startedAt": updated, "updatedAt": updated}
    (sessions / f"{pid}.json").write_text(json.dumps(entry))


HARD: tuple[Sign, ...] = (lock_held, log_open, lock_file_of_a_live_process, registry_of_a_live_process)
SOFT: tuple[Sign, ...] = (
    running_by_its_metadata,
    accepted_with_no_event_yet,
    asked_a_moment_ago,
    calling,
    registry_of_a_process_out_of_sight,
)


@pytest.mark.parametrize("sign", [*HARD, *SOFT], ids=lambda sign: sign.__name__)
def test_a_running_turn_is_left_alone(sign: Sign, tmp_path: Path) -> None:
    store = tmp_path / "store"
    store.mkdir()
    with sign(store):
        before = contents(store)
        answer = command("heal", "--all", "--apply", "--lossy", "--wait", "0s", store=store, home=tmp_path)
        assert (answer.code, answer.report["status"]) == (4, "skipped")
        assert "left alone" in answer.complaints
        assert contents(store) == before
        assert not list(store.rglob(".jarvis-ops"))
        assumed = command(
            "heal", "--all", "--apply", "--lossy", "--wait", "0s", "--assume-idle", store=store, home=tmp_path
        )
        if sign in HARD:
            assert (assumed.code, assumed.run, contents(store)) == (4, "", before)
        else:
            assert (assumed.code, bool(assumed.run)) == (0, True)


def test_a_turn_that_ends_meanwhile_is_waited_for(tmp_path: Path) -> None:
    store = store_with(tmp_path)
    lock = store / "c.lock"
    lock.touch()
    program = "import fcntl, sys, time\nfile = open(sys.argv[1])\nfcntl.flock(file, fcntl.LOCK_EX)\n"
    program += "print('ready', flush=True)\ntime.sleep(1.5)"
    with subprocess.Popen([sys.executable, "-c", program, str(lock)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        answer = command("heal", "--all", "--apply", "--wait", "20s", store=store, home=tmp_path)
        assert (answer.code, bool(answer.run)) == (0, True)
        assert process.wait() == 0


def test_the_agent_cannot_take_its_lock_while_we_change_its_log(tmp_path: Path) -> None:
    """Nothing to see from outside in so short a time: the lock is taken where there is one, and free afterwards."""
    store = store_with(tmp_path)
    lock = store / "c.lock"
    lock.touch()
    assert command("heal", "--all", "--apply", store=store, home=tmp_path).code == 0
    with lock.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
