"""The way from the leaf of a tree back to its root: what is broken on it, what it sends, what it hides."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import pairwise

from jarvis_ops.model.finding import Finding
from jarvis_ops.rules.findings import found
from jarvis_ops.rules.tree import (
    ASSISTANT,
    BOUNDARY,
    FOREIGN,
    LEGAL_ROOT,
    LOST,
    MESSAGE,
    NONE,
    SENT,
    SIDE,
    SUPERSEDED,
    TYPED,
    Tree,
)
from jarvis_ops.rules.words import counted


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
        self.rescued: set[int] = set()
        self.following: dict[int, int] = {}  # filled when it is first asked for
        self.whole = all(self.reached)
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
        """The records of a window in the order in which they are sent.

        Results of parallel calls hang beside the chain, each at its own call; they are sent with the answer
        that they belong to, and so are lines of that answer that stand beside the chain.
        """
        ends = {self.tree.groups[number]: place for place, number in enumerate(chain) if self.tree.groups[number] >= 0}
        calls, results = self.beside(set(ends))
        given: set[int] = set()
        for place, number in enumerate(chain):
            yield number
            group = self.tree.groups[number]
            if group >= 0 and group not in given:
                given.add(group)
                yield from calls.get(group, ())
            if group >= 0 and ends[group] == place:
                yield from results.get(group, ())

    def beside(self, groups: set[int]) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
        """The lines and the results, by answer, that hang beside the chain and are sent all the same."""
        tree = self.tree
        calls: dict[int, list[int]] = {}
        results: dict[int, list[int]] = {}
        if self.whole:
            return calls, results
        for number in sorted(tree.calls.keys() | tree.results.keys()):
            if self.reached[number] or tree.flags[number] & self.left_out():
                continue
            group = tree.groups[number]
            if tree.flags[number] & ASSISTANT and group in groups:
                calls.setdefault(group, []).append(number)
                self.rescued.add(number)
            elif number in tree.results and (answer := tree.answer_above(number)) in groups:
                results.setdefault(answer, []).append(number)
                self.rescued.add(number)
        return calls, results

    def left_out(self) -> int:
        """Flags of records that are no part of this chain whatever their parents say."""
        return SUPERSEDED | FOREIGN | (0 if self.side else SIDE)

    def judge(self) -> Iterator[Finding]:
        """Missing parents, cycles, roots that cut the history, and replies that no branch of the user's explains."""
        yield from self.dangling()
        yield from self.cycles()
        yield from self.roots()
        yield from self.unreachable()

    def dangling(self) -> Iterator[Finding]:
        """Records whose parent is nowhere in the file."""
        tree = self.tree
        for number, name in tree.waiting.items():
            if (
                tree.parents[number] != LOST
                or tree.flags[number] & (SUPERSEDED | FOREIGN)
                or (self.side and number == 0)
            ):
                continue
            hidden = self.hidden_before(number)
            detail = f"its parent {name} is not in the file" + (
                f"; {counted(hidden, 'message')} before it out of reach" if hidden else ""
            )
            facts = {"parent": name, "hidden": hidden}
            yield found("dangling-parent", tree.position(number), detail, record_id=tree.ids[number], facts=facts)

    def hidden_before(self, number: int) -> int:
        """How many messages before a break the agent no longer reaches: 0 when the break is not on its way."""
        if not self.windows or self.windows[0][0] != number:
            return 0
        return sum(
            1
            for other in range(number)
            if self.tree.flags[other] & MESSAGE
            and not self.tree.flags[other] & self.left_out()
            and not self.reached[other]
        )

    def cycles(self) -> Iterator[Finding]:
        """Parents that lead back to where they started; one finding a cycle."""
        tree = self.tree
        seen = bytearray(len(tree))  # 1 on the present way, 2 done
        for start in range(len(tree)):
            way: list[int] = []
            number = start
            while number >= 0 and not seen[number]:
                seen[number] = 1
                way.append(number)
                number = tree.parents[number]
            if number >= 0 and seen[number] == 1:
                cycle = sorted(way[way.index(number) :])
                at = next((member for member in cycle if tree.parents[member] >= member), cycle[0])
                lines = [tree.lines[member] for member in cycle]
                detail = f"the parents of lines {', '.join(map(str, lines[:20]))} lead round in a circle"
                facts = {
                    "lines": lines,
                    "hidden": self.hidden_before(self.windows[0][0]) if any(self.broken[:1]) else 0,
                }
                yield found("parent-cycle", tree.position(at), detail, record_id=tree.ids[at], facts=facts)
            for member in way:
                seen[member] = 2

    def roots(self) -> Iterator[Finding]:
        """Roots other than the first that no compaction, command or hook explains."""
        tree = self.tree
        first = first_message = True
        top = self.windows[0][0] if self.windows else None
        for number, parent in enumerate(tree.parents):
            flags = tree.flags[number]
            if parent != NONE or flags & self.left_out():
                continue
            legal = first or (first_message and flags & MESSAGE) or flags & LEGAL_ROOT
            first = False
            first_message = first_message and not flags & MESSAGE
            if legal or not (flags & MESSAGE or number == top):
                continue
            hidden = self.hidden_before(number)
            detail = "a second root: it names no parent although records stand before it"
            detail += f"; {counted(hidden, 'message')} out of reach" if hidden else ""
            yield found(
                "extra-root", tree.position(number), detail, record_id=tree.ids[number], facts={"hidden": hidden}
            )

    def unreachable(self) -> Iterator[Finding]:
        """Messages off the chain that neither the user's own branches nor a compaction put there."""
        tree = self.tree
        if self.whole:
            return
        answers = {group for group, reached in zip(tree.groups, self.reached, strict=True) if reached and group >= 0}
        copied = {
            (tree.times[number], tree.flags[number] & ASSISTANT)
            for number, reached in enumerate(self.reached)
            if reached and tree.times[number] != NONE
        }
        for number, flags in enumerate(tree.flags):
            if self.reached[number] or number in self.rescued or flags & (self.left_out() | LEGAL_ROOT):
                continue
            if not (flags & MESSAGE and flags & SENT) or tree.groups[number] in answers:
                continue
            if not flags & (TYPED | ASSISTANT) or (tree.times[number], flags & ASSISTANT) in copied:
                continue
            if not self.explained(number):
                detail = "the agent no longer reaches this message, and no branch of the user's making explains it"
                yield found("unreachable-record", tree.position(number), detail, record_id=tree.ids[number])

    def ahead(self, number: int) -> int | None:
        """The next message on the chain behind a record of it; the record behind it if no message follows."""
        if not self.following:
            for chain in self.windows:
                self.following.update(pairwise(chain))
        last, later = None, self.following.get(number)
        while later is not None and not (self.tree.flags[later] & MESSAGE and self.tree.flags[later] & SENT):
            last, later = later, self.following.get(later)
        return later if later is not None else last

    def explained(self, number: int) -> bool:
        """Whether the user went another way where this record's branch leaves the chain.

        The user did if both ways begin with a prompt of the user's own: an edited or rewound one.
        """
        tree = self.tree
        top = number
        for ancestor in tree.upward(number):
            if self.reached[ancestor]:
                ahead = self.ahead(ancestor)
                # Where the chain ends, a pointer or a compaction says so.
                return ahead is None or bool(tree.flags[ahead] & TYPED and tree.flags[top] & TYPED)
            if ancestor in self.rescued:
                return False
            if tree.flags[ancestor] & MESSAGE and tree.flags[ancestor] & SENT:
                top = ancestor
        return True  # another root, a missing parent or a cycle stands between: that has its own finding
