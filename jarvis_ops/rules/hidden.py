"""Messages that the agent no longer reaches although nothing that the user did explains it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from jarvis_ops.model.finding import Finding
from jarvis_ops.rules.chain import Chain
from jarvis_ops.rules.findings import found
from jarvis_ops.rules.tree import ASSISTANT, LEGAL_ROOT, MESSAGE, NONE, SENT, TYPED


class Origin(NamedTuple):
    """Where a record off the chain comes from: its branch's first message, and the record from which it branches off.

    `top` is NONE where no message stands on the way, `fork` where the way never meets what is sent.
    """

    top: int
    fork: int


def unreachable(chain: Chain) -> Iterator[Finding]:
    """Messages off the chain that neither the user's own branches nor a compaction put there."""
    hidden = [] if chain.whole else list(unsent(chain))
    if not hidden:
        return  # what follows holds something of every record
    tree = chain.tree
    branches = Branches(chain)
    copied = {
        (tree.times[number], tree.flags[number] & ASSISTANT)
        for number, reached in enumerate(chain.reached)
        if reached and tree.times[number] != NONE
    }
    for number in hidden:
        is_copy = (tree.times[number], tree.flags[number] & ASSISTANT) in copied
        if not is_copy and not branches.explain(number):
            detail = "the agent no longer reaches this message, and no branch of the user's making explains it"
            yield found("unreachable-record", tree.position(number), detail, record_id=tree.ids[number])


def unsent(chain: Chain) -> Iterator[int]:
    """Prompts and lines of answers off the chain, without those that are sent with an answer on it."""
    tree = chain.tree
    for number, flags in enumerate(tree.flags):
        if chain.reached[number] or number in chain.rescued or flags & (chain.left_out() | LEGAL_ROOT):
            continue
        said = flags & MESSAGE and flags & SENT and flags & (TYPED | ASSISTANT)
        if said and tree.groups[number] not in chain.answers:
            yield number


class Branches:
    """The ways off the chain, each looked at once however many records stand on it."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.following = {before: after for window in chain.windows for before, after in pairwise(window)}
        self.origins: dict[int, Origin] = {}
        self.aheads: dict[int, int] = {}

    def explain(self, number: int) -> bool:
        """Whether the user went another way where this record's branch leaves the chain.

        The user did if both ways begin with a prompt of the user's own: an edited or rewound one. Where the way
        never meets the chain, another root, a missing parent or a cycle stands between, with a finding of its own.
        """
        origin = self.origin(number)
        if origin.fork == NONE:
            return True
        if not self.chain.reached[origin.fork]:
            return False  # it hangs on a result that is sent beside the chain
        ahead = self.ahead(origin.fork)
        flags = self.chain.tree.flags
        # Where the chain ends, a pointer or a compaction says so.
        return ahead == NONE or bool(flags[ahead] & TYPED and flags[origin.top] & TYPED)

    def origin(self, number: int) -> Origin:
        """Where a record off the chain comes from."""
        chain, tree = self.chain, self.chain.tree
        way: list[int] = []
        for ancestor in tree.upward(number):
            if ancestor in self.origins or chain.reached[ancestor] or ancestor in chain.rescued:
                found_origin = self.origins.get(ancestor, Origin(NONE, ancestor))
                break
            way.append(ancestor)
        else:
            found_origin = Origin(NONE, NONE)
        for member in reversed(way):
            if found_origin.top == NONE and tree.flags[member] & MESSAGE and tree.flags[member] & SENT:
                found_origin = Origin(member, found_origin.fork)
            self.origins[member] = found_origin
        return found_origin

    def ahead(self, number: int) -> int:
        """The next message on the chain behind a record of it, or the record behind it; NONE where the chain ends."""
        known = self.aheads.get(number)
        if known is None:
            flags = self.chain.tree.flags
            known = later = self.following.get(number, NONE)
            while later != NONE and not (flags[later] & MESSAGE and flags[later] & SENT):
                known, later = later, self.following.get(later, NONE)
            known = self.aheads[number] = later if later != NONE else known
        return known
