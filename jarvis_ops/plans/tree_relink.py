"""Mending the links of a tree, where somebody asks for it and only one way can be meant."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from jarvis_ops.model.finding import Finding
from jarvis_ops.model.plan import Repair
from jarvis_ops.plans.claude_result import fresh_id
from jarvis_ops.plans.lines import UnmendableError
from jarvis_ops.plans.style import style_of
from jarvis_ops.plans.tree_links import Links
from jarvis_ops.plans.tree_rework import Rework
from jarvis_ops.rules.hidden import Branches
from jarvis_ops.rules.tree import MESSAGE, NONE

UNCLEAR = "the record before it is of another session or chain, or has another child, so nobody can tell its parent"


class Relinking:
    """Mends missing parents, circles, second roots, replies beside the way, and ids that stand twice."""

    def __init__(self, links: Links) -> None:
        self._links = links

    def to_the_one_before(self, finding: Finding) -> Repair:
        """The record is linked to the one just before it."""
        links = self._links
        number = links.at(finding.position)
        before, rework = links.just_before(number), Rework(links, finding, "asked")
        if before != NONE:
            rework.relink(number, before, "the record just before it is of the same session and has no other child")
        elif number == 0 and finding.rule == "parent-cycle":
            rework.relink(number, NONE, "it is the first record of all, so it can have no parent")
        else:
            raise UnmendableError(UNCLEAR)
        return rework.repair()

    def unreachable(self, finding: Finding) -> Repair:
        """A reply that a record of the agent's own bookkeeping has pushed off the way is put back before that."""
        links, tree = self._links, self._links.tree
        number = links.at(finding.position)
        origin = Branches(links.chain).origin(number)
        fork = origin.fork
        ahead = links.main.behind(fork) if fork != NONE and links.chain.reached[fork] else NONE
        if ahead == NONE or tree.flags[ahead] & MESSAGE:
            raise UnmendableError("another message stands in its place, so it may be a branch of the user's making")
        end = self._end_of_branch(number)
        if end > ahead or not links.free(ahead) or not links.akin(end, ahead) or links.stored(ahead) != fork:
            raise UnmendableError("where it belongs is not clear")
        rework = Rework(links, finding, "asked")
        rework.relink(ahead, end, "the reply that stands beside it comes before it")
        return rework.repair()

    def _end_of_branch(self, number: int) -> int:
        while children := self._links.children(number):
            if len(children) > 1:
                raise UnmendableError("the branch that it stands on parts again")
            number = children[0]
        return number

    def twice(self, finding: Finding) -> Repair:
        """The later of two records with one id gets another; what hangs on it as it was written follows."""
        links, tree = self._links, self._links.tree
        later = links.at(finding.position)
        line = links.line(later)
        same = sorted([later, *links.copies(later)])
        earlier = [one for one in same if one < later]
        if not earlier:
            raise UnmendableError("the other record with this id is not where it was found")
        following = next((one for one in same if one > later), len(tree))
        heirs = [child for child in links.children(tree.index[tree.ids[later]]) if later < child < following]
        if heirs and not any(one in earlier for one in self._as_written(later)):
            whose = [bool(tree.flags[one] & MESSAGE) for one in (earlier[-1], later)]
            if whose[0] == whose[1]:
                raise UnmendableError("either of the two records can be the parent of what follows")
            heirs = heirs if whose[1] else []
        digest = hashlib.sha256(line.raw.strip()).hexdigest()
        name = fresh_id(f"{tree.ids[later]}/{digest}/{later}", tree.index)
        rework = Rework(links, finding, "asked")
        encoded = style_of(line.raw).encoded(name)
        rework.change(later, "uuid", encoded, "another record has its id, so it gets one of its own")
        for child in heirs:
            rework.relink_to_new(child, name, "it hangs on the record that gets another id")
        return rework.repair()

    def _as_written(self, number: int) -> Iterator[int]:
        """The ancestors of a record, each the last with its id that stood there when its child was written."""
        links = self._links
        seen = set[int]()
        while number not in seen:
            seen.add(number)
            parent = links.stored(number)
            if parent < 0:
                return
            same = [one for one in [parent, *links.copies(parent)] if one < number]
            number = max(same) if same else parent
            yield number
