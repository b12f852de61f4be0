"""Who else is at work on a conversation, as far as the system tells."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

import pytest

from jarvis_ops.stores import lock
from jarvis_ops.stores.jsonl.store import JsonlStore
from tests.stores.disk_state import put

if sys.platform == "win32":
    pytest.skip("neither leases nor flock", allow_module_level=True)
import fcntl


def writer_of(folder: Path) -> bool | None:
    store = JsonlStore(os.fspath(folder))
    (conversation,) = store.inventory().conversations
    with store.open(conversation) as snapshot:
        return snapshot.writer()


@pytest.mark.skipif(sys.platform != "linux", reason="leases are of Linux")
def test_a_writer_is_seen(tmp_path: Path) -> None:
    put(tmp_path, {"a.jsonl": b"{}\n"})
    assert writer_of(tmp_path) is False
    with (tmp_path / "a.jsonl").open("ab"):
        assert writer_of(tmp_path) is True
    with (tmp_path / "a.jsonl").open("rb"):
        assert writer_of(tmp_path) is False


@pytest.mark.parametrize("number", [errno.EACCES, errno.EINVAL])
def test_a_system_that_gives_no_lease(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    put(tmp_path, {"a.jsonl": b"{}\n"})

    def refuse(*_arguments: object) -> int:
        raise OSError(number, "no lease")

    monkeypatch.setattr(fcntl, "fcntl", refuse)
    assert writer_of(tmp_path) is None


def test_another_system(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    put(tmp_path, {"a.jsonl": b"{}\n"})
    monkeypatch.setattr(sys, "platform", "darwin")
    assert writer_of(tmp_path) is None
    monkeypatch.setattr(sys, "platform", "win32")
    assert lock.is_locked(str(tmp_path / "a.jsonl")) is False


def test_the_lock_of_the_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, {"a.jsonl": b"{}\n"})
    store = JsonlStore(os.fspath(tmp_path))
    (conversation,) = store.inventory().conversations
    assert store.locked(conversation) is False
    with (tmp_path / "a.lock").open("wb") as file:
        assert store.locked(conversation) is False
        fcntl.flock(file, fcntl.LOCK_EX)
        assert store.locked(conversation) is True
    assert store.locked(conversation) is False

    def refuse(*_arguments: object) -> None:
        raise OSError(errno.ENOLCK, "no locks here")

    monkeypatch.setattr(fcntl, "flock", refuse)
    assert store.locked(conversation) is False
