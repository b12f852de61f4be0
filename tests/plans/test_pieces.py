"""Files as pieces, held against plain bytes."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_ops.model.pieces import Edit, Piece, PieceTable, Span, edited, length_of, removed

FILES = {"a": bytes(range(65, 91)), "b": bytes(range(97, 123)), "empty": b""}
SIZES = {file: len(data) for file, data in FILES.items()}
WHOLE = {file: PieceTable.whole(file, size) for file, size in SIZES.items()}


def plain(table: PieceTable) -> bytes:
    return b"".join(
        FILES[piece.file][piece.start : piece.end] if isinstance(piece, Span) else piece for piece in table.pieces
    )


def some_pieces(rng: random.Random, tables: dict[str, PieceTable]) -> tuple[Piece, ...]:
    made: list[Piece] = []
    for _ in range(rng.randrange(4)):
        file = rng.choice(list(tables))
        start = rng.randint(0, tables[file].length)
        span = Span(file, start, rng.randint(start, tables[file].length))
        made.append(rng.choice((span, b"!" * rng.randrange(3))))
    return tuple(made)


def some_edits(rng: random.Random, tables: dict[str, PieceTable]) -> list[Edit]:
    """Edits that touch and never overlap, in any order."""
    edits = []
    for file, table in tables.items():
        places = sorted(rng.choices(range(table.length + 1), k=2 * rng.randrange(4)))
        edits += [
            Edit(file, start, end, some_pieces(rng, tables))
            for start, end in zip(places[::2], places[1::2], strict=True)
        ]
    rng.shuffle(edits)
    return edits


def by_hand(contents: dict[str, bytes], edits: list[Edit]) -> dict[str, bytes]:
    after = {}
    for file, data in contents.items():
        made, reached = b"", 0
        for edit in sorted((one for one in edits if one.file == file), key=lambda one: (one.start, one.end)):
            made += data[reached : edit.start]
            made += b"".join(
                contents[one.file][one.start : one.end] if isinstance(one, Span) else one for one in edit.pieces
            )
            reached = edit.end
        after[file] = made + data[reached:]
    return after


@given(seed=st.integers(0, 2**32))
def test_edits_do_what_they_do_to_bytes(seed: int) -> None:
    rng = random.Random(seed)
    tables, contents = dict(WHOLE), dict(FILES)
    for _ in range(rng.randint(1, 4)):
        edits = some_edits(rng, tables)
        tables, contents = edited(tables, edits), by_hand(contents, edits)
        assert {file: plain(table) for file, table in tables.items()} == contents
        assert {file: table.length for file, table in tables.items()} == {
            file: len(data) for file, data in contents.items()
        }
    for file, table in tables.items():
        start = rng.randint(0, table.length)
        end = rng.randint(start, table.length)
        assert plain(PieceTable(table.cut(start, end))) == contents[file][start:end]
        for piece, place in zip(table.pieces, table.starts, strict=True):
            if isinstance(piece, Span):
                assert table.origin(place + piece.length - 1) == (piece.file, piece.end - 1)
    kept = {(span.file, place) for table in tables.values() for span in spans(table) for place in range(*span[1:])}
    gone = {(span.file, place) for span in removed(tables, SIZES) for place in range(*span[1:])}
    assert kept | gone == {(file, place) for file, size in SIZES.items() for place in range(size)}
    assert not kept & gone


def spans(table: PieceTable) -> list[Span]:
    return [piece for piece in table.pieces if isinstance(piece, Span)]


def test_neighbouring_spans_are_one() -> None:
    table = PieceTable([Span("a", 0, 3), Span("a", 3, 3), b"", Span("a", 3, 9), b"x", Span("a", 9, 26)])
    assert table.pieces == [Span("a", 0, 9), b"x", Span("a", 9, 26)]
    assert PieceTable([Span("a", 0, 3), Span("a", 3, 26)]).is_whole("a", 26)
    assert PieceTable([]).is_whole("empty", 0)
    assert not PieceTable([]).is_whole("a", 26)


def test_edits_at_one_place_apply_in_the_order_given() -> None:
    edits = [Edit("a", 3, 3, (b"1",)), Edit("a", 3, 3, (b"2",)), Edit("a", 3, 5, (b"3",))]
    assert plain(edited(WHOLE, edits)["a"])[:8] == b"ABC123FG"


@pytest.mark.parametrize(
    "edits", [[Edit("a", 0, 4), Edit("a", 3, 5)], [Edit("a", 20, 27)], [Edit("a", 5, 4)], [Edit("empty", 0, 1)]]
)
def test_edits_that_overlap_or_reach_too_far_are_refused(edits: list[Edit]) -> None:
    with pytest.raises(ValueError, match="overlap or reach beyond its end"):
        edited(WHOLE, edits)


def test_what_was_put_in_comes_from_behind_the_stretch_before() -> None:
    table = PieceTable([b"z", Span("a", 0, 3), b"xy", Span("b", 5, 9)])
    wanted = [None, ("a", 2), ("a", 3), ("a", 3), ("b", 5), ("b", 9)]
    assert [table.origin(place) for place in (0, 3, 4, 5, 6, 10)] == wanted
    assert [length_of(piece) for piece in table.pieces] == [1, 3, 2, 4]
