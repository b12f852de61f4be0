"""A view of edited files reads like the files that the edits would make."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from jarvis_ops.model.pieces import Edit, Piece, PieceTable, Span, edited, removed
from jarvis_ops.operations.pages import SnapshotPages
from jarvis_ops.stores.base import Place, Snapshot
from jarvis_ops.stores.jsonl.reader import JsonlSnapshot
from jarvis_ops.stores.jsonl.store import JsonlStore
from jarvis_ops.stores.jsonl.view import edited as view_of

FILES = ("c.segments/000001.jsonl", "c.jsonl")
LINE = st.binary(min_size=0, max_size=30).map(lambda raw: raw.replace(b"\n", b"?") + b"\n")
LINES = st.lists(LINE, min_size=1, max_size=8)


def stored(folder: str, contents: dict[str, bytes]) -> None:
    for file, data in contents.items():
        path = Path(folder, file)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)


@st.composite
def edits_of(draw: st.DrawFn, contents: dict[str, bytes]) -> list[Edit]:
    """Some edits of whole lines, with new lines and lines from anywhere."""
    borders = {
        file: [0, *(place + 1 for place, byte in enumerate(data) if byte == 10)] for file, data in contents.items()
    }
    edits = []
    for file in contents:
        cuts = sorted(draw(st.lists(st.sampled_from(borders[file]), max_size=4, unique=True)))
        for start, end in zip(cuts[::2], cuts[1::2], strict=False):
            pieces: list[Piece] = []
            for _ in range(draw(st.integers(0, 3))):
                other = draw(st.sampled_from(FILES))
                pair = sorted(draw(st.lists(st.sampled_from(borders[other]), min_size=2, max_size=2)))
                pieces.append(draw(st.one_of(LINE, st.just(Span(other, pair[0], pair[1])))))
            edits.append(Edit(file, start, draw(st.sampled_from([start, end])), tuple(pieces)))
    return edits


def made(contents: dict[str, bytes], edits: list[Edit]) -> dict[str, bytes]:
    """The plain meaning of edits."""
    result = {}
    for file, data in contents.items():
        pieces, reached = [], 0
        for edit in sorted((one for one in edits if one.file == file), key=lambda one: (one.start, one.end)):
            pieces.append(data[reached : edit.start])
            pieces += [contents[one.file][one.start : one.end] if isinstance(one, Span) else one for one in edit.pieces]
            reached = edit.end
        result[file] = b"".join([*pieces, data[reached:]])
    return result


def check(view: Snapshot, expected: dict[str, bytes]) -> None:
    whole = b"".join(expected[file] for file in FILES)
    assert b"".join(line for chunk in view.chunks() for line in chunk.lines) == whole
    records = list(view.records())
    assert b"".join(one.raw for one in records) == whole
    for one in records:
        assert expected[one.file][one.offset :].startswith(one.raw)
    backward = list(view.newest_first())
    assert [(one.file, one.offset, one.raw) for one in reversed(backward)] == [
        (one.file, one.offset, one.raw) for one in records
    ]
    for part in view.parts:
        data = expected[part.file.file]
        assert part.size == view.size(part.file.file) == len(data)
        assert view.digest(part) == hashlib.sha256(data).hexdigest()
        assert view.read(part.file.file, len(data) // 2, len(data)) == data[len(data) // 2 :]
    check_pages(SnapshotPages(view), expected)


def check_pages(pages: SnapshotPages, expected: dict[str, bytes]) -> None:
    assert pages.files == FILES
    assert [pages.sealed(file) for file in FILES] == [True, False]
    for file, data in expected.items():
        for offset in range(len(data)):
            line = pages.line(file, offset)
            start = data.rfind(b"\n", 0, offset) + 1
            assert (line.offset, line.raw) == (start, data[start : data.index(b"\n", offset) + 1])
        if data:
            middle = pages.line(file, len(data) // 2)
            behind = b"".join(one.raw for one in pages.forward(file, middle.offset))
            before = b"".join(one.raw for one in reversed(list(pages.backward(file, middle.offset))))
            assert before + behind == b"".join(expected[each] for each in FILES)


@settings(max_examples=150, deadline=None)
@given(st.data(), LINES, LINES)
def test_a_view_reads_like_the_edited_files(data: st.DataObject, first: list[bytes], second: list[bytes]) -> None:
    contents = {FILES[0]: b"".join(first), FILES[1]: b"".join(second)}
    edits = data.draw(edits_of(contents))
    more_edits = data.draw(st.booleans())
    with tempfile.TemporaryDirectory() as folder:
        stored(folder, contents)
        store = JsonlStore(folder)
        with store.open(store.inventory().conversations[0]) as snapshot:
            assert isinstance(snapshot, JsonlSnapshot)
            tables = {file: PieceTable.whole(file, len(content)) for file, content in contents.items()}
            once = edited(tables, edits)
            expected = made(contents, edits)
            check(view_of(snapshot, once), expected)
            if more_edits:
                again = data.draw(edits_of(expected))
                check(view_of(snapshot, edited(once, again)), made(expected, again))
            check(snapshot, contents)


@settings(max_examples=150, deadline=None)
@given(st.data(), LINES, LINES)
def test_what_no_piece_names_is_what_is_removed(data: st.DataObject, first: list[bytes], second: list[bytes]) -> None:
    contents = {FILES[0]: b"".join(first), FILES[1]: b"".join(second)}
    tables = {file: PieceTable.whole(file, len(content)) for file, content in contents.items()}
    final = edited(tables, data.draw(edits_of(contents)))
    kept: dict[str, set[int]] = {file: set() for file in FILES}
    for table in final.values():
        for piece in table.pieces:
            if isinstance(piece, Span):
                kept[piece.file] |= set(range(piece.start, piece.end))
    gone = removed(final, {file: len(content) for file, content in contents.items()})
    listed = [(one.file, place) for one in gone for place in range(one.start, one.end)]
    assert sorted(listed) == sorted(
        (file, place) for file in FILES for place in range(len(contents[file])) if place not in kept[file]
    )


def test_a_view_of_a_part_shows_where_its_bytes_came_from() -> None:
    table = PieceTable([Span("a", 10, 20), b"new", Span("a", 30, 40)])
    assert [table.origin(place) for place in (0, 9, 10, 12, 13, 22, 23)] == [
        ("a", 10), ("a", 19), ("a", 20), ("a", 20), ("a", 30), ("a", 39), ("a", 40),
    ]  # fmt: skip
    assert PieceTable([b"new"]).origin(1) is None


def test_looking_at_a_view_writes_nothing(tmp_path: Path) -> None:
    stored(str(tmp_path), {FILES[0]: b"one\n", FILES[1]: b"two\n"})
    before = {path: os.stat(path) for path in tmp_path.rglob("*")}
    store = JsonlStore(str(tmp_path))
    with store.open(store.inventory().conversations[0]) as snapshot:
        assert isinstance(snapshot, JsonlSnapshot)
        table = PieceTable([Span(FILES[0], 0, 4), b"more\n"])
        view = view_of(snapshot, {FILES[1]: table})
        assert [one.raw for one in view.records()] == [b"one\n", b"one\n", b"more\n"]
        assert [line for chunk in view.chunks(Place(1, 4)) for line in chunk.lines] == [b"more\n"]
        assert view.writer() is snapshot.writer()
    after = {path: os.stat(path) for path in tmp_path.rglob("*")}
    assert {path: (one.st_mtime_ns, one.st_ino) for path, one in before.items()} == {
        path: (one.st_mtime_ns, one.st_ino) for path, one in after.items()
    }
