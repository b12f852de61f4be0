"""Closing logs that others may read: nothing but the mode changes, and an interruption leaves no doubt."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from jarvis_ops.errors import OpsError, RefusedError, StaleError
from jarvis_ops.model.plan import Change, NewMode
from jarvis_ops.stores.base import WritableStore
from jarvis_ops.stores.jsonl.ours import Files
from jarvis_ops.stores.jsonl.store import JsonlStore
from jarvis_ops.stores.jsonl.writer import Writer
from tests.commands import command, contents
from tests.stores.changes import LATER, NEW, OLD, RUN, change_of, conversation_of, healed
from tests.stores.disk_state import put

ROOT = Path(__file__).resolve().parents[2]
RULE = ("--rule", "file-mode")


class Stopping(Files):
    """A disk that fails at the given setting of a mode; with `None`, it only counts them."""

    def __init__(self, at: int | None) -> None:
        self.at = at
        self.count = 0

    def set_mode(self, descriptor: int, mode: int) -> None:
        self.count += 1
        if self.count == self.at:
            raise OSError(5, "Input/output error")
        super().set_mode(descriptor, mode)


@pytest.fixture
def store(tmp_path: Path) -> WritableStore:
    put(tmp_path, {"a.jsonl": OLD, "a.segments/000001.jsonl": OLD})
    (tmp_path / "a.jsonl").chmod(0o644)
    (tmp_path / "a.segments/000001.jsonl").chmod(0o444)
    return JsonlStore(os.fspath(tmp_path))


def closing(store: WritableStore, *, also: bool = False) -> Change:
    """The change that closes both files of a conversation, and perhaps heals its live file as well."""
    conversation = conversation_of(store)
    change = change_of(conversation, {"a.jsonl": OLD} if also else {}, {"a.jsonl": healed()} if also else {})
    modes = (NewMode("a.segments/000001.jsonl", 0o444, 0o400), NewMode("a.jsonl", 0o644, 0o600))
    return msgspec.structs.replace(change, modes=modes)


def modes(folder: Path) -> list[int]:
    return [path.stat().st_mode & 0o777 for path in (folder / "a.jsonl", folder / "a.segments/000001.jsonl")]


@contextmanager
def held(store: WritableStore, run: str) -> Iterator[None]:
    with store.hold(conversation_of(store), run):
        yield


@pytest.mark.parametrize("also", [False, True], ids=["modes-alone", "with-bytes"])
def test_set_and_taken_back(store: WritableStore, tmp_path: Path, *, also: bool) -> None:
    inode = (tmp_path / "a.jsonl").stat().st_ino
    with held(store, RUN):
        applied = store.apply(closing(store, also=also), RUN)
    assert (applied.level is None) == (not also)
    assert modes(tmp_path) == [0o600, 0o400]
    assert (tmp_path / "a.jsonl").read_bytes() == (NEW if also else OLD)
    assert ((tmp_path / "a.jsonl").stat().st_ino == inode) == (not also)
    (entry,) = store.runs(store.inventory())
    with held(store, LATER):
        store.apply(store.undoing(entry, conversation_of(store)), LATER)
    assert modes(tmp_path) == [0o644, 0o444]
    assert (tmp_path / "a.jsonl").read_bytes() == OLD
    assert [(one.run, one.state) for one in store.runs(store.inventory())] == [(RUN, "undone"), (LATER, "done")]


@pytest.mark.parametrize("also", [False, True], ids=["modes-alone", "with-bytes"])
def test_interrupted_at_every_mode(tmp_path: Path, *, also: bool) -> None:
    """Each failure leaves all as it was, or what `recover` finishes."""
    place = tmp_path / "count"
    number = 1
    while True:
        shutil.rmtree(place, ignore_errors=True)
        put(place, {"a.jsonl": OLD, "a.segments/000001.jsonl": OLD})
        (place / "a.jsonl").chmod(0o644)
        (place / "a.segments/000001.jsonl").chmod(0o444)
        store, disk = JsonlStore(os.fspath(place)), Stopping(number)
        conversation, change = conversation_of(store), closing(store, also=also)
        writer = Writer(disk)
        try:
            with writer.hold(conversation, RUN, wait=0):
                writer.apply(change, RUN)
        except OpsError:
            assert disk.count >= number
        else:
            break
        unfinished = store.unfinished(conversation)
        if not unfinished:
            assert modes(place) == [0o644, 0o444]
            assert (place / "a.jsonl").read_bytes() == OLD
        else:
            with held(store, LATER):
                assert [one.run for one in store.recover(conversation)] == [RUN]
            assert modes(place) == [0o600, 0o400]
            assert (place / "a.jsonl").read_bytes() == (NEW if also else OLD)
        assert store.unfinished(conversation) == []
        number += 1
    assert number > 4


def test_a_mode_that_was_changed_since(store: WritableStore, tmp_path: Path) -> None:
    change = closing(store)
    (tmp_path / "a.jsonl").chmod(0o640)
    with held(store, RUN), pytest.raises(StaleError):
        store.apply(change, RUN)
    assert modes(tmp_path) == [0o640, 0o444]
    assert not (tmp_path / ".jarvis-ops").exists()


def test_a_plan_sets_the_mode_of_no_other_file(store: WritableStore, tmp_path: Path) -> None:
    put(tmp_path, {"secret": b"x"})
    (tmp_path / "secret").chmod(0o600)
    for name in ("secret", "../secret", ".jarvis-ops/backups/x"):
        change = msgspec.structs.replace(closing(store), modes=(NewMode(name, 0o600, 0o644),))
        with held(store, RUN), pytest.raises(RefusedError):
            store.apply(change, RUN)
    assert (tmp_path / "secret").stat().st_mode & 0o777 == 0o600


def test_a_saved_plan_opens_nothing(tmp_path: Path) -> None:
    store = tmp_path / "store"
    put(store, {"a.jsonl": b'{"id":"m1","role":"user","content":"x","timestamp":1790000000000}\n'})
    (store / "a.jsonl").chmod(0o604)
    saved = tmp_path / "plan.json"
    command("heal", "--all", *RULE, "--plan-out", str(saved), store=store, home=tmp_path)
    plan = json.loads(saved.read_text())
    plan["plans"][0]["modes"][0]["new"] = 0o666
    saved.write_text(json.dumps(plan))
    done = command("heal", "--plan", str(saved), "--apply", store=store, home=tmp_path)
    assert done.code == 2
    assert "let others read it" in done.complaints
    assert (store / "a.jsonl").stat().st_mode & 0o777 == 0o604


def test_one_conversation_and_its_segments(tmp_path: Path) -> None:
    """Only what is named is closed; who has it open is not disturbed; sealed segments stay sealed."""
    store = tmp_path / "healthy"
    shutil.copytree(ROOT / "sample_data/healthy", store)
    files = sorted(store.rglob("*.jsonl"))
    for file in files:
        file.chmod(0o444 if "segments" in str(file) else 0o644)
    before = contents(store)
    done = command("heal", "jeju-trip", *RULE, "--apply", store=store, home=tmp_path)
    assert done.code == 0, done.complaints
    assert [step["step"] for step in done.steps] == ["set-mode"] * 3
    wanted = {
        name: (data, mode & ~0o077) if name.startswith("jeju-trip.") and name.endswith("l") else (data, mode)
        for name, (data, mode) in before.items()
    }
    assert contents(store) == wanted
    assert not (store / ".jarvis-ops/backups").exists()
    done = command("heal", "jeju-trip-week", *RULE, "--apply", store=store, home=tmp_path)
    assert [step["position"]["file"] for step in done.steps] == ["jeju-trip-week.jsonl"]


def test_runs_and_gc_know_it(tmp_path: Path) -> None:
    store = tmp_path / "store"
    put(store, {"a.jsonl": b'{"id":"m1","role":"user","content":"x","timestamp":1790000000000}\n'})
    (store / "a.jsonl").chmod(0o644)
    run = command("heal", "--all", *RULE, "--apply", store=store, home=tmp_path).run
    listed = command("runs", store=store, home=tmp_path)
    assert [(one["run"], one["state"], one["backups"]) for one in listed.report["outcomes"]] == [(run, "done", [])]
    assert command("gc", "--apply", store=store, home=tmp_path).code == 0
    assert command("undo", run, "--apply", store=store, home=tmp_path).code == 0
    assert (store / "a.jsonl").stat().st_mode & 0o777 == 0o644
