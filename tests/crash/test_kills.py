"""Real processes on a real disk, killed before and after each of their calls; then a start as any other."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jarvis_ops.stores.jsonl.ours import FOLDER, Files
from jarvis_ops.stores.jsonl.store import JsonlStore
from tests.crash.stories import LIVE, OPENED, SEALED, TAKEN_OUT, heal
from tests.stores.changes import LATER, LATEST, NEW, OLD, RUN
from tests.stores.disk_state import put

if sys.platform == "win32":
    pytest.skip("no fork", allow_module_level=True)

NEVER = 1 << 30
MEMORY = "/dev/shm"  # noqa: S108 - a folder is made in it, under a name that nobody can guess
Ask = Callable[..., str]
Files_ = dict[str, bytes]
# (the files before, those after, what puts them there)
STORIES: dict[str, tuple[Files_, Files_, str]] = {
    "heal": ({LIVE: OLD}, {LIVE: NEW}, RUN),
    "undo": ({LIVE: NEW}, {LIVE: OLD}, LATER),
    "heal-sealed": (SEALED, OPENED, RUN),
}


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.crash.killer"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        stdin, stdout = process.stdin, process.stdout

        def order(operation: str, folder: Path, *, last: int = NEVER, after: bool = False, writer: int = -1) -> str:
            acknowledged = os.fspath(folder) + ".acknowledged"
            stdin.write(
                json.dumps(
                    {
                        "operation": operation,
                        "folder": os.fspath(folder),
                        "last": last,
                        "after": after,
                        "writer": writer,
                        "acknowledged": acknowledged,
                    }
                )
                + "\n"
            )
            stdin.flush()
            return stdout.readline().strip()

        yield order
        stdin.close()
        assert process.wait(timeout=60) == 0


@pytest.fixture
def fresh() -> Iterator[Callable[[str], Path]]:
    """Makes the store of a story, each time in a new folder, in memory where there is such a place."""
    with tempfile.TemporaryDirectory(dir=MEMORY if os.path.isdir(MEMORY) else None) as top:
        count = 0

        def make(name: str) -> Path:
            nonlocal count
            count += 1
            folder = Path(top, str(count))
            folder.mkdir()
            if name == "undo":
                put(folder, {LIVE: OLD})
                heal(Files(), os.fspath(folder))
            else:
                put(folder, STORIES["heal" if name in {"naive", "recover"} else name][0])
            return folder

        yield make


def tree(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    return {
        os.fspath(path.relative_to(folder)): (path.stat().st_ino, path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def start(folder: Path) -> list[str]:
    """What any writing command does first; the runs that were told of."""
    store = JsonlStore(os.fspath(folder))
    (conversation,) = [each for each in store.inventory().conversations if each.id == "a"]
    named = store.unfinished(conversation)
    with store.hold(conversation, LATEST):
        told = [each.run for each in store.recover(conversation)]
    assert set(named) == set(told)
    assert store.unfinished(conversation) == []
    states = {run.run: run.state for run in store.runs(store.inventory())}
    assert "unfinished" not in states.values()
    return told


def state(folder: Path, name: str) -> str:
    """P1 to P3 and P10: whether all is as before or as after, and every line of a writer is there once."""
    before, after, _ = STORIES["heal" if name in {"naive", "recover"} else name]
    now = {file: (folder / file).read_bytes() for file in before}
    said = Path(os.fspath(folder) + ".acknowledged")
    added = said.read_bytes() if said.exists() else b""
    for word, expected in (("before", before), ("after", after)):
        if now == {**expected, LIVE: expected[LIVE] + added}:
            if word == "after" and name in {"heal", "recover"}:
                assert (folder / FOLDER / "quarantine" / RUN / "a.raw").read_bytes() == TAKEN_OUT
            return word
    raise AssertionError(f"neither old nor new, with {added!r} behind it: {now}")


def check(folder: Path, name: str) -> str:
    """P1 to P6 and P10; which of the two states it is."""
    start(folder)
    found = state(folder, name)
    left = [path for path in tree(folder) if os.path.basename(path).startswith(".") or path.endswith(".tmp")]
    assert left == []
    once = tree(folder)
    assert start(folder) == []
    assert tree(folder) == once
    return found


def kill_everywhere(ask: Ask, fresh: Callable[[str], Path], name: str, *, writer: int | None = None) -> list[str]:
    """The states that were found after all kills, in order. With `writer`, a line comes so many calls before each."""
    calls = int(ask(name, fresh(name)))
    found = []
    for last in range(calls):
        for after in (False, True):
            folder = fresh(name)
            came = last - writer if writer is not None else -1
            # A writer who came early ends the run by itself.
            assert ask(name, folder, last=last, after=after, writer=came) == "killed" or came >= 0
            found.append(check(folder, name))
            shutil.rmtree(folder)
    return found


@pytest.mark.parametrize("name", STORIES)
def test_killed_anywhere(ask: Ask, fresh: Callable[[str], Path], name: str) -> None:
    found = kill_everywhere(ask, fresh, name)
    assert len(found) >= 100
    assert found[0] == "before"
    assert found[-1] == "after"


@pytest.mark.parametrize("writer", [0, 1, 3, 6])
@pytest.mark.parametrize("name", STORIES)
def test_killed_anywhere_after_somebody_has_written(
    ask: Ask, fresh: Callable[[str], Path], name: str, writer: int, full: bool
) -> None:
    if not full and (writer != 3 or name == "heal-sealed"):
        pytest.skip("only one of them in the gates")
    kill_everywhere(ask, fresh, name, writer=writer)


def test_killed_twice(ask: Ask, fresh: Callable[[str], Path], full: bool) -> None:
    """The start after the kill is killed as well."""
    calls = int(ask("heal", fresh("heal")))
    for last in range(10, calls, 1 if full else 9):
        for second in range(0, NEVER, 1 if full else 4):
            folder = fresh("heal")
            assert ask("heal", folder, last=last) == "killed"
            if ask("recover", folder, last=second) != "killed":
                break
            check(folder, "recover")


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="it loses what a writer appends")
def test_a_naive_heal(ask: Ask, fresh: Callable[[str], Path]) -> None:
    calls = int(ask("naive", fresh("naive")))
    for last in range(calls):
        folder = fresh("naive")
        ask("naive", folder, last=last, after=True, writer=last - 2)
        state(folder, "naive")
