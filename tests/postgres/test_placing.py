"""Rows in another order get times and numbers by which they are read so, and no more of them than must."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_ops.errors import RefusedError
from jarvis_ops.stores.postgres.placing import Item, placed, rising, staying


@st.composite
def reordered(draw: st.DrawFn) -> tuple[list[Item], int]:
    """Rows as a table orders them, some of them gone, moved or new; and the highest number."""
    times = sorted(draw(st.lists(st.integers(1, 9), min_size=1, max_size=12)))
    numbers = draw(st.lists(st.integers(1, 60), min_size=len(times), max_size=len(times), unique=True))
    rows = sorted(zip(times, numbers, strict=True))
    items = [Item(old, draw(st.booleans()), time, seq) for old, (time, seq) in enumerate(rows)]
    for _ in range(draw(st.integers(0, 3))):
        what, at = draw(st.sampled_from(["go", "move", "new"])), draw(st.integers(0, len(items)))
        if what != "new" and items:
            item = items.pop(min(at, len(items) - 1))
            if what == "move":
                items.insert(draw(st.integers(0, len(items))), item)
        elif what == "new" and items:
            items.insert(at, Item(old=None, answers=True, time=None, seq=None))
    return items, max(numbers)


@given(reordered())
def test_rows_are_read_as_they_were_put(case: tuple[list[Item], int]) -> None:
    items, highest = case
    found = placed(items, by_time=True, by_seq=True, highest=highest)
    keys = [(one.time, one.seq) for one in found]
    assert keys == sorted(keys)
    numbers = [one.seq for one in found]
    assert len(set(numbers)) == len(numbers)
    olds = [(item.time, item.seq) for item in items]
    if olds == sorted(olds, key=str) and all(item.old is not None for item in items):
        assert keys == olds


@given(reordered())
def test_what_agreed_still_agrees(case: tuple[list[Item], int]) -> None:
    items, highest = case
    before = [item.seq for item in sorted((one for one in items if one.old is not None), key=lambda one: one.old or 0)]
    if before == sorted(before):  # type: ignore[type-var]
        numbers = [one.seq for one in placed(items, by_time=True, by_seq=True, highest=highest)]
        assert numbers == sorted(numbers)  # type: ignore[type-var]


def test_a_result_moves_and_not_what_it_stood_behind() -> None:
    assert staying([0, 2, 1], [False, True, False]) == {0, 2}
    assert staying([1, 0], [True, True]) == {1}
    assert rising([]) == []


def test_rows_without_an_order() -> None:
    for time, seq in ((None, 1), (5, None)):
        with pytest.raises(RefusedError, match="migrate-seq"):
            placed(
                [Item(1, answers=False, time=5, seq=2), Item(0, answers=False, time=time, seq=seq)],
                by_time=True,
                by_seq=True,
                highest=2,
            )
