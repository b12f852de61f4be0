"""Each sign of a running turn, given by a real process or by what an agent has written; the hard and the soft apart."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from jarvis_ops.model.settings import Settings
from jarvis_ops.model.verdict import Verdict
from jarvis_ops.operations.judge import judge
from jarvis_ops.operations.running import hard_sign
from jarvis_ops.operations.surroundings import look_around
from jarvis_ops.stores.agentlock import alive, is_process, live_lock, started
from jarvis_ops.stores.open import open_store
from tests.scenarios.made import NOW, PROJECT, SESSION, START, Transcript, answering, calling, log, message

MINUTE = 60_000
LOG = "talk.jsonl"
WRITER = "descriptor = open(sys.argv[1], 'ab')"
READER = "descriptor = open(sys.argv[1], 'rb')"
HOLDER = "lock = open(sys.argv[1], 'ab'); fcntl.flock(lock, fcntl.LOCK_EX)"


@contextmanager
def process(does: str = "", *arguments: Path) -> Iterator[int]:
    """A process that has done something and then waits; its number."""
    code = f"import fcntl, sys\n{does}\nprint(flush=True)\nsys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout
        child.stdout.readline()
        yield child.pid
        assert child.stdin
        child.stdin.close()


def gone() -> int:
    """The number of a process that has ended."""
    with process() as pid:
        pass
    return pid


def look(folder: Path, **settings: Any) -> tuple[Verdict, str]:
    """The verdict on the one conversation of a store, and the hard sign of its owner."""
    store = open_store(str(folder))
    inventory = store.inventory()
    chosen = Settings(**{"now": NOW, **settings})
    around = look_around(store, inventory, chosen)
    (conversation,) = inventory.conversations
    with store.open(conversation) as snapshot:
        verdict = judge(store, conversation, snapshot, chosen, around)
        return verdict, hard_sign(store, conversation, snapshot, around)


def sign(folder: Path, **settings: Any) -> str:
    """What the verdict says of a running turn."""
    return look(folder, **settings)[0].sign


def rules(folder: Path, **settings: Any) -> set[str]:
    return {finding.rule for finding in look(folder, **settings)[0].findings}


@pytest.fixture
def waiting(tmp_path: Path) -> Path:
    """A store with one conversation that ends in a call, so long ago that no clock speaks for it."""
    log(tmp_path, "talk", message(1, "user"), calling(2, "c1"), metadata={})
    return tmp_path


@pytest.fixture
def claude(tmp_path: Path) -> Path:
    """The same for Claude Code."""
    transcript = Transcript()
    transcript.user()
    transcript.call("m1", "toolu_OPEN")
    transcript.write(tmp_path)
    return tmp_path


def assert_hard(folder: Path, words: str) -> None:
    """The sign is seen, and no option overrides it."""
    for settings in ({}, {"assume_idle": True}):
        verdict, hard = look(folder, **settings)
        assert words in verdict.sign
        assert words in hard
        assert "unanswered-call" not in {finding.rule for finding in verdict.findings}


def assert_idle(folder: Path) -> None:
    verdict, hard = look(folder)
    assert (verdict.sign, hard) == ("", "")
    assert "unanswered-call" in {finding.rule for finding in verdict.findings}


# Hard signs ---------------------------------------------------------------------------------------------------------


def test_a_held_lock(waiting: Path) -> None:
    with process(HOLDER, waiting / "talk.lock"):
        assert_hard(waiting, "its lock is held")
    assert_idle(waiting)


def lock_file(folder: Path, name: str = "talk.jsonl.lock", **entry: Any) -> Path:
    path = folder / name
    path.write_text(json.dumps(entry))
    return path


def now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


@pytest.mark.parametrize("name", ["talk.jsonl.lock", "talk.lock"])
def test_a_lock_file_that_names_a_living_process(waiting: Path, name: str) -> None:
    with process() as pid:
        lock_file(waiting, name, pid=pid, createdAt=now(), starttime=started(pid))
        assert_hard(waiting, f"process {pid} holds its lock file")
    assert_idle(waiting)


def test_a_lock_file_without_more_than_a_process(tmp_path: Path) -> None:
    with process() as pid:
        assert live_lock(str(lock_file(tmp_path, pid=pid)))
        assert live_lock(str(lock_file(tmp_path, pid=pid, createdAt=time.time_ns() // 1_000_000)))


def test_the_number_of_a_process_is_given_out_again(waiting: Path) -> None:
    with process() as pid:
        began = started(pid)
        assert began is not None
        lock_file(waiting, pid=pid, createdAt=now(), starttime=began - 1)
        assert_idle(waiting)


def test_a_lock_file_too_old_to_be_believed(tmp_path: Path) -> None:
    with process() as pid:
        old = time.time_ns() // 1_000_000 - 31 * MINUTE
        assert live_lock(str(lock_file(tmp_path, pid=pid, createdAt=old))) == ""
        path = lock_file(tmp_path, pid=pid)
        os.utime(path, (old / 1000, old / 1000))
        assert live_lock(str(path)) == ""


def test_a_lock_file_of_a_process_that_is_gone(waiting: Path) -> None:
    lock_file(waiting, pid=gone(), createdAt=now())
    assert_idle(waiting)


@pytest.mark.parametrize("content", ["", '{"pid": 1', "[1]", '{"pid": "1"}', '{"pid": null}', '{"pid": 0}', "7"])
def test_a_lock_file_that_says_nothing(tmp_path: Path, content: str) -> None:
    path = tmp_path / "talk.jsonl.lock"
    path.write_text(content)
    assert live_lock(str(path)) == ""


def test_a_pipe_in_place_of_a_lock_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "talk.jsonl.lock")
    assert live_lock(str(tmp_path / "talk.jsonl.lock")) == ""
    assert live_lock(str(tmp_path / "none.lock")) == ""
    assert live_lock(str(tmp_path)) == ""


def register(folder: Path, pid: int, **more: Any) -> None:
    (folder / "sessions").mkdir(exist_ok=True)
    entry = {"pid": pid, "sessionId": SESSION, "cwd": "/home/user/demo", "startedAt": START, "status": "busy", **more}
    (folder / "sessions" / f"{pid}.json").write_text(json.dumps(entry))


def test_a_registered_process(claude: Path) -> None:
    with process() as pid:
        register(claude, pid)
        assert_hard(claude, f"process {pid} of its agent is alive")
    assert_idle(claude)


def test_a_registered_process_with_its_beginning(claude: Path) -> None:
    with process() as pid:
        register(claude, pid, procStart=str(started(pid)))
        assert_hard(claude, f"process {pid} of its agent is alive")
        register(claude, pid, procStart="Wed Aug 12 08:19:53 2026")
        assert_hard(claude, f"process {pid} of its agent is alive")


def test_a_registered_number_that_was_given_out_again(claude: Path) -> None:
    with process() as pid:
        register(claude, pid, procStart="1")
        assert_idle(claude)


def test_an_open_descriptor(waiting: Path) -> None:
    with process(WRITER, waiting / LOG):
        assert_hard(waiting, "has its log open for writing")
    with process(READER, waiting / LOG):
        assert_idle(waiting)


def test_an_open_descriptor_where_no_lease_is_given(waiting: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: object) -> int:
        raise OSError(errno.EACCES, "no lease")

    monkeypatch.setattr(fcntl, "fcntl", refuse)
    with process(WRITER, waiting / LOG) as pid:
        assert_hard(waiting, f"process {pid} has its log open for writing")
    with process(READER, waiting / LOG):
        assert_idle(waiting)


def test_a_hard_sign_counts_for_a_closed_turn_as_well(tmp_path: Path) -> None:
    log(tmp_path, "talk", message(1, "user"), message(2, "assistant"), metadata={})
    with process(WRITER, tmp_path / LOG):
        verdict, hard = look(tmp_path)
    assert hard
    assert verdict.findings == []


def test_processes(tmp_path: Path) -> None:
    me = os.getpid()
    assert alive(me)
    assert alive(1)
    assert not alive(0)
    assert not alive(-1)
    assert not alive(1 << 40)
    assert not alive(gone())
    assert is_process(me, started(me))
    assert is_process(me, str(started(me)))
    assert is_process(me, None)
    assert not is_process(me, 0)
    assert started(1 << 22) is None
    program = tmp_path / "a ) (b"
    program.symlink_to("/bin/sleep")
    with subprocess.Popen([program, "60"]) as child:
        assert (started(child.pid) or 0) >= (started(me) or 0)
        child.kill()


# Soft signs ---------------------------------------------------------------------------------------------------------


def assert_soft(folder: Path, words: str, since: int, timeout: int = 5 * MINUTE) -> None:
    """The sign is seen until its time is over, unless the turn is said to be idle."""
    assert words in sign(folder, now=since + timeout - 1)
    assert sign(folder, now=since + timeout) == ""
    assert sign(folder, now=since + timeout - 1, assume_idle=True) == ""
    assert look(folder, now=since + timeout - 1)[1] == ""


@pytest.mark.parametrize("times", [{"turn_started_at": NOW}, {"turn_started_at": None, "updated_at": NOW}])
def test_metadata_that_says_running(tmp_path: Path, times: dict[str, int | None]) -> None:
    """The user's message may not be stored yet: the log ends with the turn before."""
    log(tmp_path, "talk", message(1, "user"), message(2, "assistant"), metadata={"state": "running", **times})
    assert_soft(tmp_path, "its metadata says", NOW)
    assert "stale-running" not in rules(tmp_path, now=NOW + MINUTE)
    assert "stale-running" in rules(tmp_path, now=NOW + 5 * MINUTE)


