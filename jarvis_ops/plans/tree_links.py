"""Finding one's way in a tree of records: parents, children, the way that is sent, and the lines that they stand in."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from jarvis_ops.dialects.base import Dialect
from jarvis_ops.model.record import Position
from jarvis_ops.plans.base import Pages
from jarvis_ops.plans.lines import Line, Lines, UnmendableError
from jarvis_ops.rules.chain import Chain
from jarvis_ops.rules.tree import ASSISTANT, FOREIGN, MESSAGE, NONE, SENT, SIDE, SUPERSEDED, TYPED, Tree


class Way(NamedTuple):
    """One way from a root to an end: the number of the record behind each record on it."""

    following: dict[int, int] | array[int]
    on: bytearray | frozenset[int]

    def __contains__(self, number: object) -> bool:
        """Whether a record stands on the way."""
        if isinstance(self.on, frozenset):
            return number in self.on
        return isinstance(number, int) and bool(self.on[number])

    def behind(self, number: int) -> int:
        """The record behind one; NONE at the end."""
        return self.following.get(number, NONE) if isinstance(self.following, dict) else self.following[number]


class Answer(NamedTuple):
    """An answer as it stands on a way: its call ids, and the last record that is its own or a result of its.

    `last` is NONE where nothing of it is on the way; `results` are the records with results that stand where they must.
    """

    way: Way
    ids: frozenset[str]
    last: int
    results: frozenset[int]


class Links:
    """A settled tree, its chain, and the lines. Numbers are those of the tree."""

    def __init__(self, pages: Pages, dialect: Dialect, tree: Tree, chain: Chain) -> None:
        self.pages = pages
        self.lines = Lines(pages, dialect)
        self.tree = tree
        self.chain = chain

    def at(self, position: Position) -> int:
        """The record at a place. UnmendableError if there is none."""
        offset = position.offset if position.offset is not None else NONE
        number = bisect_left(self.tree.offsets, offset)
        if position.file != self.tree.file or number == len(self.tree) or self.tree.offsets[number] != offset:
            raise UnmendableError("the record is not where it was found")
        return number

    def line(self, number: int) -> Line:
        """The line of a record. UnmendableError if it is damaged."""
        return self.lines.at(self.tree.position(number))

    def stored(self, number: int) -> int:
        """The parent that a record names, which a compaction may let hang elsewhere; NONE or LOST as in the tree."""
        return self.tree.stored.get(number, self.tree.parents[number])

    def free(self, number: int) -> bool:
        """Whether giving a record another parent moves it; a compaction may say once and for all where it hangs."""
        return number not in self.tree.fixed

    def children(self, number: int) -> list[int]:
        """The records that name one as their parent, in file order."""
        first, following = self._families
        found, child = [], first[number]
        while child != NONE:
            found.append(child)
            child = following[child]
        return found

    @cached_property
    def _families(self) -> tuple[array[int], array[int]]:
        """The first child of each record, and the next one of the same parent."""
        size = len(self.tree)
        first, following = array("q", [NONE]) * size, array("q", [NONE]) * size
        for child in range(size - 1, -1, -1):
            parent = self.stored(child)
            if parent >= 0:
                following[child] = first[parent]
                first[parent] = child
        return first, following

    def left_branches(self, number: int) -> Iterator[int]:
        """The children of a record off the chain with which ways begin that the user left."""
        for child in self.children(number):
            first = child
            while not self.tree.flags[first] & MESSAGE and len(below := self.children(first)) == 1:
                first = below[0]
            if self.tree.flags[first] & TYPED and not self.chain.reached[child] and self.free(child):
                yield child

    def copies(self, number: int) -> list[int]:
        """The other records with the id of one."""
        return [other for other in self._twins.get(self.tree.ids[number], ()) if other != number]

    @cached_property
    def _twins(self) -> dict[str, list[int]]:
        tree, twins = self.tree, dict[str, list[int]]()
        if len(tree.index) == len(tree):
            return twins
        for number, name in enumerate(tree.ids):
            if tree.index[name] != number:
                twins.setdefault(name, [tree.index[name]]).append(number)
        return twins

    def in_thread(self, number: int) -> bool:
        """Whether a record belongs to a sub-agent that shares the file; its records count in the order of the lines."""
        return bool(self.tree.flags[number] & SIDE) and not self.chain.side

    @cached_property
    def main(self) -> Way:
        """What is sent from the leaf, with what was sent before each compaction."""
        following = array("q", [NONE]) * len(self.tree)
        for window in self.chain.windows:
            for before, after in pairwise(window):
                following[before] = after
        return Way(following, self.chain.reached)

    def window(self, number: int) -> int | None:
        """Of the stretches between compactions, newest first, the one with which a record is sent; None for none."""
        window = self._sent[0][number]
        return None if window == NONE else window

    @cached_property
    def _sent(self) -> tuple[array[int], array[int]]:
        """The stretch with which each record is sent, and its place in it."""
        windows, places = (array("q", [NONE]) * len(self.tree) for _ in range(2))
        for window, sequence in enumerate(self.chain.sequences):
            for place, number in enumerate(sequence):
                windows[number], places[number] = window, place
        return windows, places

    @cached_property
    def call_ids(self) -> set[str | None]:
        """The ids of all calls, wherever they stand."""
        return {name for number in self.tree.calls for name in self.calls(number)}

    @cached_property
    def result_ids(self) -> set[str | None]:
        """The call ids of all results, wherever they stand."""
        return {name for number in self.tree.results for name in self.results(number)}

    def way(self, number: int) -> Way:
        """The way on which a record stands, or beside which it is sent; off the chain, to its latest descendant."""
        if self.chain.reached[number] or number in self.chain.rescued:
            return self.main
        below = {number}
        tip = number
        for later in range(number + 1, len(self.tree)):
            if self.tree.parents[later] in below and not self.chain.reached[later]:
                below.add(later)
                tip = later
        way = list(self.tree.upward(tip))[::-1]
        return Way(dict(pairwise(way)), frozenset(way))

    def calls(self, number: int) -> list[str | None]:
        """The ids of the calls in a record."""
        calls = self.tree.calls.get(number, ())
        return [calls] if isinstance(calls, str) else [call.id for call in calls]

    def results(self, number: int) -> list[str | None]:
        """The call ids of the results in a record."""
        results = self.tree.results.get(number, ())
        return [results] if isinstance(results, str) else [result.id for result in results]

    def same_answer(self, number: int, other: int) -> bool:
        """Whether two records are lines of one answer."""
        groups = self.tree.groups
        return number == other or (groups[number] != NONE and groups[number] == groups[other])

    def answer(self, call: int) -> Answer:
        """The answer that holds a call."""
        way = self.way(call)
        anchor = next((one for one in self.tree.upward(call) if one in way), NONE)
        names = set(self.calls(call))
        for beside in self.chain.calls.get(self.tree.groups[call], ()) if self.tree.groups[call] >= 0 else ():
            names.update(self.calls(beside))
        for one in self.tree.upward(anchor):
            if self.same_answer(one, call):
                names.update(self.calls(one))
            elif self.is_between(one):
                break
        last = anchor if anchor != NONE and self.same_answer(anchor, call) else NONE
        one, placed = anchor, set[int]()
        while one != NONE and (one := way.behind(one)) != NONE:
            if self.same_answer(one, call):
                last = one
                names.update(self.calls(one))
            elif not names.isdisjoint(self.results(one)):
                last = one
                placed.add(one)
            elif self.is_between(one):
                break
        return Answer(way, frozenset(name for name in names if name is not None), last, frozenset(placed))

    def is_between(self, number: int) -> bool:
        """Whether a record that is not of an answer ends it: another answer, or a message that is no result."""
        flags = self.tree.flags[number]
        return bool(flags & SENT) and (bool(flags & ASSISTANT) or number not in self.tree.results)

    def replay_behind(self, number: int) -> Iterator[int]:
        """What is sent behind a record, in order."""
        window = self.window(number)
        if window is not None:
            sequence = self.chain.sequences[window]
            yield from map(sequence.__getitem__, range(self._sent[1][number] + 1, len(sequence)))
            return
        if self.in_thread(number):
            mine = self.tree.chains[number]
            for later in range(number + 1, len(self.tree)):
                if self.tree.chains[later] == mine and not self.tree.flags[later] & (SUPERSEDED | FOREIGN):
                    yield later
            return
        way = self.way(number)
        while number != NONE and (number := way.behind(number)) != NONE:
            yield number

    def answer_behind(self, call: int) -> Iterator[int]:
        """What is sent behind a call, up to the next answer."""
        for number in self.replay_behind(call):
            flags = self.tree.flags[number]
            if flags & SENT and flags & ASSISTANT and not self.same_answer(number, call):
                return
            yield number

    def just_before(self, number: int, besides: frozenset[int] = frozenset()) -> int:
        """The record before one, if it is of the same session and chain and has no child but `besides`; else NONE."""
        before = number - 1
        if before < 0 or not self.akin(before, number):
            return NONE
        others = set(self.children(before)) - besides - {number}
        return NONE if others or number in self.tree.upward(before) else before

    def akin(self, number: int, other: int) -> bool:
        """Whether a record could be the parent of another: of the same session and chain, and no copy of another."""
        tree = self.tree
        return (
            not tree.flags[number] & (SUPERSEDED | FOREIGN)
            and tree.sessions[number] == tree.sessions[other]
            and tree.chains[number] == tree.chains[other]
        )

    @cached_property
    def newest(self) -> int | None:
        """The record at which the agent resumes where no pointer says otherwise."""
        pointers, self.tree.leaves = self.tree.leaves, []
        try:
            return self.tree.leaf(side=self.chain.side)
        finally:
            self.tree.leaves = pointers

    def leaf_without(self, number: int) -> int | None:
        """The record at which the agent would resume if one were not there."""
        kept = self.tree.flags[number]
        self.tree.flags[number] |= SUPERSEDED
        try:
            return self.tree.leaf(side=self.chain.side)
        finally:
            self.tree.flags[number] = kept
