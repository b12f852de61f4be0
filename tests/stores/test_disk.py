"""Replacing a file: the old bytes or the new ones, never anything between, whatever goes wrong."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from jarvis_ops.stores.disk import flush_folder, replace_file

OLD = b"old bytes\n"
NOBODY = 65534


def run_in_child(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run code in another Python, with what a process can only do to itself (limits, dying)."""
    prelude = "import os, resource, signal, sys\nfrom jarvis_ops.stores.disk import replace_file\n"
    return subprocess.run(
        [sys.executable, "-c", prelude + code, *arguments], capture_output=True, text=True, check=False, timeout=60
    )


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "report.json"
    path.write_bytes(OLD)
    return path


@pytest.fixture
def sealed_folder() -> Iterator[Path]:
    """A folder that may be entered but not written to, seen by a user who is not root."""
    folder = Path(tempfile.mkdtemp(prefix="jarvis-ops-"))
    (folder / "report.json").write_bytes(OLD)
    folder.chmod(0o555)
    user = os.geteuid()
    if user == 0:
        os.seteuid(NOBODY)
    try:
        yield folder
    finally:
        os.seteuid(user)
        folder.chmod(0o700)
        (folder / "report.json").unlink()
        folder.rmdir()


def test_a_new_file_is_made(tmp_path: Path) -> None:
    replace_file(str(tmp_path / "a"), b"new")
    assert (tmp_path / "a").read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["a"]


def test_an_old_file_is_replaced_by_another_inode(old: Path) -> None:
    with old.open("rb") as reader:
        replace_file(str(old), b"new")
        assert reader.read() == OLD
    assert old.read_bytes() == b"new"


def test_no_bytes_are_bytes_too(old: Path) -> None:
    replace_file(str(old), b"")
    assert old.read_bytes() == b""


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o666])
def test_the_mode_is_what_was_asked_whatever_the_umask(old: Path, mode: int) -> None:
    before = os.umask(0o077)
    try:
        replace_file(str(old), b"new", mode)
    finally:
        os.umask(before)
    assert stat.S_IMODE(old.stat().st_mode) == mode


def test_a_bare_name_lies_in_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    replace_file("a", b"new")
    assert (tmp_path / "a").read_bytes() == b"new"


def test_the_longest_name_works(tmp_path: Path) -> None:
    name = "한" * 85
    replace_file(str(tmp_path / name), b"new")
    assert (tmp_path / name).read_bytes() == b"new"


def test_a_name_that_is_not_utf8_works(tmp_path: Path) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff")
    replace_file(path, b"new")
    assert Path(path).read_bytes() == b"new"


def test_a_link_is_replaced_and_not_followed(old: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(old)
    replace_file(str(link), b"new")
    assert not link.is_symlink()
    assert old.read_bytes() == OLD


def test_missing_folders_are_made_only_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "c"
    with pytest.raises(FileNotFoundError):
        replace_file(str(path), b"new")
    assert os.listdir(tmp_path) == []
    before = os.umask(0)
    try:
        replace_file(str(path), b"new", make_parent=True)
    finally:
        os.umask(before)
    assert path.read_bytes() == b"new"
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in (path.parent, path.parent.parent)] == [0o700, 0o700]
    replace_file(str(path), b"newer", make_parent=True)
    assert path.read_bytes() == b"newer"


def test_a_file_in_place_of_a_folder_is_an_error(old: Path) -> None:
    with pytest.raises(OSError, match=r"report\.json"):
        replace_file(str(old / "x" / "y"), b"new", make_parent=True)
    assert old.read_bytes() == OLD


def test_a_folder_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    with pytest.raises(IsADirectoryError):
        replace_file(str(tmp_path / "d"), b"new")
    assert os.listdir(tmp_path) == ["d"]


def test_a_write_that_takes_few_bytes_is_continued(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, bytes(data[:7])))
    replace_file(str(old), bytes(range(256)) * 3)
    assert old.read_bytes() == bytes(range(256)) * 3


def test_a_full_disk_leaves_the_old_bytes_and_nothing_else(old: Path) -> None:
    # A limit on file sizes acts as a full disk does: the first write takes a part, the next one fails.
    code = """
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    replace_file(sys.argv[1], b"x" * 5000)
except OSError as error:
    print(error.errno)
"""
    assert run_in_child(code, str(old)).stdout == f"{errno.EFBIG}\n"
    assert old.read_bytes() == OLD
    assert os.listdir(old.parent) == [old.name]


def test_a_folder_without_permission_is_left_alone(sealed_folder: Path) -> None:
    with pytest.raises(PermissionError):
        replace_file(str(sealed_folder / "report.json"), b"new")
    assert (sealed_folder / "report.json").read_bytes() == OLD
    assert os.listdir(sealed_folder) == ["report.json"]


def test_killed_before_the_rename_the_old_bytes_are_there(old: Path) -> None:
    code = """
os.replace = lambda *names: os.kill(os.getpid(), signal.SIGKILL)
replace_file(sys.argv[1], b"new")
"""
    assert run_in_child(code, str(old)).returncode == -signal.SIGKILL
    assert old.read_bytes() == OLD
    (left,) = set(os.listdir(old.parent)) - {old.name}
    assert left.startswith(".report.json.")
    assert left.endswith(".tmp")
    replace_file(str(old), b"newer")
    assert old.read_bytes() == b"newer"


def test_a_break_leaves_no_temporary_file(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(descriptor: int) -> None:
        raise KeyboardInterrupt(descriptor)

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        replace_file(str(old), b"new")
    assert old.read_bytes() == OLD
    assert os.listdir(old.parent) == [old.name]


def test_a_reader_never_sees_half(old: Path) -> None:
    values = [bytes([letter]) * 40_000 for letter in b"ab"]
    old.write_bytes(values[0])
    seen: set[bytes] = set()
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            seen.add(old.read_bytes())

    reader = threading.Thread(target=read)
    reader.start()
    for turn in range(200):
        replace_file(str(old), values[turn % 2])
    done.set()
    reader.join()
    assert seen <= set(values)


def test_the_file_is_flushed_before_its_rename_and_the_folder_after(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    fsync, replace = os.fsync, os.replace

    def watched_fsync(descriptor: int) -> None:
        steps.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        fsync(descriptor)

    def watched_replace(source: str, target: str) -> None:
        steps.append("rename")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", watched_fsync)
    monkeypatch.setattr(os, "replace", watched_replace)
    replace_file(str(old), b"new")
    assert steps == ["file", "rename", "folder"]


def test_a_folder_that_cannot_be_flushed_is_forgiven_only_where_it_has_no_such_operation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flush_folder("/proc/self")

    def broken(descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO), str(descriptor))

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match=os.strerror(errno.EIO)):
        flush_folder(str(tmp_path))


def test_flushing_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        flush_folder(str(tmp_path / "gone"))
