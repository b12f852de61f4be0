"""Carrying out plans that somebody has looked at, exactly as they are, or not at all."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Sequence

from jarvis_ops.errors import StaleError
from jarvis_ops.model.conversation import Conversation, Inventory
from jarvis_ops.model.pieces import PieceTable, Span
from jarvis_ops.model.plan import Change, Content
from jarvis_ops.model.report import HealOutcome
from jarvis_ops.model.settings import Settings
from jarvis_ops.operations.driver import Manner, each
from jarvis_ops.operations.heal import Healing, count
from jarvis_ops.operations.index import changeable, indexes
from jarvis_ops.operations.mending import Wish, unworsened
from jarvis_ops.stores.base import Snapshot, WritableStore
from jarvis_ops.stores.find import resolve


def carry_out(
    store: WritableStore,
    inventory: Inventory,
    plans: Sequence[Change],
    settings: Settings,
    wish: Wish,
    *,
    run: str,
    advance: Callable[[int], None],
) -> Iterator[HealOutcome]:
    """One outcome a plan. StaleError, as an outcome, for a conversation that is no longer what was planned for."""
    healing = Healing(store, inventory, settings, wish, run)
    by_id = {plan.conversation.id: plan for plan in plans}
    listed = {one.id for one in indexes(inventory)}
    chosen = [resolve(changeable(inventory), name) for name in by_id]

    def decide(conversation: Conversation, snapshot: Snapshot, outcome: HealOutcome) -> Change:
        plan = by_id[conversation.id]
        check_fresh(plan, snapshot)
        if conversation.id in listed:
            outcome.steps, outcome.status = list(plan.steps), "applied"
            outcome.lines_quarantined = plan.removed
            return plan
        healing.moving.check_arrived(plan, snapshot)
        verdict, first = healing.look(conversation, snapshot)
        outcome.dialect, outcome.records, outcome.bytes = verdict.dialect, verdict.records, verdict.bytes
        healing.leave_alone(conversation, snapshot, verdict, first)
        view = store.edited(snapshot, {one.file: table_of(one) for one in plan.contents})
        last = healing.look(conversation, view)[1]
        unworsened(first.findings, last.findings)
        outcome.steps = [step.told() for step in plan.steps]
        healing.report(outcome, last.findings)
        outcome.status = "left" if any(one.severity == "error" for one in last.findings) else "applied"
        count(outcome, plan)
        return plan

    manner = Manner(run=run, apply=True, wait=wish.wait / 1000, lock_wait=wish.lock_wait / 1000)
    for outcome in each(store, chosen, decide, manner):
        advance(outcome.bytes)
        if outcome.conversation in listed:
            outcome.conversation = outcome.session_id = None
        yield outcome


def check_fresh(plan: Change, snapshot: Snapshot) -> None:
    """StaleError unless every file is, byte for byte, what the plan was made from."""
    parts = {part.file.file: part for part in snapshot.parts}
    for seen in plan.fingerprint:
        part = parts.get(seen.file)
        if part is None or part.size != seen.bytes or snapshot.digest(part) != seen.sha256:
            raise StaleError(f"{seen.file} has changed since the plan was made; make a new plan")


def table_of(content: Content) -> PieceTable:
    """The content of a file as a plan holds it. ValueError for new bytes that are no base64."""
    return PieceTable(
        base64.b64decode(piece.base64, validate=True)
        if piece.base64 is not None
        else Span(piece.file, piece.offset, piece.offset + piece.length)
        for piece in content.pieces
    )
