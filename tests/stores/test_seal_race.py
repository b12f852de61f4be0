"""A reader and a seal at the same time: every line is met exactly once, whatever the order of their steps."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jarvis_ops.stores.jsonl import reader
from jarvis_ops.stores.jsonl.store import JsonlStore
from tests.stores.disk_state import lines_of

INTERLEAVINGS = 2000
LIVE, SEGMENTS, TEMPORARY = "c.jsonl", "c.segments", ".c.jsonl.new"
# Before each of these calls of the reader the other side may go on.
SEAMS = ("open", "stat", "fstat", "scandir")
REAL: dict[str, Callable[..., Any]] = {name: getattr(os, name) for name in SEAMS}
Reader = Callable[[Path, Callable[[], None]], list[bytes]]


class Writer:
    """Appends and seals, one system call a step. `lines` is all that was ever written, in order."""

    def __init__(self, folder: Path, choice: random.Random) -> None:
        self.folder = folder
        self.choice = choice
        self.lines: list[bytes] = []
        self.segments = 0
        # Listing the store takes about twenty calls: some runs begin to act there, some only while it is opened.
        self.patience = choice.randrange(35)
        # A slow one leaves a seal half done while the reader opens everything; a fast one never lets it rest.
        self.pace = choice.choice((0.1, 0.3, 0.6, 0.8))
        (folder / SEGMENTS).mkdir()
        self._append()
        for _ in range(choice.randrange(3)):
            for _ in self._seal():
                pass
            self._append()
        self._steps = self._work()

    def step(self) -> None:
        """Go on by some system calls, once the reader has come as far as this run wants it to."""
        self.patience -= 1
        while self.patience <= 0 and self.choice.random() < self.pace:
            next(self._steps, None)

    def _work(self) -> Iterator[None]:
        for _ in range(self.choice.randrange(1, 5)):
            if self.choice.random() < 0.4:
                self._append()
                yield
            yield from self.choice.choice((self._seal, self._seal, self._move, self._give_up))()

    def _append(self) -> None:
        self._write(LIVE, f"line {len(self.lines)}\n".encode())

    def _write(self, name: str, line: bytes) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        descriptor = REAL["open"](self.folder / name, flags, 0o600)
        os.write(descriptor, line)
        os.close(descriptor)
        self.lines.append(line)

    def _segment(self) -> Path:
        self.segments += 1
        return self.folder / SEGMENTS / f"{self.segments:06d}.jsonl"

    def _seal(self) -> Iterator[None]:
        """A second name for the live file, then the next live file in its place."""
        marker = f"marker {len(self.lines)}\n".encode()
        self._write(TEMPORARY, marker)
        yield
        os.link(self.folder / LIVE, self._segment())
        yield
        os.rename(self.folder / TEMPORARY, self.folder / LIVE)
        yield

    def _give_up(self) -> Iterator[None]:
        """A seal that another program came in the way of: the second name goes away again."""
        segment = self._segment()
        self.segments -= 1
        os.link(self.folder / LIVE, segment)
        yield
        segment.unlink()
        yield

    def _move(self) -> Iterator[None]:
        """A simpler agent: the file moves away, and for a moment there is none."""
        os.rename(self.folder / LIVE, self._segment())
        yield
        self._append()
        yield


def our_reader(folder: Path, between: Callable[[], None]) -> list[bytes]:
    store = JsonlStore(os.fspath(folder))
    (conversation,) = store.inventory().conversations
    lines = []
    with store.open(conversation) as snapshot:
        for chunk in snapshot.chunks():
            lines += chunk.lines
            between()
    return lines


def naive_reader(folder: Path, between: Callable[[], None]) -> list[bytes]:
    lines = []
    for path in [*sorted((folder / SEGMENTS).glob("*.jsonl")), *folder.glob("*.jsonl")]:
        between()
        lines += path.read_bytes().splitlines(keepends=True)
    return lines


def interleave(folder: Path, seed: int, read: Reader, patch: pytest.MonkeyPatch) -> None:
    writer = Writer(folder, random.Random(seed))
    there_at_start = list(writer.lines)
    is_acting = False

    def act() -> None:
        nonlocal is_acting
        if not is_acting:
            is_acting = True
            writer.step()
            is_acting = False

    def seam(name: str) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            # Not at the folders above the store: how many there are differs from machine to machine.
            if name == "fstat" or os.fspath(arguments[0]).startswith(os.fspath(folder)):
                act()
            return REAL[name](*arguments, **options)

        return call

    with patch.context() as during:
        for name in SEAMS:
            during.setattr(os, name, seam(name))
        lines = read(folder, act)
    assert lines[: len(there_at_start)] == there_at_start, f"seed {seed}"
    assert lines == writer.lines[: len(lines)], f"seed {seed}"


def interleave_all(folder: Path, read: Reader, patch: pytest.MonkeyPatch) -> None:
    for seed in range(INTERLEAVINGS):
        place = folder / str(seed)
        place.mkdir()
        interleave(place, seed, read, patch)


@pytest.mark.parametrize("kept_open", [0, 16])
def test_every_line_exactly_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept_open: int) -> None:
    monkeypatch.setattr(reader, "CHUNK", 8)
    monkeypatch.setattr(reader, "BUFFER", 16)
    monkeypatch.setattr("jarvis_ops.stores.jsonl.opening.KEPT_OPEN", kept_open)
    interleave_all(tmp_path, our_reader, monkeypatch)


@pytest.mark.xfail(raises=(AssertionError, FileNotFoundError), strict=True)
def test_a_naive_reader_misses_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interleave_all(tmp_path, naive_reader, monkeypatch)


FULL_SPEED = """
import os, sys
folder, count = sys.argv[1], int(sys.argv[2])
live = os.path.join(folder, "c.jsonl")
number = segment = 0
for _ in range(count):
    with open(live, "ab") as file:
        for _ in range(50):
            file.write(b"%d\\n" % number)
            number += 1
    fresh = os.path.join(folder, ".fresh")
    open(fresh, "wb").close()
    segment += 1
    os.link(live, os.path.join(folder, "c.segments", "%06d.jsonl" % segment))
    os.rename(fresh, live)
