"""Stretches of files that are spoken for."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator

from jarvis_ops.model.pieces import Span

Stretch = tuple[int, int]


class Claims:
    """A set of stretches, none of which overlaps another. Empty ones stand for places where something is put in."""

    def __init__(self, spans: Iterable[Span] = ()) -> None:
        self._stretches: dict[str, list[Stretch]] = {}
        self._places: dict[str, list[int]] = {}
        for span in spans:
            self._enter(span)

    def add(self, spans: Iterable[Span]) -> bool:
        """Claim some stretches, all or none: False when another claim reaches into one of them."""
        wanted = list(spans)
        if any(self._taken(span) for span in wanted):
            return False
        for span in wanted:
            self._enter(span)
        return True

    def take_out(self, span: Span) -> Iterator[Span]:
        """What of `span` is claimed; it is claimed no longer."""
        mine = self._stretches.get(span.file, [])
        while (number := self._first(span)) is not None:
            start, end = mine.pop(number)
            if start < span.start:
                insort(mine, (start, span.start))
            if span.end < end:
                insort(mine, (span.end, end))
            yield Span(span.file, max(start, span.start), min(end, span.end))

    def _taken(self, span: Span) -> bool:
        places = self._places.get(span.file, [])
        inside = bisect_left(places, span.start + 1)
        return self._first(span) is not None or (inside < len(places) and places[inside] < span.end)

    def _first(self, span: Span) -> int | None:
        """The number of the first stretch that overlaps `span`; a place at the border of a stretch does not."""
        mine = self._stretches.get(span.file, [])
        number = bisect_left(mine, (span.start + 1, 0))
        for near in (number - 1, number):
            if 0 <= near < len(mine) and mine[near][0] < span.end and span.start < mine[near][1]:
                return near
        return None

    def _enter(self, span: Span) -> None:
        if span.length:
            insort(self._stretches.setdefault(span.file, []), (span.start, span.end))
        else:
            insort(self._places.setdefault(span.file, []), span.start)
