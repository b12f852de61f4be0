"""Holding a conversation: one run at a time, and never against its agent."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from jarvis_ops.errors import BusyError, RefusedError
from jarvis_ops.stores.base import WritableStore
from jarvis_ops.stores.jsonl.store import JsonlStore
from tests.stores.changes import LATER, NEW, OLD, RUN, conversation_of, heal
from tests.stores.disk_state import put

HOLD = """
import sys
from jarvis_ops.stores.jsonl.store import JsonlStore
from tests.stores.changes import RUN, conversation_of
store = JsonlStore(sys.argv[1])
with store.hold(conversation_of(store), RUN):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def store(tmp_path: Path) -> WritableStore:
    put(tmp_path, {"a.jsonl": OLD})
    return JsonlStore(os.fspath(tmp_path))


@pytest.fixture
def holder(tmp_path: Path, store: WritableStore) -> Iterator[subprocess.Popen[str]]:
    """Another run of ours that holds the conversation."""
    assert conversation_of(store).id == "a"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, os.fspath(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_one_run_at_a_time(store: WritableStore, holder: subprocess.Popen[str]) -> None:
    with pytest.raises(BusyError, match=f"process {holder.pid} .*run {RUN}"), store.hold(conversation_of(store), LATER):
        pass


def test_the_next_one_waits(store: WritableStore, holder: subprocess.Popen[str]) -> None:
    assert holder.stdin is not None
    threading.Timer(0.2, holder.stdin.close).start()
    with store.hold(conversation_of(store), LATER, wait=30):
        pass


def test_a_run_that_was_killed_holds_nothing(
    tmp_path: Path, store: WritableStore, holder: subprocess.Popen[str]
) -> None:
    holder.kill()
    holder.wait()
    assert (tmp_path / ".jarvis-ops" / "locks" / "a").exists()
    with store.hold(conversation_of(store), LATER):
        pass
    assert sorted(os.listdir(tmp_path)) == ["a.jsonl"]


def test_many_take_turns(tmp_path: Path, store: WritableStore) -> None:
    """The lock file comes and goes, and never do two hold it."""
    code = HOLD.partition("with ")[0] + (
        "for _ in range(60):\n"
        "    with store.hold(conversation_of(store), RUN, wait=60):\n"
        "        open(sys.argv[1] + '/one', 'x').close()\n"
        "        import os; os.remove(sys.argv[1] + '/one')\n"
    )
    several = [subprocess.Popen([sys.executable, "-c", code, os.fspath(tmp_path)]) for _ in range(3)]
    assert [process.wait(timeout=120) for process in several] == [0, 0, 0]
    assert sorted(os.listdir(tmp_path)) == ["a.jsonl"]
    assert conversation_of(store).id == "a"


def test_the_lock_of_the_agent_is_honoured_and_taken(tmp_path: Path, store: WritableStore) -> None:
    put(tmp_path, {"a.lock": b""})
    with (tmp_path / "a.lock").open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(BusyError, match="its lock"), store.hold(conversation_of(store), RUN):
            pass
        fcntl.flock(file, fcntl.LOCK_UN)
        with store.hold(conversation_of(store), RUN), pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert sorted(os.listdir(tmp_path)) == ["a.jsonl", "a.lock"]


def test_a_lock_file_that_is_there_only_while_it_is_held(tmp_path: Path, store: WritableStore) -> None:
    lock = tmp_path / "a.jsonl.lock"
    lock.write_text(json.dumps({"pid": os.getpid(), "createdAt": int(time.time() * 1000)}))
    with pytest.raises(BusyError, match="lock"), store.hold(conversation_of(store), RUN):
        pass
    lock.write_text(json.dumps({"pid": os.getpid(), "createdAt": int(time.time() * 1000) - 3_600_000}))
    with store.hold(conversation_of(store), RUN):
        pass
    assert lock.exists()


def test_without_leases_the_open_files_are_looked_through(
    tmp_path: Path, store: WritableStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jarvis_ops.stores.lock.take_lease", lambda _: None)
    with subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; f = open(sys.argv[1], 'ab'); print(); sys.stdin.read()",
            tmp_path / "a.jsonl",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        with pytest.raises(BusyError, match=f"process {writer.pid}"):
            heal(store)
        writer.kill()
    heal(store)
    assert (tmp_path / "a.jsonl").read_bytes() == NEW


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_root_leaves_no_file_of_its_own_behind(tmp_path: Path, store: WritableStore) -> None:
    os.chown(tmp_path / "a.jsonl", 1234, 1235)
    heal(store)
    made = [path for path in tmp_path.rglob("*") if path.name != "locks"]
    assert {(path.stat().st_uid, path.stat().st_gid) for path in made} == {(1234, 1235)}


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become somebody else")
def test_a_file_of_somebody_else_is_not_taken_away_from_them() -> None:
    with tempfile.TemporaryDirectory() as folder:
        live = put(Path(folder), {"a.jsonl": OLD}) / "a.jsonl"
        Path(folder).chmod(0o777)
        os.chown(live, 1234, 1235)
        live.chmod(0o666)
        os.seteuid(65534)
        try:
            with pytest.raises(RefusedError, match="another user"):
                heal(JsonlStore(folder))
        finally:
            os.seteuid(0)
        assert [path for path in Path(folder).rglob("*") if path.is_file()] == [live]
        assert live.stat().st_uid == 1234
