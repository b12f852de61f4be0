"""What cannot be read is said, conversation by conversation, and never makes a run wait."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from jarvis_ops.errors import StoreError, UnreadableError
from jarvis_ops.model.conversation import Conversation, PartFile
from jarvis_ops.stores.jsonl.store import JsonlStore
from tests.stores.disk_state import lines_of, listed, oddities, put

LINE = b"{}\n"
ROOT = Path(__file__).parents[2]


def open_only(path: Path) -> None:
    store = JsonlStore(os.fspath(path))
    (conversation,) = store.inventory().conversations
    with store.open(conversation) as snapshot:
        list(snapshot.records())


def make(kind: str, path: Path) -> None:
    if kind == "a directory":
        path.mkdir()
    elif kind == "a named pipe":
        os.mkfifo(path)
    else:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """The name of a socket must be short."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.mark.parametrize("kind", ["a directory", "a named pipe", "a socket"])
def test_what_is_no_file_is_listed_and_refused(short_folder: Path, kind: str) -> None:
    make(kind, short_folder / "x.jsonl")
    put(short_folder, {"good.jsonl": LINE})
    assert oddities(short_folder) == [("not-a-file", "x.jsonl")]
    store = JsonlStore(os.fspath(short_folder))
    good, bad = store.inventory().conversations
    with store.open(good) as snapshot:
        assert len(list(snapshot.records())) == 1
    with pytest.raises(UnreadableError, match=r"^x\.jsonl: ") as caught, store.open(bad):
        pass
    assert caught.value.conversation == "x"


@pytest.mark.parametrize("kind", ["a directory", "a named pipe"])
def test_a_segment_that_is_no_file(tmp_path: Path, kind: str) -> None:
    put(tmp_path, {"c.jsonl": LINE, "c.segments/000001.jsonl": LINE})
    make(kind, tmp_path / "c.segments" / "000002.jsonl")
    assert oddities(tmp_path) == [("not-a-file", "c.segments/000002.jsonl")]
    with pytest.raises(UnreadableError, match=f"000002.jsonl: it is {kind}, not a regular file"):
        open_only(tmp_path)


@pytest.mark.parametrize("kind", ["a named pipe", "a socket"])
def test_a_store_that_is_neither_directory_nor_file(short_folder: Path, kind: str) -> None:
    make(kind, short_folder / "s")
    with pytest.raises(StoreError, match=f"it is {kind}"):
        JsonlStore(os.fspath(short_folder / "s"))


def test_a_store_that_is_a_device() -> None:
    with pytest.raises(StoreError, match="it is a device"):
        JsonlStore(os.devnull)


def test_a_store_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="No such file or directory"):
        JsonlStore(str(tmp_path / "nowhere"))
    with pytest.raises(StoreError):
        JsonlStore("a\0b")
    store = JsonlStore(str(put(tmp_path / "soon gone", {"a.jsonl": LINE})))
    (tmp_path / "soon gone" / "a.jsonl").unlink()
    (tmp_path / "soon gone").rmdir()
    with pytest.raises(StoreError):
        store.inventory()


@pytest.mark.parametrize("gone", ["c.jsonl", "c.segments/000001.jsonl", "c.segments/000002.jsonl"])
def test_a_part_that_is_gone_since_the_listing(tmp_path: Path, gone: str) -> None:
    put(tmp_path, {"c.jsonl": LINE, "c.segments/000001.jsonl": LINE, "c.segments/000002.jsonl": LINE})
    store = JsonlStore(os.fspath(tmp_path))
    (conversation,) = store.inventory().conversations
    (tmp_path / gone).unlink()
    with (
        pytest.raises(UnreadableError, match=f"^{gone}: it is gone since the store was listed"),
        store.open(conversation),
    ):
        pass


