"""The disk in memory is the double of the real one: the same calls leave the same files, or the same error."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from jarvis_ops.stores.jsonl.ours import Files
from tests.crash.model import MemoryDisk

NAMES = ("a", "b", "c", "d/a", "d/b", "d", "e")
NAME = st.sampled_from(NAMES)
CALL = st.one_of(
    st.tuples(st.just("make"), NAME, NAME),
    st.tuples(st.just("write"), NAME, NAME),
    st.tuples(st.just("append"), NAME, NAME),
    st.tuples(st.just("link"), NAME, NAME),
    st.tuples(st.just("rename"), NAME, NAME),
    st.tuples(st.just("exchange"), NAME, NAME),
    st.tuples(st.just("remove"), NAME, NAME),
    st.tuples(st.just("remove_folder"), NAME, NAME),
)


def fits(disk: Files, top: str, call: tuple[str, str, str]) -> bool:
    """Whether it is a call as we make them: files are moved in one folder, and nothing takes the place of a folder."""
    what, first, second = call
    found, other = disk.status(os.path.join(top, first)), disk.status(os.path.join(top, second))
    if what in {"make", "write"}:
        return True
    if what == "remove_folder":
        return found is not None and not found.regular
    if (found is not None and not found.regular) or (other is not None and not other.regular):
        return False
    is_one_folder = os.path.dirname(first) == os.path.dirname(second)
    return what in {"append", "remove", "link"} or (is_one_folder and first != second)


def done(disk: Files, top: str, call: tuple[str, str, str]) -> str:
    """The name of the error, if any."""
    what, first, second = call[0], os.path.join(top, call[1]), os.path.join(top, call[2])
    ways: dict[str, Callable[[], object]] = {
        "make": lambda: disk.make_folder(first),
        "write": lambda: written(disk, disk.create(first)),
        "append": lambda: written(disk, disk.open_to_append(first)),
        "link": lambda: disk.link(first, second),
        "rename": lambda: disk.rename(first, second),
        "exchange": lambda: disk.exchange(first, second),
        "remove": lambda: disk.remove(first),
        "remove_folder": lambda: disk.remove_folder(first),
    }
    try:
        ways[what]()
    except OSError as error:
        return type(error).__name__
    return ""


def written(disk: Files, descriptor: int) -> None:
    disk.write(descriptor, b"x")
    disk.flush(descriptor)
    disk.close(descriptor)


def tree(disk: Files, top: str, folder: str = "") -> dict[str, tuple[bytes, int]]:
    """Bytes and number of names of all files, as the disk itself tells them."""
    found = {}
    for name in disk.names(os.path.join(top, folder)):
        path = os.path.join(top, folder, name)
        status = disk.status(path)
        assert status is not None
        if status.regular:
            descriptor = disk.open(path)
            found[folder + name] = (disk.read(descriptor, 1 << 20, 0), status.links)
            disk.close(descriptor)
        else:
            found[folder + name + "/"] = (b"", 0)
            found.update(tree(disk, top, f"{folder}{name}/"))
    return found


@settings(max_examples=2000)
@given(calls=st.lists(CALL, max_size=25))
def test_the_same_calls_leave_the_same_files(calls: list[tuple[str, str, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        real, memory = Files(), MemoryDisk()
        memory.make_folder("/s")
        top = os.fspath(Path(folder).resolve())
        for call in calls:
            if fits(real, top, call):
                assert done(real, top, call) == done(memory, "/s", call), call
                assert tree(real, top) == tree(memory, "/s"), call
