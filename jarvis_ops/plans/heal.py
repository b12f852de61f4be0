"""In which order faults are mended, and who mends which."""

from __future__ import annotations

from jarvis_ops.model.finding import Finding
from jarvis_ops.model.plan import Refusal, Repair
from jarvis_ops.plans.base import Ground, Pages, Planner
from jarvis_ops.rules.chain import Chain
from jarvis_ops.rules.tree import Tree

# One round mends one group. Bytes come first, since only whole lines can be judged; what is there too often goes before
# what is missing is put in, so that nothing is made up that merely stood elsewhere.
STAGES = (
    frozenset(
        {
            "byte-order-mark", "nul-run", "split-line", "glued-lines", "bad-utf8", "lone-surrogate", "bad-line",
            "torn-tail", "no-final-newline",
        }
    ),
    frozenset({"foreign-record"}),
    frozenset({"repeated-record", "duplicate-id"}),
    frozenset({"dangling-parent", "parent-cycle", "extra-root", "unreachable-record"}),
    frozenset({"pair-split"}),
    frozenset({"duplicate-call-id"}),
    frozenset({"bad-call-id"}),
    frozenset({"misplaced-result"}),
    frozenset({"duplicate-result"}),
    frozenset({"orphan-result", "result-of-aborted-call"}),
    frozenset({"unanswered-call"}),
    frozenset({"bad-arguments"}),
)  # fmt: skip
MENDED = frozenset[str]().union(*STAGES)


def stage(rule: str) -> int:
    """In which round a rule's findings are mended, from 0; behind all others when nothing here mends them."""
    return next((number for number, rules in enumerate(STAGES) if rule in rules), len(STAGES))


def planner_of(pages: Pages, ground: Ground, tree: Tree | None, chain: Chain | None) -> Planner:
    """The planner for a view of a conversation; `tree` and `chain` are given where records name their parents."""
    if tree is not None and chain is not None:
        from jarvis_ops.plans.tree import Branches

        return Branches(pages, ground, tree, chain)
    from jarvis_ops.plans.bytes import Bytes
    from jarvis_ops.plans.linear import Linear

    return _ByStage(Bytes(pages, ground), Linear(pages, ground))


class _ByStage:
    """Damaged bytes to one planner, everything else to another."""

    def __init__(self, damage: Planner, pairs: Planner) -> None:
        self._damage = damage
        self._pairs = pairs

    def repair(self, finding: Finding) -> Repair | Refusal | None:
        """How to mend a finding."""
        return (self._damage if finding.rule in STAGES[0] else self._pairs).repair(finding)