def test_a_live_file_that_has_become_a_segment_since_the_listing(tmp_path: Path) -> None:
    put(tmp_path, {"c.jsonl": LINE, "c.segments/": b""})
    store = JsonlStore(os.fspath(tmp_path))
    (conversation,) = store.inventory().conversations
    (tmp_path / "c.jsonl").rename(tmp_path / "c.segments" / "000001.jsonl")
    with store.open(conversation) as snapshot:
        assert [part.file.file for part in snapshot.parts] == ["c.segments/000001.jsonl"]
        assert snapshot.writer() is False


def test_a_gap_is_listed_as_it_is(tmp_path: Path) -> None:
    put(tmp_path, {"c.jsonl": b"d\n", "c.segments/000001.jsonl": b"a\n", "c.segments/000003.jsonl": b"c\n"})
    assert lines_of(JsonlStore(os.fspath(tmp_path)), "c") == [b"a\n", b"c\n", b"d\n"]


def test_a_segment_under_two_numbers_is_read_once(tmp_path: Path) -> None:
    put(tmp_path, {"c.jsonl": b"d\n", "c.segments/000001.jsonl": b"a\n"})
    os.link(tmp_path / "c.segments/000001.jsonl", tmp_path / "c.segments/000002.jsonl")
    assert lines_of(JsonlStore(os.fspath(tmp_path)), "c") == [b"a\n", b"d\n"]


def test_a_segment_that_is_a_dangling_link(tmp_path: Path) -> None:
    put(tmp_path, {"c.jsonl": b"d\n", "c.segments/000001.jsonl": b"a\n"})
    (tmp_path / "c.segments/000002.jsonl").symlink_to("nowhere")
    assert oddities(tmp_path) == [("dangling-link", "c.segments/000002.jsonl")]
    with pytest.raises(UnreadableError, match=r"000002\.jsonl: it is a link that leads nowhere"):
        open_only(tmp_path)


def test_segments_that_are_a_file(tmp_path: Path) -> None:
    put(tmp_path, {"c.jsonl": b"d\n", "c.segments": b""})
    assert lines_of(JsonlStore(os.fspath(tmp_path)), "c") == [b"d\n"]


def test_metadata_alone_is_an_empty_conversation(tmp_path: Path) -> None:
    put(tmp_path, {"c.meta.json": b"{}"})
    assert lines_of(JsonlStore(os.fspath(tmp_path)), "c") == []


def test_a_conversation_without_a_file_is_refused(tmp_path: Path) -> None:
    nothing = Conversation(id="c", session_id="c", folder="", parts=(), live=None)
    with pytest.raises(UnreadableError), JsonlStore(os.fspath(tmp_path)).open(nothing):
        pass


def test_a_live_file_that_never_rests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, {"c.jsonl": LINE})
    monkeypatch.setattr("jarvis_ops.stores.jsonl.opening.Opening._attempt", lambda _self: None)
    with pytest.raises(UnreadableError, match="sealed again and again"):
        open_only(tmp_path)


def test_companions(tmp_path: Path) -> None:
    put(tmp_path, {"c.meta.json": b"{}", "long.json": b"x" * 101})
    store = JsonlStore(os.fspath(tmp_path))
    (conversation,) = store.inventory().conversations
    assert conversation.metadata is not None
    assert store.companion(conversation.metadata) == b"{}"
    for file, reason in (("long.json", "longer than 100"), ("gone.json", "No such"), (".", "a directory")):
        with pytest.raises(UnreadableError, match=reason):
            store.companion(PartFile(file, os.path.join(tmp_path, file)), 100)


