"""Every byte of a conversation is read once, forward and backward, with its right place."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_ops.errors import UnreadableError
from jarvis_ops.model.record import Record
from jarvis_ops.stores.jsonl import reader
from jarvis_ops.stores.jsonl.held import lines_backward
from jarvis_ops.stores.jsonl.store import JsonlStore
from tests.stores.disk_state import lines_of, put

PARTS = ("c.segments/000001.jsonl", "c.segments/000002.jsonl", "c.jsonl")


def store_of(folder: Path, parts: list[bytes]) -> JsonlStore:
    put(folder, dict(zip(PARTS[-len(parts) :], parts, strict=True)))
    return JsonlStore(os.fspath(folder))


def both_ways(store: JsonlStore) -> tuple[list[Record], list[Record]]:
    (conversation,) = store.inventory().conversations
    with store.open(conversation) as snapshot:
        return list(snapshot.records()), list(snapshot.newest_first())


any_bytes = st.lists(st.sampled_from([b"a", b"\n", b"\r\n", "\u2028".encode(), b"\x85", b"{}", b"\0"])).map(b"".join)


@given(parts=st.lists(any_bytes, min_size=3, max_size=3), chunk=st.integers(1, 20))
def test_backward_is_forward_reversed(parts: list[bytes], chunk: int) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "CHUNK", chunk)
        patch.setattr(reader, "BUFFER", chunk + 1)
        forward, backward = both_ways(store_of(Path(folder), parts))
    assert b"".join(record.raw for record in forward) == b"".join(parts)
    assert all(record.raw.find(b"\n") in (-1, len(record.raw) - 1) for record in forward)
    assert [(each.file, each.offset, each.raw) for each in backward] == [
        (each.file, each.offset, each.raw) for each in reversed(forward)
    ]
    for record in forward:
        data = parts[PARTS.index(record.file)]
        assert data[record.offset :].startswith(record.raw)
        assert record.line == data[: record.offset].count(b"\n") + 1


@given(data=any_bytes, block=st.integers(1, 9))
def test_blocks_of_any_length_backward(data: bytes, block: int) -> None:
    lines = [line for _, line in lines_backward(lambda start, end: data[start:end], len(data), block, block * 2)]
    assert b"".join(reversed(lines)) == data
    assert all(line.find(b"\n") in (-1, len(line) - 1) for line in lines)


def test_only_a_line_feed_ends_a_line(tmp_path: Path) -> None:
    lines = [b'{"a":1}\r\n', '"\u2028\u2029\x85"\n'.encode(), b"\v\f\x1c\r\n", b"\n", b"torn"]
    assert lines_of(store_of(tmp_path, [b"".join(lines)]), "c") == lines


def test_places_within_chunks(tmp_path: Path) -> None:
    line = b"x" * 99 + b"\n"
    store = store_of(tmp_path, [line * 5000, b"first\n" + line * 3000])
    (conversation,) = store.inventory().conversations
    with store.open(conversation) as snapshot:
        chunks = list(snapshot.chunks())
        assert [part.size for part in snapshot.parts] == [500_000, 300_006]
        last = 6 + 100 * 2999
        assert list(snapshot.lines_at("c.jsonl", [last, 0])) == [(0, 1), (last, 3001)]
    for before, after in pairwise(chunks):
        length = sum(map(len, before.lines))
        assert 0 < length <= (1 << 17) + len(line)
        if before.part is after.part:
            assert after.first_offset == before.first_offset + length
            assert after.first_line == before.first_line + len(before.lines)
        else:
            assert (after.first_line, after.first_offset) == (1, 0)


def test_several_passes_at_once(tmp_path: Path) -> None:
    line = b"y" * 999 + b"\n"
    store = store_of(tmp_path, [line * 700, line * 800])
    (conversation,) = store.inventory().conversations
    with store.open(conversation) as snapshot:
        assert snapshot.parts[0].file.file == PARTS[1]
        pairs = list(zip(snapshot.records(), snapshot.records(), strict=True))
        assert len(pairs) == 1500
        assert all(one.offset == other.offset for one, other in pairs)
        for number, record in enumerate(snapshot.records()):
            if number % 300 == 0:
                assert list(snapshot.lines_at(record.file, [record.offset])) == [(record.offset, record.line)]
                assert next(snapshot.newest_first()).offset == 799_000
        assert number == 1499


def test_passes_at_once_over_a_part_that_is_not_kept_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jarvis_ops.stores.jsonl.opening.KEPT_OPEN", 0)
    test_several_passes_at_once(tmp_path)


def test_a_pass_that_is_given_up(tmp_path: Path) -> None:
    store = store_of(tmp_path, [b"a\n" * 200_000])
    (conversation,) = store.inventory().conversations
    with store.open(conversation) as snapshot:
        records = snapshot.records()
        next(records)
        assert len(list(snapshot.records())) == 200_000
    with pytest.raises(ValueError, match="closed"):
        list(records)


def test_digest(tmp_path: Path) -> None:
    data = b"z" * (3 << 20)
    store = store_of(tmp_path, [data])
    (conversation,) = store.inventory().conversations
    with store.open(conversation) as snapshot:
        (part,) = snapshot.parts
        assert snapshot.digest(part) == hashlib.sha256(data).hexdigest()
        assert snapshot.digest(part, 1_500_000) == hashlib.sha256(data[:1_500_000]).hexdigest()
        assert snapshot.digest(part, 0) == hashlib.sha256(b"").hexdigest()
        with pytest.raises(UnreadableError):
            snapshot.digest(part, len(data) + 1)


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


@pytest.mark.parametrize(
    ("before", "added", "read"),
    [
        (b"a\nb\n", b"c\n", b"a\nb\n"),
        (b"a\nb", b"c\nd\n", b"a\nbc\n"),
        (b"a\nb", b"cd", b"a\nbcd"),
        (b"a\nb", b"c" * 200_000 + b"\nd\n", b"a\nb" + b"c" * 200_000 + b"\n"),
        (b"", b"a\n", b""),
    ],
)
def test_a_file_that_grows_is_read_to_the_end_of_its_line(
    tmp_path: Path, before: bytes, added: bytes, read: bytes
) -> None:
    store = store_of(tmp_path, [before])
    (conversation,) = store.inventory().conversations
    with store.open(conversation) as snapshot:
        append(tmp_path / "c.jsonl", added)
        assert b"".join(record.raw for record in snapshot.records()) == read
        append(tmp_path / "c.jsonl", b"late\n")
        assert b"".join(record.raw for record in snapshot.records()) == read
        assert b"".join(record.raw for record in reversed(list(snapshot.newest_first()))) == read


def test_lines_added_during_a_pass_are_left_for_the_next(tmp_path: Path) -> None:
    line = b"n" * 999 + b"\n"
    store = store_of(tmp_path, [line * 500])
    (conversation,) = store.inventory().conversations
    with store.open(conversation) as snapshot:
        count = 0
        for chunk in snapshot.chunks():
            count += len(chunk.lines)
            append(tmp_path / "c.jsonl", line)
    assert count == 500


@pytest.mark.parametrize("left", [0, 400_000, 2_000_500])
def test_a_file_that_shrinks_while_it_is_read(tmp_path: Path, left: int) -> None:
    store = store_of(tmp_path, [(b"s" * 999 + b"\n") * 4000])
    (conversation,) = store.inventory().conversations
    for way in ("records", "newest_first"):
        (tmp_path / "c.jsonl").write_bytes((b"s" * 999 + b"\n") * 4000)
        with store.open(conversation) as snapshot:
            records = getattr(snapshot, way)()
            next(records)
            os.truncate(tmp_path / "c.jsonl", left)
            with pytest.raises(UnreadableError, match=r"c\.jsonl: changed while it was read"):
                list(records)


@pytest.mark.parametrize("change", ["replaced", "removed"])
def test_a_segment_that_changes_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    monkeypatch.setattr("jarvis_ops.stores.jsonl.opening.KEPT_OPEN", 0)
    store = store_of(tmp_path, [b"a\n", b"b\n"])
    (conversation,) = store.inventory().conversations
    with store.open(conversation) as snapshot:
        segment = tmp_path / PARTS[1]
        if change == "replaced":
            (tmp_path / "new").write_bytes(b"a\n")
            (tmp_path / "new").replace(segment)
        else:
            segment.unlink()
        with pytest.raises(UnreadableError, match="changed while it was read"):
            list(snapshot.records())


LONG_LINE = """
import resource, sys
from jarvis_ops.stores.open import open_store
store = open_store(sys.argv[1])
(conversation,) = store.inventory().conversations
with store.open(conversation) as snapshot:
    lengths = [len(record.raw) for record in getattr(snapshot, sys.argv[2])()]
print(max(lengths), len(lengths), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the unit of ru_maxrss is another elsewhere")
@pytest.mark.parametrize("way", ["records", "newest_first"])
def test_memory_for_one_long_line(tmp_path: Path, way: str) -> None:
    long = 200 << 20
    with (tmp_path / "c.jsonl").open("wb") as file:
        file.write(b"short\n" * 1000)
        for _ in range(200):
            file.write(b"l" * (1 << 20))
        file.write(b"\n" + b"short\n" * 1000)
    run = subprocess.run(
        [sys.executable, "-c", LONG_LINE, tmp_path, way],
        capture_output=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    longest, count, peak_kib = map(int, run.stdout.split())
    assert (longest, count) == (long + 1, 2001)
    assert peak_kib * 1024 < (80 << 20) + 3.5 * long
