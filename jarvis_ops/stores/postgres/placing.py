"""Where the rows of a conversation go that stand in another order, or among which new ones stand: times and numbers."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from jarvis_ops.errors import RefusedError

# How a time is stored, in the unit of the store's clock.
Time = int | str | None
UNORDERED = "some of its rows have no time or no number of their own; migrate-seq gives them one, so run that first"


class Item(NamedTuple):
    """A row at its new place: its old place (None for a new row), whether it is a result, its time and number."""

    old: int | None
    answers: bool
    time: Time
    seq: int | None


class Placed(NamedTuple):
    """What a row is read by from now on."""

    time: Time
    seq: int | None


def placed(items: Sequence[Item], *, by_time: bool, by_seq: bool, highest: int) -> list[Placed]:
    """A time and a number for each of the rows, so that they are read in the order given.

    Numbers above `highest`, the last one that the conversation has, stand for new ones, in their order. As few rows as
    can be get another time; what has been in order by numbers alone still is. RefusedError where rows have no order.
    """
    if [item.old for item in items] == sorted(item.old for item in items if item.old is not None):
        return [Placed(item.time, item.seq) for item in items]
    times = new_times(items) if by_time else [item.time for item in with_times(items)]
    if not by_seq:
        return [Placed(time, item.seq) for item, time in zip(items, times, strict=True)]
    return [Placed(*pair) for pair in zip(times, new_numbers(items, highest), strict=True)]  # fmt: skip


def with_times(items: Sequence[Item]) -> Iterator[Item]:
    """The rows, each new one with the time of the row before it."""
    last = next((item.time for item in items if item.old is not None), None)
    for item in items:
        last = last if item.old is None else item.time
        yield item._replace(time=last)


def new_times(items: Sequence[Item]) -> list[Time]:
    """A time for each row: its own for one that stays, else that of the row before, or behind where there is none."""
    stay = staying([item.old for item in items], [item.answers for item in items])
    fixed = [item.time if number in stay else None for number, item in enumerate(items)]
    if any(item.time is None for item in items if item.old is not None):
        raise RefusedError(UNORDERED)
    later: list[Time] = []
    following: Time = None
    for time in reversed(fixed):
        following = time if time is not None else following
        later.append(following)
    times: list[Time] = []
    for time, next_one in zip(fixed, reversed(later), strict=True):
        before = times[-1] if times else None
        times.append(time if time is not None else before if before is not None else next_one)
    if any(not between(one, other, None) for one, other in pairwise(times)):
        raise RefusedError(UNORDERED)
    return times


def between(low: Time, time: Time, high: Time) -> bool:
    """Whether a time is neither below `low` nor above `high`; None is no bound."""
    try:
        return (low is None or low <= time) and (high is None or time <= high)  # type: ignore[operator]
    except TypeError:
        raise RefusedError(UNORDERED) from None


def new_numbers(items: Sequence[Item], highest: int) -> list[int | None]:
    """The numbers that there are, in their order; what is missing behind rows whose numbers rise is new.

    So numbers agree with times wherever they did. RefusedError where a row has none.
    """
    if any(item.seq is None for item in items if item.old is not None):
        raise RefusedError(UNORDERED)
    runs = runs_of(items)
    stay = staying([item.old for item in items], [item.answers for item in items])
    fresh = iter(range(highest + 1, highest + 1 + len(items)))
    given: list[int | None] = []
    for run, group in groupby(placed_in(items, runs, stay), key=lambda pair: pair[0]):
        members = [item for _, item in group]
        known = sorted(
            item.seq for item in members if item.old in runs and runs[item.old] == run and item.seq is not None
        )
        given += [*known, *(next(fresh) for _ in range(len(members) - len(known)))]
    return given


def runs_of(items: Sequence[Item]) -> dict[int | None, int]:
    """Of each old place, the how manieth stretch of rising numbers it lies in."""
    runs: dict[int | None, int] = {}
    last: int | None = None
    run = 0
    for old, seq in sorted((item.old, item.seq) for item in items if item.old is not None):
        run += last is not None and seq is not None and seq <= last
        last = seq
        runs[old] = run
    return runs


def placed_in(
    items: Sequence[Item], runs: Mapping[int | None, int], stay: Container[int]
) -> Iterator[tuple[int, Item]]:
    """Each row with the stretch that it comes to lie in: that of the last row before it which stays."""
    run = 0
    for number, item in enumerate(items):
        run = runs[item.old] if number in stay else run
        yield run, item


def staying(olds: Sequence[int | None], answers: Sequence[bool]) -> set[int]:
    """The rows that need not move, by their new places: as many as can be, and of the results those that fit in."""
    firm = rising([(old, number) for number, old in enumerate(olds) if old is not None and not answers[number]])
    stay = {number for _, number in firm}
    bounds = [(-1, -1), *firm, (len(olds) + max((old for old in olds if old is not None), default=0), len(olds))]
    for (low, begin), (high, end) in pairwise(bounds):
        inside = ((olds[number], number) for number in range(begin + 1, end) if number not in stay)
        stay |= {
            number for _, number in rising([(old, n) for old, n in inside if old is not None and low < old < high])
        }
    return stay


def rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest part of a sequence in which the first members rise."""
    tops: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for place, (old, _) in enumerate(pairs):
        length = bisect_left(tops, old)
        tops[length : length + 1] = [old]
        ends[length : length + 1] = [place]
        before.append(ends[length - 1] if length else -1)
    found: list[tuple[int, int]] = []
    place = ends[-1] if ends else -1
    while place >= 0:
        found.append(pairs[place])
        place = before[place]
    return found[::-1]