AS_NOBODY = """
import os, sys
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
from jarvis_ops.errors import OpsError
from jarvis_ops.stores.open import open_store
try:
    store = open_store(sys.argv[1])
    inventory = store.inventory()
    for oddity in inventory.oddities:
        print("odd", oddity.what, oddity.file, oddity.detail)
    for conversation in inventory.conversations:
        try:
            with store.open(conversation) as snapshot:
                count = len(list(snapshot.records()))
                print("read", conversation.id, count, snapshot.writer(), store.locked(conversation))
        except OpsError as error:
            print("failed", error.conversation, error.message)
except OpsError as error:
    print(error.code, error.message)
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user of the machine may enter."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        path.chmod(0o755)
        yield path
        for inside in path.rglob("*"):
            inside.chmod(0o755)


def as_nobody(store: Path) -> list[str]:
    # The interpreter and the package may lie where only root can go: everything is imported before we step down.
    code = "import jarvis_ops.stores.open\nfrom encodings import idna\n" + AS_NOBODY
    run = subprocess.run(
        [sys.executable, "-c", code, store], capture_output=True, check=True, cwd=ROOT, text=True, timeout=30
    )
    return run.stdout.splitlines()


def test_a_file_without_permission(open_folder: Path) -> None:
    put(
        open_folder,
        {"a.jsonl": LINE, "b.jsonl": LINE, "b.lock": b"", "c.meta.json": b"{}", "d.segments/000001.jsonl": LINE},
    )
    put(open_folder, {"e.jsonl": LINE, "e.segments/000001.jsonl": LINE})
    for name in ("a.jsonl", "b.lock", "d.segments", "e.segments/000001.jsonl"):
        (open_folder / name).chmod(0)
    for name in ("b.jsonl", "e.jsonl", "e.segments"):
        (open_folder / name).chmod(0o755)
    assert as_nobody(open_folder) == [
        "odd unreadable d.segments Permission denied",
        "failed a a.jsonl: Permission denied",
        f"read b 1 {'None' if os.getuid() == 0 else 'False'} False",
        "read c 0 False False",
        "failed d d.segments: Permission denied",
        "failed e e.segments/000001.jsonl: Permission denied",
    ]


def test_a_store_without_permission(open_folder: Path) -> None:
    closed = put(open_folder / "closed", {"a.jsonl": LINE})
    closed.chmod(0)
    assert as_nobody(closed) == [f"store {closed}: Permission denied"]
    (line,) = as_nobody(closed / "a.jsonl")
    assert line.startswith("store ")
    assert line.endswith("Permission denied")


def test_segments_without_permission_beside_a_single_file(open_folder: Path) -> None:
    put(open_folder, {"a.jsonl": LINE, "a.segments/000001.jsonl": LINE})
    (open_folder / "a.segments").chmod(0)
    assert as_nobody(open_folder / "a.jsonl") == [
        "odd unreadable a.segments Permission denied",
        "failed a a.segments: Permission denied",
    ]


def test_unreadable_folders_below_the_store_do_not_stop_it(open_folder: Path) -> None:
    put(open_folder, {"projects/-a/1.jsonl": LINE, "projects/-b/2.jsonl": LINE})
    (open_folder / "projects/-b").chmod(0)
    assert as_nobody(open_folder)[0] == "odd unreadable projects/-b Permission denied"
    assert as_nobody(open_folder)[1].startswith("read -a/1 1")


@pytest.mark.parametrize("name", ["projects", "sessions"])
def test_the_place_of_the_logs_without_permission(open_folder: Path, name: str) -> None:
    put(open_folder, {f"{name}/-a/1.jsonl": LINE})
    (open_folder / name).chmod(0)
    (line,) = as_nobody(open_folder)
    assert line in (f"store {open_folder}: Permission denied", f"odd unreadable {name} Permission denied")


def test_binary_garbage_is_lines_like_any_other(tmp_path: Path) -> None:
    data = bytes(range(256)) * 100
    put(tmp_path, {"x.jsonl": data})
    assert b"".join(lines_of(JsonlStore(os.fspath(tmp_path)), "x")) == data


def test_names_with_control_characters(tmp_path: Path) -> None:
    put(tmp_path, {"\x1b[31mred\n.jsonl": LINE})
    assert [each.id for each in listed(tmp_path).conversations] == ["\x1b[31mred\n"]