def test_metadata_that_says_running_and_not_since_when(tmp_path: Path) -> None:
    log(tmp_path, "talk", message(1, "user"), message(2, "assistant"), metadata={"state": "running"})
    assert_soft(tmp_path, "its metadata says", START + 2000)


def test_metadata_that_says_running_of_nothing(tmp_path: Path) -> None:
    log(tmp_path, "talk", metadata={"state": "running"})
    assert sign(tmp_path) == ""


def test_a_turn_that_was_accepted_and_gave_no_event_yet(tmp_path: Path) -> None:
    accepted = {"type": "turn_accepted", "turn_id": "t2", "timestamp": START + 9000}
    log(tmp_path, "talk", message(1, "user"), message(2, "assistant"), accepted, metadata={})
    assert_soft(tmp_path, "a turn was accepted", START + 9000)
    ended = {"type": "turn_end", "turn_id": "t2", "timestamp": START + 9500}
    log(tmp_path, "talk", message(1, "user"), message(2, "assistant"), accepted, ended, metadata={})
    assert sign(tmp_path, now=START + 10_000) == ""


def test_a_young_message_of_the_user(tmp_path: Path) -> None:
    log(tmp_path, "talk", message(1, "user"), metadata={})
    assert_soft(tmp_path, "a message of the user", START + 1000)


