"""Mending one conversation on paper: rounds of planning and judging, until nothing is left that may be mended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from jarvis_ops.errors import RefusedError
from jarvis_ops.model.finding import Finding
from jarvis_ops.model.plan import Held, Refusal, Repair, Step
from jarvis_ops.operations.draft import Draft
from jarvis_ops.plans.base import Planner
from jarvis_ops.plans.heal import MENDED, stage
from jarvis_ops.rules.chain import Chain
from jarvis_ops.rules.tree import Tree
from jarvis_ops.stores.base import Snapshot

# Each round mends one kind of fault, or as many of it as do not touch. A planner that never ends would be wrong.
ROUNDS = 500
NOWHERE_TO_NOTE = "a new segment must be noted at the end of the live file, which is missing or ends in a torn line"


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What may be done. `rules` narrows to these, and allows what is done only when asked. Times are milliseconds.

    `spread` says that rows which share a time may be moved apart.
    """

    apply: bool = False
    lossy: bool = False
    rules: frozenset[str] = frozenset()
    include_sealed: bool = False
    spread: bool = False
    wait: int = 3_000
    quiet_time: int = 300_000
    lock_wait: int = 0


class Look(NamedTuple):
    """A view of a conversation after judging it; records that name their parents have a tree and a chain."""

    view: Snapshot
    findings: list[Finding]
    tree: Tree | None
    chain: Chain | None


class Round(NamedTuple):
    """What one round would do: repairs that are allowed, those that are not and why, findings beyond repair."""

    allowed: list[Repair]
    held: list[tuple[Repair, Held]]
    refused: list[Refusal]


class Mending:
    """The rounds of one conversation. `look` judges a view, `planner` is made anew for each."""

    def __init__(
        self, draft: Draft, wish: Wish, look: Callable[[Snapshot], Look], planner: Callable[[Look], Planner]
    ) -> None:
        self.draft = draft
        self.wish = wish
        self.look = look
        self.planner = planner
        self.last = Round([], [], [])

    def run(self, first: Look, now: Look) -> Look:
        """Mend what may be mended in `now`; the last look. RefusedError when the result is not better than `first`."""
        look = now
        for _ in range(ROUNDS):
            self.last = self.plan(look)
            if not self.last.allowed:
                break
            self.draft.take(self.last.allowed)
            look = self.look(self.draft.view())
        self.check(first, look)
        return look

    def plan(self, look: Look) -> Round:
        """The first group of faults of which any may be mended now."""
        planner = self.planner(look)
        result = Round([], [], [])
        groups: dict[int, list[Finding]] = {}
        for finding in look.findings:
            if self.concerns(finding):
                groups.setdefault(stage(finding.rule), []).append(finding)
        for _, findings in sorted(groups.items()):
            for finding in findings:
                self.sort_in(mended(planner, finding), look, result)
            if result.allowed:
                break
        return result

    def concerns(self, finding: Finding) -> bool:
        """Whether a finding is one to mend; what is merely worth knowing is so only when its rule is named."""
        mended = finding.rule in MENDED or (self.wish.spread and finding.rule == "order-tie")
        if self.wish.rules:
            return finding.rule in self.wish.rules and mended
        return mended and finding.severity != "info"

    def sort_in(self, answer: Repair | Refusal | None, look: Look, result: Round) -> None:
        """Put a planner's answer where it belongs."""
        if isinstance(answer, Refusal):
            result.refused.append(answer)
        elif answer is not None:
            held = self.held(answer, look)
            if held == "sealed" and self.wish.include_sealed:
                result.refused.append(Refusal(answer.finding, NOWHERE_TO_NOTE))
            elif held is None:
                result.allowed.append(answer)
            else:
                result.held.append((answer, held))

    def held(self, repair: Repair, look: Look) -> Held | None:
        """What keeps a repair from being carried out."""
        if repair.safety == "asked" and repair.finding.rule not in self.wish.rules:
            return "asked"
        if repair.safety == "lossy" and not self.wish.lossy:
            return "lossy"
        if any(edit.file in self.draft.sealed for edit in repair.edits) and not self.may_seal(look):
            return "sealed"
        return None

    def may_seal(self, look: Look) -> bool:
        """Whether sealed segments may be replaced, which must be noted behind a whole last line of the live file."""
        live = self.draft.live
        if not self.wish.include_sealed or live is None:
            return False
        size = look.view.size(live)
        return size == 0 or look.view.read(live, size - 1, size) == b"\n"

    def check(self, first: Look, last: Look) -> None:
        """The result must have no error that was not there before, and none that was mended."""
        unworsened(first.findings, last.findings)
        gone = {key(repair.finding) for repair in self.draft.repairs}
        for one in last.findings:
            if one.severity == "error" and key(one) in gone and not self.is_left(one):
                raise RefusedError(f"the repair of {one.rule} does not hold, so nothing was done")

    def is_left(self, finding: Finding) -> bool:
        """Whether a fault that is there after the repair is another one that was held back or refused."""
        left = [repair.finding for repair, _ in self.last.held] + [refusal.finding for refusal in self.last.refused]
        return any(one is finding for one in left)

    def held_steps(self) -> Iterator[Step]:
        """The steps that are held back, each with the reason, at their places in the original."""
        for repair, held in self.last.held:
            for step in self.draft.placed(repair.steps):
                yield msgspec.structs.replace(step, held=held)


def mended(planner: Planner, finding: Finding) -> Repair | Refusal | None:
    """The planner's answer. What a copy lacks is mended like what is missing anywhere."""
    lacks = finding.facts.get("lacks") if finding.rule == "pair-split" else None
    if lacks is None:
        return planner.repair(finding)
    like = msgspec.structs.replace(finding, rule="unanswered-call" if lacks == "result" else "orphan-result")
    answer = planner.repair(like)
    if answer is None:
        return None
    if isinstance(answer, Refusal):
        return answer._replace(finding=finding)
    steps = tuple(msgspec.structs.replace(step, rule=finding.rule) for step in answer.steps)
    return answer._replace(finding=finding, steps=steps)


def unworsened(before: Sequence[Finding], after: Sequence[Finding]) -> None:
    """RefusedError if a conversation has an error that it did not have before."""
    old = Counter(key(one) for one in before if one.severity == "error")
    new = Counter(key(one) for one in after if one.severity == "error")
    for rule, name in new - old:
        named = f" ({name})" if name else ""
        raise RefusedError(f"the repair would leave a fault that was not there before, {rule}{named}; nothing was done")


def key(finding: Finding) -> tuple[str, str]:
    """What tells a fault from others, wherever it stands after a repair."""
    return finding.rule, finding.call_id or finding.record_id or ""
