"""Changing a conversation on a real disk, and taking the change back."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from jarvis_ops.errors import BusyError, OpsError, RefusedError, StaleError
from jarvis_ops.model.pieces import Span
from jarvis_ops.stores.base import WritableStore
from jarvis_ops.stores.jsonl.store import JsonlStore
from tests.stores.changes import (
    LATER,
    LATEST,
    NEW,
    OLD,
    RUN,
    change_of,
    conversation_of,
    heal,
    healed,
    lines,
    take_back,
)
from tests.stores.disk_state import put

OURS = ".jarvis-ops"


@pytest.fixture
def live(tmp_path: Path) -> Path:
    put(tmp_path, {"a.jsonl": OLD})
    (tmp_path / "a.jsonl").chmod(0o640)
    return tmp_path / "a.jsonl"


@pytest.fixture
def store(live: Path) -> WritableStore:
    return JsonlStore(os.fspath(live.parent))


def everything(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Inode, time and bytes of all files below a folder, and nothing of its folders but their names."""
    return {
        str(path.relative_to(folder)): (path.stat().st_ino, path.stat().st_mtime_ns, path.read_bytes())
        if path.is_file()
        else (0, 0, b"")
        for path in folder.rglob("*")
    }


def state_of(store: WritableStore, run: str) -> str:
    (found,) = [each for each in store.runs(store.inventory()) if each.run == run]
    return found.state


def test_the_new_bytes_take_the_place_of_the_old_ones(live: Path, store: WritableStore) -> None:
    before = live.stat()
    heal(store)
    assert live.read_bytes() == NEW
    now = live.stat()
    assert (stat.S_IMODE(now.st_mode), now.st_uid, now.st_gid) == (0o640, before.st_uid, before.st_gid)
    assert now.st_ino != before.st_ino
    assert now.st_nlink == 1
    assert sorted(os.listdir(live.parent)) == [OURS, "a.jsonl"]


def test_what_was_there_is_kept(live: Path, store: WritableStore) -> None:
    inode = live.stat().st_ino
    heal(store)
    ours = live.parent / OURS
    assert sorted(os.listdir(ours)) == ["backups", "journal", "quarantine"]
    (backup,) = (ours / "backups").iterdir()
    assert backup.name == f"a.jsonl.{len(OLD)}.{RUN}.bak"
    assert backup.stat().st_ino == inode
    assert backup.read_bytes() == OLD
    folder = ours / "quarantine" / RUN
    assert (folder / "a.raw").read_bytes() == b'{"id":"torn\0\0\n'
    (entry,) = map(json.loads, (folder / "a.jsonl").read_bytes().splitlines())
    assert {key: entry[key] for key in entry if key != "sha256"} == {
        "file": "a.jsonl", "line": 3, "offset": 24, "length": 14, "raw_offset": 0, "rule": "torn-line",
    }  # fmt: skip
    journal = json.loads((ours / "journal" / f"{RUN}.a.json").read_bytes())
    assert (journal["format"], journal["state"], journal["conversation"]) == (1, "done", "a")
    assert stat.S_IMODE(ours.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in ours.rglob("*") if path.is_dir()} == {0o700}


def test_it_can_be_taken_back_and_that_too(live: Path, store: WritableStore) -> None:
    heal(store)
    take_back(store, RUN, LATER)
    assert live.read_bytes() == OLD
    assert stat.S_IMODE(live.stat().st_mode) == 0o640
    assert live.stat().st_nlink == 1
    assert (state_of(store, RUN), state_of(store, LATER)) == ("undone", "done")
    take_back(store, LATER, LATEST)
    assert live.read_bytes() == NEW
    assert (state_of(store, RUN), state_of(store, LATER), state_of(store, LATEST)) == ("done", "undone", "done")
    take_back(store, RUN, "20261130T221503Z-6fd2")
    assert live.read_bytes() == OLD
    assert store.unfinished(conversation_of(store)) == []


def test_what_was_added_since_stays_behind(live: Path, store: WritableStore) -> None:
    heal(store)
    with live.open("ab") as file:
        file.write(lines("m5"))
    take_back(store, RUN, LATER)
    assert live.read_bytes() == OLD + lines("m5")