"""


def test_a_process_that_seals_at_full_speed(tmp_path: Path) -> None:
    (tmp_path / SEGMENTS).mkdir()
    (tmp_path / LIVE).write_bytes(b"")
    store = JsonlStore(os.fspath(tmp_path))
    seals = 600
    before = 0
    with subprocess.Popen([sys.executable, "-c", FULL_SPEED, tmp_path, str(seals)]) as writer:
        reads = 0
        while writer.poll() is None:
            numbers = [int(line) for line in lines_of(store, "c")]
            assert numbers == list(range(len(numbers)))
            assert len(numbers) >= before
            before = len(numbers)
            reads += 1
    assert writer.returncode == 0
    assert reads > 1
    assert len(lines_of(store, "c")) == seals * 50


def test_an_unfinished_seal_is_read_once(tmp_path: Path) -> None:
    (tmp_path / SEGMENTS).mkdir()
    (tmp_path / LIVE).write_bytes(b"a\nb\n")
    os.link(tmp_path / LIVE, tmp_path / SEGMENTS / "000001.jsonl")
    store = JsonlStore(os.fspath(tmp_path))
    inventory = store.inventory()
    assert [each.what for each in inventory.oddities] == ["unfinished-seal"]
    assert [part.file for part in inventory.conversations[0].parts] == [LIVE]
    assert lines_of(store, "c") == [b"a\n", b"b\n"]
    with store.open(inventory.conversations[0]) as snapshot:
        assert [part.file.file for part in snapshot.parts] == [LIVE]


def test_thousands_of_segments_need_few_descriptors(tmp_path: Path) -> None:
    (tmp_path / SEGMENTS).mkdir()
    count = 3000
    for number in range(1, count + 1):
        (tmp_path / SEGMENTS / f"{number:06d}.jsonl").write_bytes(b"%d\n" % number)
    store = JsonlStore(os.fspath(tmp_path))
    (conversation,) = store.inventory().conversations
    before = len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else 0
    with store.open(conversation) as snapshot:
        lines = []
        for record in snapshot.records():
            lines.append(record.raw)
            if sys.platform == "linux" and len(lines) % 1000 == 1:
                assert len(os.listdir("/proc/self/fd")) <= before + 20
    assert lines == [b"%d\n" % number for number in range(1, count + 1)]
