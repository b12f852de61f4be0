"""What our own folders hold goes in time, and never before its time."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from jarvis_ops.stores.base import WritableStore
from jarvis_ops.stores.jsonl.ours import Files, safe_id
from jarvis_ops.stores.jsonl.store import JsonlStore
from jarvis_ops.stores.jsonl.tending import DAY, interrupted, overdue, run_time
from tests.stores.changes import LATER, OLD, RUN, heal, lines, take_back
from tests.stores.disk_state import put

KINDS = ("backups", "trash", "quarantine")
EVER = 1 << 60


def run_of(age: timedelta) -> str:
    return f"{datetime.now(UTC) - age:%Y%m%dT%H%M%SZ}-00ff"


@pytest.fixture
def store(tmp_path: Path) -> WritableStore:
    put(tmp_path, {"a.jsonl": OLD, "b.jsonl": OLD})
    return JsonlStore(os.fspath(tmp_path))


def ours(folder: Path) -> list[str]:
    return sorted(
        os.fspath(path.relative_to(folder / ".jarvis-ops"))
        for path in folder.rglob(".jarvis-ops/**/*")
        if path.is_file()
    )


def test_what_can_be_freed(tmp_path: Path, store: WritableStore) -> None:
    heal(store)
    put(tmp_path / ".jarvis-ops" / "trash", {f"{RUN}/x": b"12345"})
    found = store.freeable(store.inventory(), KINDS, EVER)
    assert sorted((one.kind, one.run, os.path.basename(one.path), one.bytes) for one in found) == [
        ("backups", RUN, f"a.jsonl.62.{RUN}.bak", 62),
        ("quarantine", RUN, "a.jsonl", one_size(tmp_path)),
        ("quarantine", RUN, "a.raw", 14),
        ("trash", RUN, "x", 5),
    ]
    assert store.freeable(store.inventory(), ["trash"], EVER) == [one for one in found if one.kind == "trash"]
    assert store.freeable(store.inventory(), KINDS, run_time(RUN)) == []
    assert len(store.freeable(store.inventory(), KINDS, run_time(RUN) + 1)) == 4


def one_size(folder: Path) -> int:
    return (folder / ".jarvis-ops" / "quarantine" / RUN / "a.jsonl").stat().st_size


def test_freeing_all_of_a_run_forgets_it(tmp_path: Path, store: WritableStore) -> None:
    heal(store)
    heal(store, LATER, "b")
    found = store.freeable(store.inventory(), KINDS, EVER)
    store.free([one for one in found if one.run == RUN and one.kind == "backups"])
    assert [run.run for run in store.runs(store.inventory())] == [RUN, LATER]
    store.free([one for one in found if one.run == RUN])
    assert [run.run for run in store.runs(store.inventory())] == [LATER]
    store.free(found)
    assert ours(tmp_path) == []


def test_a_backup_with_lines_that_came_late_stays(tmp_path: Path, store: WritableStore) -> None:
    heal(store)
    backup = next((tmp_path / ".jarvis-ops" / "backups").iterdir())
    with backup.open("ab") as file:
        file.write(lines("late"))
    assert store.freeable(store.inventory(), ["backups"], EVER) == []
    conversation = next(each for each in store.inventory().conversations if each.id == "a")
    store.recover(conversation)
    assert len(store.freeable(store.inventory(), ["backups"], EVER)) == 1
    with backup.open("ab"):
        assert store.freeable(store.inventory(), ["backups"], EVER) == []


def test_the_next_change_frees_what_is_old(tmp_path: Path, store: WritableStore) -> None:
    heal(store, run_of(timedelta(days=8)))
    young = run_of(timedelta(days=6))
    heal(store, young, "b")
    take_back(JsonlStore(os.fspath(tmp_path)), young, run_of(timedelta()), "b")
    assert {path.split("/")[-1].split(".")[0] for path in ours(tmp_path) if path.startswith("backups")} == {"b"}


def test_a_folder_that_holds_too_much(tmp_path: Path, store: WritableStore) -> None:
    old, older = run_of(timedelta(days=2)), run_of(timedelta(days=3))
    heal(store, old)
    heal(store, older, "b")
    now = int(datetime.now(UTC).timestamp() * 1000)
    disk, base = Files(), os.path.realpath(tmp_path)
    assert [one.run for one in overdue(disk, base, now, limit=100)] == [older]
    assert [one.run for one in overdue(disk, base, now, limit=0)] == [older, old]
    assert overdue(disk, base, now - 3 * DAY, limit=0) == []
    assert overdue(disk, base, now) == []


def test_runs_that_were_interrupted(tmp_path: Path, store: WritableStore) -> None:
    heal(store)
    journal = tmp_path / ".jarvis-ops" / "journal" / f"{RUN}.a.json"
    journal.write_text(journal.read_text().replace('"done"', '"ready"'))
    assert interrupted(Files(), os.path.realpath(tmp_path)) == [(RUN, "a")]
    assert store.runs(store.inventory())[0].state == "unfinished"
    assert store.freeable(store.inventory(), KINDS, EVER) == []


@pytest.mark.parametrize(
    ("name", "same"),
    [("a-B_9", True), ("a.b", False), ("한국어", False), ("x" * 101, False), ("../../etc", False), ("", True)],
)
def test_safe_ids(name: str, same: bool) -> None:
    made = safe_id(name)
    assert (made == name) == same
    assert len(made) <= 109
    assert made == "" or set(made) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


def test_no_two_names_share_a_safe_id() -> None:
    names = ["a.b", "a_b", "a/b", "a b", "a\udcffb", "x" * 101, "x" * 102]
    assert len({safe_id(name) for name in names}) == len(names)