def test_a_torn_end_that_comes_back_is_not_glued_to_what_was_added(live: Path, store: WritableStore) -> None:
    live.write_bytes(lines("m1") + b'{"id":')
    conversation = conversation_of(store)
    change = change_of(conversation, {"a.jsonl": live.read_bytes()}, {"a.jsonl": [Span("a.jsonl", 0, 12)]})
    with store.hold(conversation, RUN):
        store.apply(change, RUN)
    assert live.read_bytes() == lines("m1")
    with live.open("ab") as file:
        file.write(lines("m2"))
    take_back(store, RUN, LATER)
    assert live.read_bytes() == lines("m1") + b'{"id":\n' + lines("m2")


@pytest.mark.parametrize(
    ("since", "said"),
    [
        (b'{"id":"m6","parentUuid":"made"}\n', "refers to made"),
        (b'{"id":"m6"', "is being written"),
    ],
)
def test_an_undo_that_would_harm_what_was_added(live: Path, store: WritableStore, since: bytes, said: str) -> None:
    heal(store)
    with live.open("ab") as file:
        file.write(since)
    with pytest.raises(RefusedError, match=said):
        take_back(store, RUN, LATER)
    assert live.read_bytes() == NEW + since


def test_an_undo_of_what_was_changed_since(live: Path, store: WritableStore) -> None:
    heal(store)
    live.write_bytes(NEW.replace(b"m2", b"m9"))
    with pytest.raises(RefusedError, match="was changed since"):
        take_back(store, RUN, LATER)


def test_an_undo_without_its_backup(live: Path, store: WritableStore) -> None:
    heal(store)
    next((live.parent / OURS / "backups").iterdir()).unlink()
    with pytest.raises(RefusedError, match="the backup"):
        take_back(store, RUN, LATER)


def test_an_undo_twice(store: WritableStore) -> None:
    heal(store)
    take_back(store, RUN, LATER)
    with pytest.raises(RefusedError, match="not in force"):
        take_back(store, RUN, LATEST)


def test_a_changed_file_is_stale(live: Path, store: WritableStore) -> None:
    conversation = conversation_of(store)
    change = change_of(conversation, {"a.jsonl": OLD}, {"a.jsonl": healed()})
    for data in (OLD + lines("m5"), OLD[:-1], OLD.replace(b"m4", b"m9")):
        live.write_bytes(data)
        before = everything(live.parent)
        with pytest.raises(StaleError), store.hold(conversation, RUN):
            store.apply(change, RUN)
        assert everything(live.parent) == before
    live.unlink()
    with pytest.raises(StaleError, match="gone"), store.hold(conversation, RUN):
        store.apply(change, RUN)


def test_a_file_that_is_being_written_is_left_alone(live: Path, store: WritableStore) -> None:
    conversation = conversation_of(store)
    change = change_of(conversation, {"a.jsonl": OLD}, {"a.jsonl": healed()})
    before = everything(live.parent)
    with live.open("ab"), pytest.raises(BusyError, match="open for writing"), store.hold(conversation, RUN):
        store.apply(change, RUN)
    assert everything(live.parent) == before


def test_a_file_with_two_names_is_refused(live: Path, store: WritableStore) -> None:
    os.link(live, live.parent / "other")
    before = everything(live.parent)
    with pytest.raises(RefusedError, match="hard links"):
        heal(store)
    assert everything(live.parent) == before


def test_a_link_stays_a_link(live: Path, tmp_path: Path) -> None:
    folder = put(tmp_path / "linked", {"b.jsonl": lines("m1")})
    (folder / "a.jsonl").symlink_to(live)
    store = JsonlStore(os.fspath(folder))
    heal(store)
    assert (folder / "a.jsonl").is_symlink()
    assert live.read_bytes() == NEW
    assert sorted(os.listdir(folder)) == ["a.jsonl", "b.jsonl"]
    assert (live.parent / OURS / "backups").is_dir()


def test_a_plan_cannot_name_other_files(live: Path, store: WritableStore) -> None:
    put(live.parent, {"secret": b"x\n"})
    conversation = conversation_of(store)
    for name in ("secret", f"{OURS}/backups/../../secret", f"{OURS}/backups/.."):
        whole = change_of(conversation, {"a.jsonl": OLD}, {"a.jsonl": healed()})
        piece = msgspec.structs.replace(whole.contents[0].pieces[0], file=name, length=2)
        content = msgspec.structs.replace(whole.contents[0], pieces=(piece,))
        with pytest.raises(OpsError), store.hold(conversation, RUN):
            store.apply(msgspec.structs.replace(whole, contents=(content,)), RUN)
    assert live.read_bytes() == OLD


