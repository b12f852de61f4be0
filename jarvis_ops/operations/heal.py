"""Healing: which conversations, what is known around them, and what comes of each."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from jarvis_ops.dialects.base import Dialect
from jarvis_ops.errors import BusyError, UnknownDialectError, UnreadableError
from jarvis_ops.model.conversation import Conversation, Inventory
from jarvis_ops.model.finding import Finding
from jarvis_ops.model.plan import Change, NewMode
from jarvis_ops.model.report import HealOutcome, Outcome
from jarvis_ops.model.settings import Settings
from jarvis_ops.model.verdict import Verdict
from jarvis_ops.operations import modes, moving, reindex
from jarvis_ops.operations.branch import settle_branch
from jarvis_ops.operations.draft import Draft
from jarvis_ops.operations.driver import Manner, each
from jarvis_ops.operations.elsewhere import Counterparts, results_in
from jarvis_ops.operations.judge import dialect_of, judge
from jarvis_ops.operations.landscape import Landscape, Share
from jarvis_ops.operations.mending import Look, Mending, Wish
from jarvis_ops.operations.moving import Moving
from jarvis_ops.operations.pages import SnapshotPages
from jarvis_ops.operations.references import Lookups, is_renaming_or_removing
from jarvis_ops.operations.running import hard_sign
from jarvis_ops.operations.surroundings import Surroundings, look_around
from jarvis_ops.operations.verify import accepted
from jarvis_ops.plans.base import Ground, Planner
from jarvis_ops.plans.heal import MENDED, planner_of
from jarvis_ops.plans.reach import reachable, signed_thinking_after
from jarvis_ops.rules.chain import Chain
from jarvis_ops.rules.tree import Tree
from jarvis_ops.stores.base import Snapshot, Store, WritableStore

if TYPE_CHECKING:
    from jarvis_ops.operations.rowheal import RowHealing

# Where a part of the record cannot be read, nothing in it is missing for certain.
UNKNOWABLE = frozenset({"segment-gap", "unreadable"})


class Healing:
    """One run. `decide` looks at a conversation, plans its repair, and fills in the outcome."""

    def __init__(
        self,
        store: WritableStore,
        inventory: Inventory,
        settings: Settings,
        wish: Wish,
        run: str,
        elsewhere: Store | None = None,
    ) -> None:
        self.store = store
        self.settings = settings
        self.wish = wish
        self.run = run
        self.around = look_around(store, inventory, settings)
        self.by_id = {one.id: one for one in inventory.conversations}
        self.elsewhere = elsewhere
        self.others = Counterparts(elsewhere.inventory()) if elsewhere is not None else None
        self.lookups = Lookups(store, inventory, settings)
        self.landscape = Landscape(store, inventory, self.around, settings)
        self.moving = Moving(store, inventory.conversations, self.look_at, partial=settings.scope == "last-turn")
        # What will be left of the findings of a conversation once its repairs are carried out.
        self.outlook: dict[str, list[Finding]] = {}
        self.rows = row_healing(store, inventory, settings, self.around, wish)
        # Conversations that only take in what comes from others.
        self.hosts = frozenset[str]()

    def decide(self, conversation: Conversation, snapshot: Snapshot, outcome: HealOutcome) -> Change | None:
        """The change that mends what may be mended; None when there is none. BusyError while a turn is running."""
        if any(snapshot.size(part.file.file) != part.size for part in snapshot.parts):
            raise BusyError("its last line is being written; it was left alone")
        verdict, first = self.look(conversation, snapshot)
        outcome.dialect, outcome.records, outcome.bytes = verdict.dialect, verdict.records, verdict.bytes
        if reindex.RULE in self.wish.rules:
            self.landscape.add(conversation, Share(verdict, ()))
        wide = self.modes(conversation, snapshot)
        self.report(outcome, [*first.findings, *(finding for finding, _ in wide)])
        self.leave_alone(conversation, snapshot, verdict, first)
        gap = next((one for one in first.findings if one.rule in UNKNOWABLE), None)
        if gap is not None:
            outcome.refused.append(f"{gap.rule}: {gap.detail}; a part of the record is unknown, so nothing is changed")
            return None
        draft = Draft(self.store, snapshot, self.run)
        draft.modes = tuple(mode for _, mode in wide)
        mending = Mending(
            draft,
            self.wish,
            lambda view: self.look(conversation, view)[1],
            lambda look: self.planner(conversation, look),
        )
        last = self.taken_in(conversation, draft, first)
        if conversation.id in self.hosts:
            mending.check(first, last)
        else:
            last = mending.run(first, last)
        self.tell(outcome, mending, first, last)
        if self.rows is not None:
            outcome.refused += self.rows.remarks(snapshot, last.view, last.findings)
        self.count_references(outcome, conversation)
        if not draft.repairs and not wide:
            return None
        change = draft.change("heal", conversation, everything=not self.wish.apply)
        count(outcome, change)
        return change

    def in_order(self, chosen: Sequence[Conversation]) -> Sequence[Conversation]:
        """The conversations in the order in which they must change, with those to which records of them go."""
        if moving.RULE not in self.wish.rules:
            return chosen
        ordered = self.moving.prepare(chosen)
        self.hosts = frozenset(one.id for one in ordered) - {one.id for one in chosen}
        return ordered

    def look(self, conversation: Conversation, view: Snapshot) -> tuple[Verdict, Look]:
        """Judge a view of a conversation; findings that their owner has accepted are left out."""
        kept: list[tuple[Tree, Chain]] = []
        verdict = self.judged(conversation, view, lambda tree, chain: kept.append((tree, chain)))
        seen = Outcome(conversation=conversation.id, status="clean", findings=verdict.findings)
        if verdict.branch_of is not None and seen.findings:
            settle_branch(self.store, self.by_id, verdict, seen, self.settings)
        findings = [one for one in seen.findings if not accepted(one, seen, self.settings)]
        tree, chain = kept[-1] if kept else (None, None)
        return verdict, Look(view, findings, tree, chain)

    def judged(self, conversation: Conversation, view: Snapshot, keep: Callable[[Tree, Chain], None]) -> Verdict:
        """The verdict on a view; a tree and a chain go to `keep`."""
        if self.rows is not None:
            return self.rows.judged(conversation, view)
        return judge(self.store, conversation, view, self.settings, self.around, keep=keep)

    def look_at(self, conversation: Conversation, view: Snapshot) -> tuple[Dialect, Look]:
        """The dialect of a conversation, and how a view of it looks."""
        return dialect_of(view, conversation, self.settings), self.look(conversation, view)[1]

    def modes(self, conversation: Conversation, snapshot: Snapshot) -> list[tuple[Finding, NewMode]]:
        """The modes that its files are to get, where that was asked for."""
        if modes.RULE not in self.wish.rules or conversation.id in self.hosts:
            return []
        whole = Outcome(conversation=None, status="clean")
        return [one for one in modes.new_modes(snapshot) if not accepted(one[0], whole, self.settings)]

    def taken_in(self, conversation: Conversation, draft: Draft, first: Look) -> Look:
        """How a conversation looks with the records that come to it from the files of others."""
        if not self.moving.awaited(conversation):
            return first
        dialect = dialect_of(first.view, conversation, self.settings)
        return self.moving.take_in(conversation, dialect, draft, first, lambda view: self.look(conversation, view)[1])

    def leave_alone(self, conversation: Conversation, snapshot: Snapshot, verdict: Verdict, look: Look) -> None:
        """BusyError if a turn is running, as far as that can be told, or somebody has the log open."""
        if verdict.growing:
            raise BusyError("its last line is being written; it was left alone")
        sign = verdict.sign
        to_do = self.moving.awaited(conversation) or any(one.rule in MENDED for one in look.findings)
        if not sign and to_do:
            sign = hard_sign(self.store, conversation, snapshot, self.around) or self.unquiet(snapshot)
        if sign:
            raise BusyError(f"{sign}; it was left alone")

    def unquiet(self, snapshot: Snapshot) -> str:
        """That a log was touched lately, where the system cannot tell whether somebody writes."""
        if self.settings.assume_idle or snapshot.writer() is not None or not snapshot.parts:
            return ""
        touched = snapshot.parts[-1].mtime_ns // 1_000_000
        young = self.settings.now - touched < self.wish.quiet_time
        return "its log was written to lately, and the system cannot tell who has it open" if young else ""

    def planner(self, conversation: Conversation, look: Look) -> Planner:
        """The planner for a view, with the results that can be had from elsewhere."""
        dialect = dialect_of(look.view, conversation, self.settings)
        arrived = self.wish.apply and moving.RULE in self.wish.rules
        ground = Ground(
            dialect=dialect,
            conversation=conversation.id,
            elsewhere=self.results(conversation, look.findings),
            homes=self.moving.homes(conversation, dialect, look, there=arrived),
            asked=self.wish.rules,
            sealed=self.wish.include_sealed,
        )
        planner = planner_of(SnapshotPages(look.view), ground, look.tree, look.chain)
        return planner if self.rows is None else self.rows.planner(planner, look.view)

    def results(self, conversation: Conversation, findings: Sequence[Finding]) -> dict[str, bytes]:
        """The lines of results that this conversation lacks: from its parent, or from the other store."""
        found: dict[str, bytes] = {}
        lacking = [one for one in findings if one.rule == "unanswered-call" or one.facts.get("lacks") == "result"]
        wanted = {one.call_id for one in lacking if one.call_id is not None}
        parents = {str(one.facts["parent"]) for one in lacking if "lacks" in one.facts}
        places: list[tuple[Store, Conversation]] = [
            (self.store, self.by_id[name]) for name in sorted(parents) if name in self.by_id
        ]
        other = self.others.of(conversation) if self.others is not None else None
        if self.elsewhere is not None and other is not None:
            places.append((self.elsewhere, other))
        for store, one in places if wanted else ():
            with contextlib.suppress(UnreadableError, UnknownDialectError):
                found = {**results_in(store, one, wanted, self.settings), **found}
        return found

    def report(self, outcome: HealOutcome, findings: list[Finding]) -> None:
        """Let the outcome say what is, or is left, wrong."""
        outcome.findings = [one.told() for one in findings]
        outcome.status = "found" if findings else "clean"

    def tell(self, outcome: HealOutcome, mending: Mending, first: Look, last: Look) -> None:
        """Let the outcome say what will be, or was, done."""
        draft, wish = mending.draft, self.wish
        outcome.steps = [step.told() for step in (*draft.steps(), *mending.held_steps())]
        outcome.held = dict(Counter(held for _, held in mending.last.held))
        outcome.refused = [f"{one.finding.rule}: {one.reason}" for one in mending.last.refused]
        if not draft.repairs and not draft.modes:
            if wish.apply and any(one.severity == "error" for one in first.findings):
                outcome.status = "left"
            return
        if first.tree is not None and last.tree is not None and first.chain is not None and last.chain is not None:
            outcome.reachable = reachable(first.tree, first.chain), reachable(last.tree, last.chain)
        if draft.first_change is not None:
            outcome.unbinds = signed_thinking_after(SnapshotPages(last.view), *draft.first_change)
        outcome.status = "planned"
        if wish.apply:
            self.outlook[str(outcome.conversation)] = last.findings

    def settle(self, outcome: HealOutcome) -> None:
        """Let the outcome of a conversation say what is left of its faults, if it was changed."""
        left = self.outlook.pop(str(outcome.conversation), None)
        if left is not None and outcome.run is not None:
            self.report(outcome, left)
            outcome.status = "left" if any(one.severity == "error" for one in left) else "applied"

    def count_references(self, outcome: HealOutcome, conversation: Conversation) -> None:
        """Count what else names a record that is taken away, or a call that gets another id."""
        gone = [step for step in outcome.steps if step.held is None and is_renaming_or_removing(step)]
        names = {name for step in gone for name in (step.record_id, step.call_id) if name is not None}
        for reference in self.lookups.naming(conversation, names) if names else ():
            outcome.references += reference.lines
            if reference.fault:
                outcome.refused.append(f"{reference.file} may name what is taken away, but {reference.fault}")


def row_healing(
    store: WritableStore, inventory: Inventory, settings: Settings, around: Surroundings, wish: Wish
) -> RowHealing | None:
    """What is different in a store of rows; None in a store of files, which need not load it."""
    if inventory.layout != "rows":
        return None
    from jarvis_ops.operations.rowheal import RowHealing

    return RowHealing(store, settings, around, spread=wish.spread)


def count(outcome: HealOutcome, change: Change) -> None:
    """The proof that nothing is lost: every record that was there stays, is changed, moves, or is kept aside."""
    changed = {(step.position.file, step.position.offset) for step in change.steps if step.step == "replace"}
    outcome.lines_moved, outcome.lines_added, outcome.lines_quarantined = change.moved, change.added, change.removed
    outcome.lines_changed = len(changed)
    # Of what moves to another file, a copy is kept aside as well.
    asides = [aside for aside in change.asides if aside.rule != moving.RULE]
    outcome.bytes_quarantined = sum(aside.span.length for aside in asides)
    outcome.lines_kept = max(0, outcome.records - change.moved - change.removed - len(changed))


def heal(  # noqa: PLR0913 - which conversations, what may be done, and who is told
    store: WritableStore,
    inventory: Inventory,
    chosen: Sequence[Conversation],
    settings: Settings,
    wish: Wish,
    *,
    run: str,
    advance: Callable[[int], None],
    elsewhere: Store | None = None,
    keep_plan: Callable[[Change], None] | None = None,
) -> Iterator[HealOutcome]:
    """One outcome a conversation, in the order of `chosen`, save that records go where they belong before they leave.

    Each plan is handed to `keep_plan` as it is made. Indexes are mended when all conversations of the store are chosen.
    """
    healing = Healing(store, inventory, settings, wish, run, elsewhere)

    def decide(conversation: Conversation, snapshot: Snapshot, outcome: HealOutcome) -> Change | None:
        change = healing.decide(conversation, snapshot, outcome)
        if change is not None and keep_plan is not None:
            keep_plan(change)
        return change

    manner = Manner(run=run, apply=wish.apply, wait=wish.wait / 1000, lock_wait=wish.lock_wait / 1000)
    for outcome in each(store, healing.in_order(chosen), decide, manner):
        healing.settle(outcome)
        advance(outcome.bytes)
        yield outcome
    if reindex.RULE in wish.rules:
        yield from reindex.mend_indexes(store, inventory, healing.landscape, manner, keep_plan)