def test_a_young_call(waiting: Path) -> None:
    assert_soft(waiting, "tools run long", START + 2000, timeout=60 * MINUTE)


def test_a_young_result(tmp_path: Path) -> None:
    log(tmp_path, "talk", message(1, "user"), calling(2, "c1"), answering(3, "c1"), answering(4, "c9"), metadata={})
    assert_soft(tmp_path, "the result of a tool", START + 4000)


def test_a_young_result_of_claude_code(tmp_path: Path) -> None:
    transcript = Transcript()
    transcript.user()
    transcript.call("m1", "toolu_1")
    line = transcript.result("toolu_1")
    transcript.write(tmp_path)
    assert_soft(tmp_path, "the result of a tool", START + line * 2000)


def test_a_young_answer_is_no_sign(tmp_path: Path) -> None:
    log(tmp_path, "talk", message(1, "user"), message(2, "assistant"), metadata={})
    assert sign(tmp_path, now=START + 2001) == ""


def test_a_young_registry_file_of_a_process_that_is_not_seen(claude: Path) -> None:
    register(claude, gone(), startedAt=NOW)
    assert_soft(claude, "its registry file is young", NOW)


def test_a_young_registry_file_whose_number_was_given_out_again(claude: Path) -> None:
    with process() as pid:
        register(claude, pid, startedAt=NOW, procStart="1")
        assert_soft(claude, "its registry file is young", NOW)


def test_the_registry_of_another_session(claude: Path) -> None:
    with process() as pid:
        register(claude, pid, sessionId="another")
        assert_idle(claude)
    assert (claude / PROJECT).is_dir()