def test_a_full_disk_is_seen_beforehand(live: Path, store: WritableStore, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        f_bavail, f_frsize = 1, 64

    monkeypatch.setattr(os, "statvfs", lambda _: Full)
    before = everything(live.parent)
    with pytest.raises(RefusedError, match="too full"):
        heal(store)
    assert everything(live.parent) == before


def segmented(folder: Path) -> tuple[WritableStore, dict[str, bytes], Callable[[], dict[str, bytes]]]:
    contents = {"a.segments/000001.jsonl": lines("s1", "s2", "s3"), "a.jsonl": lines("m1", "r1", "m2")}
    put(folder, contents)
    return JsonlStore(os.fspath(folder)), contents, lambda: {name: (folder / name).read_bytes() for name in contents}


def test_segments_and_the_live_file_change_together(tmp_path: Path) -> None:
    store, contents, now = segmented(tmp_path)
    segment, live = contents
    (tmp_path / segment).chmod(0o400)
    conversation = conversation_of(store)
    tables: dict[str, list[Span | bytes]] = {
        segment: [Span(segment, 0, 12), Span(live, 12, 24), Span(segment, 12, 36)],
        live: [Span(live, 0, 12), Span(live, 24, 36), lines("note")],
    }
    change = change_of(conversation, contents, tables)
    with store.hold(conversation, RUN):
        store.apply(change, RUN)
    assert now() == {segment: lines("s1", "r1", "s2", "s3"), live: lines("m1", "m2", "note")}
    assert stat.S_IMODE((tmp_path / segment).stat().st_mode) == 0o400
    assert len(os.listdir(tmp_path / OURS / "backups")) == 2
    assert sorted(os.listdir(tmp_path / "a.segments")) == ["000001.jsonl"]
    take_back(store, RUN, LATER)
    assert now() == contents


def test_lines_that_come_late_are_carried_over_at_the_next_start(live: Path, store: WritableStore) -> None:
    heal(store)
    backup = next((live.parent / OURS / "backups").iterdir())
    with backup.open("ab") as file:
        file.write(lines("late1", "late2"))
    with live.open("ab") as file:
        file.write(lines("m5") + b'{"id":')
    conversation = conversation_of(store)
    assert store.unfinished(conversation) == [RUN]
    with store.hold(conversation, LATER):
        (done,) = store.recover(conversation)
    assert done.run == RUN
    assert "2 lines" in done.what
    whole = NEW + lines("m5") + b'{"id":\n' + lines("late1", "late2")
    assert live.read_bytes() == whole
    assert store.unfinished(conversation) == []
    with store.hold(conversation, LATER):
        assert store.recover(conversation) == []
    assert live.read_bytes() == whole


def test_late_lines_of_a_writer_who_is_still_there_wait(live: Path, store: WritableStore) -> None:
    heal(store)
    conversation = conversation_of(store)
    with next((live.parent / OURS / "backups").iterdir()).open("ab") as file:
        file.write(lines("late"))
        file.flush()
        with pytest.raises(BusyError), store.hold(conversation, LATER):
            store.recover(conversation)
        assert live.read_bytes() == NEW
    with store.hold(conversation, LATER):
        store.recover(conversation)
    assert live.read_bytes() == NEW + lines("late")


def test_reading_leaves_no_trace(live: Path, store: WritableStore) -> None:
    before = everything(live.parent)
    conversation = conversation_of(store)
    assert store.unfinished(conversation) == []
    assert store.runs(store.inventory()) == []
    assert store.freeable(store.inventory(), ("backups",), 1 << 60) == []
    assert everything(live.parent) == before


def test_holding_and_letting_go_leaves_no_trace(live: Path, store: WritableStore) -> None:
    before = everything(live.parent)
    with store.hold(conversation_of(store), RUN):
        assert os.listdir(live.parent / OURS / "locks") == ["a"]
    assert everything(live.parent) == before
