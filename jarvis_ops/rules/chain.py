"""The way from the leaf of a tree back to its root: what is broken on it, what it sends, what it hides."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

from jarvis_ops.rules.tree import (
    BOUNDARY,
    FOREIGN,
    MESSAGE,
    NONE,
    SIDE,
    SUPERSEDED,
    TYPED,
    Tree,
)


class Chain:
    """A settled tree, walked. `side` is True for a transcript of side records alone (a sub-agent's).

    `windows` are the stretches between compactions, newest first, each from its root to its end; the first is
    what the agent sends. `sequences` are the same with what hangs beside them, as it is sent. `broken` says of each
    that it begins where a parent is missing or a cycle closes, so that more of it is hidden.
    """

    def __init__(self, tree: Tree, *, side: bool) -> None:
        self.tree = tree
        self.side = side
        self.windows: list[array[int]] = []
        self.reached = bytearray(len(tree))
        self.broken: list[bool] = []
        self.leaf = tree.leaf(side=side)
        self.walk()
        self.whole = all(self.reached)
        self.calls, self.results = self.beside()
        self.answers: set[int] = set()
        if not self.whole:
            self.answers.update(
                group for number, group in enumerate(tree.groups) if group >= 0 and self.reached[number]
            )
        self.rescued = {
            number
            for table in (self.calls, self.results)
            for group in table.keys() & self.answers
            for number in table[group]
        }
        self.sequences = [array("q", self.sequence(chain)) for chain in self.windows]

    def walk(self) -> None:
        """Cut the way back into windows, one at each compaction."""
        tree, start, reached = self.tree, self.leaf, self.reached
        while start is not None and not reached[start]:
            chain = array("q")
            following: int | None = None
            for number in tree.upward(start):
                if reached[number]:
                    break
                reached[number] = 1
                chain.append(number)
                if tree.flags[number] & BOUNDARY:
                    following = self.before(number)
                    break
            else:
                following = None
            end = chain[-1]
            self.broken.append(not tree.flags[end] & BOUNDARY and tree.parents[end] != NONE)
            self.windows.append(chain[::-1])
            start = following

    def before(self, boundary: int) -> int | None:
        """The last record before a compaction."""
        parent = self.tree.parents[boundary]
        if parent >= 0:
            return parent
        marker = self.tree.boundaries[boundary].marker if boundary in self.tree.boundaries else None
        last = self.tree.named(marker.get("logicalParentUuid")) if marker else None
        if last is not None and self.reached[last]:
            # It was kept, and stands behind the compaction now; what was not kept ends before the first that was.
            last = self.tree.before_kept.get(boundary)
        return last if last is not None and last >= 0 else None

    def sequence(self, chain: Sequence[int]) -> Iterator[int]:
        """The records of a stretch in the order in which they are sent.

        Results of parallel calls hang beside the chain, each at its own call; they are sent with the answer
        that they belong to, and so are lines of that answer that stand beside the chain.
        """
        groups = self.tree.groups
        ends = {groups[number]: place for place, number in enumerate(chain) if groups[number] >= 0}
        inside = frozenset[int]() if self.whole else frozenset(chain)
        given: set[int] = set()
        for place, number in enumerate(chain):
            yield number
            group = groups[number]
            if group >= 0 and group not in given:
                given.add(group)
                yield from (one for one in self.calls.get(group, ()) if one not in inside)
            if group >= 0 and ends[group] == place:
                yield from (one for one in self.results.get(group, ()) if one not in inside)

    def beside(self) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
        """The lines with calls, and the results, by answer, that stand beside the chain."""
        tree = self.tree
        calls: dict[int, list[int]] = {}
        results: dict[int, list[int]] = {}
        if self.whole:
            return calls, results
        for number in sorted(tree.calls.keys() | tree.results.keys()):
            if self.reached[number] or tree.flags[number] & self.left_out():
                continue
            if number in tree.calls and tree.groups[number] >= 0:
                calls.setdefault(tree.groups[number], []).append(number)
            elif number in tree.results:
                results.setdefault(tree.answer_above(number), []).append(number)
        return calls, results

    def branches(self, most: int) -> Iterator[tuple[list[int], list[int]]]:
        """The ways that the user left, each from the last prompt of the chain before it to its end.

        Yields what is sent on such a way, and those of its records that are off the chain; `most` ways at most.
        """
        tree = self.tree
        off = [
            number
            for number, flags in enumerate(tree.flags)
            if not self.reached[number] and number not in self.rescued and not flags & self.left_out()
        ]
        parents = {tree.parents[number] for number in off}
        ends = [number for number in off if number not in parents and tree.flags[number] & MESSAGE]
        for end in ends[:most]:
            path: list[int] = []
            for number in tree.upward(end):
                path.append(number)
                if self.reached[number] and tree.flags[number] & (TYPED | BOUNDARY):
                    break
            path.reverse()
            yield list(self.sequence(path)), [number for number in path if not self.reached[number]]

    def left_out(self) -> int:
        """Flags of records that are no part of this chain whatever their parents say."""
        return SUPERSEDED | FOREIGN | (0 if self.side else SIDE)
