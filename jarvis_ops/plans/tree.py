"""Mending conversations whose order is a chain of parents: Claude Code's."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from jarvis_ops.model.finding import Finding
from jarvis_ops.model.plan import Refusal, Repair
from jarvis_ops.plans.arguments import with_good_arguments
from jarvis_ops.plans.base import Ground, Pages
from jarvis_ops.plans.bytes import Bytes
from jarvis_ops.plans.call import Call
from jarvis_ops.plans.lines import UnmendableError
from jarvis_ops.plans.reach import last_signed_thinking
from jarvis_ops.plans.tree_ids import Ids
from jarvis_ops.plans.tree_links import Links
from jarvis_ops.plans.tree_lost import with_relinks
from jarvis_ops.plans.tree_move import Moving
from jarvis_ops.plans.tree_pairs import Pairs
from jarvis_ops.plans.tree_relink import Relinking
from jarvis_ops.plans.tree_rework import in_all_copies
from jarvis_ops.plans.tree_twice import Twice
from jarvis_ops.rules.chain import Chain
from jarvis_ops.rules.tree import Tree


class Branches:
    """Mends the findings of a tree. `tree` and `chain` are those of the pass that made the findings."""

    def __init__(self, pages: Pages, ground: Ground, tree: Tree, chain: Chain) -> None:
        self._bytes = Bytes(pages, ground)
        self._links = Links(pages, ground.dialect, tree, chain)
        pairs, twice, relinking = Pairs(self._links, ground), Twice(self._links), Relinking(self._links)
        moving = Moving(self._links, ground.homes)
        ids = Ids(self._links, ground.dialect, twice)
        self._ways: dict[str, Callable[[Finding], Repair | None]] = {
            "foreign-record": moving.away,
            "unanswered-call": pairs.unanswered,
            "misplaced-result": pairs.misplaced,
            "pair-split": pairs.split,
            "orphan-result": twice.orphan,
            "duplicate-result": twice.second_result,
            "duplicate-call-id": lambda finding: ids.duplicate(finding, self._last_signed),
            "bad-call-id": ids.unusable,
            "bad-arguments": self._arguments,
            "dangling-parent": relinking.to_the_one_before,
            "parent-cycle": relinking.to_the_one_before,
            "extra-root": relinking.to_the_one_before,
            "unreachable-record": relinking.unreachable,
            "duplicate-id": relinking.twice,
        }

    def repair(self, finding: Finding) -> Repair | Refusal | None:
        """How to mend a finding; None for what needs no repair, or has none here."""
        if finding.severity == "info" or finding.position.offset is None:
            return None
        way = self._ways.get(finding.rule)
        try:
            if way is not None:
                repair = way(finding)
                return in_all_copies(self._links, repair) if repair is not None else None
            damage = self._bytes.repair(finding)
            return with_relinks(damage, self._links) if isinstance(damage, Repair) else damage
        except UnmendableError as error:
            return Refusal(finding, error.reason)
        except (LookupError, TypeError, ValueError, RecursionError):
            # A line that one reader takes and another does not, or of a shape that nobody thought of.
            return Refusal(finding, "its line is of a form that cannot be changed safely")

    def _arguments(self, finding: Finding) -> Repair:
        line, path = self._links.line(self._links.at(finding.position)), finding.position.path or ""
        return with_good_arguments(Call(line, path), finding)

    @cached_property
    def _last_signed(self) -> int:
        """The offset of the last line with signed thinking, which a change before it unbinds."""
        return last_signed_thinking(self._links.pages, self._links.tree.file)
