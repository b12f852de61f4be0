"""Takes a run back, conversation by conversation; what an agent has added since stays."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence

from jarvis_ops.errors import RefusedError
from jarvis_ops.model.conversation import Conversation, Inventory
from jarvis_ops.model.plan import Change, Step
from jarvis_ops.model.report import HealOutcome, Problem
from jarvis_ops.model.run import Run
from jarvis_ops.operations.driver import Manner, each
from jarvis_ops.stores.base import Snapshot, WritableStore

FOREIGN = "foreign-record"


def undo(
    store: WritableStore,
    inventory: Inventory,
    entries: Sequence[Run],
    manner: Manner,
    *,
    advance: Callable[[int], None],
) -> Iterator[HealOutcome]:
    """One outcome for each of the entries, which are of one run; one that is taken back already is clean."""
    present = {one.id: one for one in inventory.conversations}
    by_id = {entry.conversation: entry for entry in entries}

    def decide(conversation: Conversation, snapshot: Snapshot, outcome: HealOutcome) -> Change | None:
        entry = _fresh(store, inventory, by_id[conversation.id])
        outcome.bytes = sum(part.size for part in snapshot.parts)
        if entry.state == "unfinished":
            raise RefusedError(f"run {entry.run} was interrupted here; finish it with recover before it is taken back")
        if entry.state != "done":
            return None
        if any(step.rule == FOREIGN for step in entry.steps):
            _check_sent_back(store, inventory, entry, conversation, set(by_id) if not manner.apply else set())
        change = store.undoing(entry, conversation)
        outcome.steps = list(change.steps)
        outcome.status = "applied" if manner.apply else "planned"
        return change

    # What went from one conversation to another is back in the first before it leaves the second.
    names = sorted(by_id, key=lambda name: not any(map(_is_sending, by_id[name].steps)))
    chosen = [present[name] for name in names if name in present]
    for outcome in each(store, chosen, decide, manner):
        outcome.undoes = entries[0].run
        advance(outcome.bytes)
        yield outcome
    yield from (_gone(entry) for name, entry in by_id.items() if name not in present)


def _fresh(store: WritableStore, inventory: Inventory, entry: Run) -> Run:
    """The entry as it is now: one that was interrupted may have been dealt with meanwhile."""
    if entry.state != "unfinished":
        return entry
    same = (one for one in store.runs(inventory) if (one.run, one.conversation) == (entry.run, entry.conversation))
    return next(same, entry)


def _check_sent_back(
    store: WritableStore, inventory: Inventory, entry: Run, conversation: Conversation, planned: Collection[str]
) -> None:
    """RefusedError while records that came here with the run are missing in the conversation that they came from."""
    here = {os.path.basename(part.file) for part in conversation.parts}
    for other in store.runs(inventory):
        if other.run != entry.run or other.state != "done" or other.conversation in {entry.conversation, *planned}:
            continue
        sent = (step.to for step in other.steps if _is_sending(step))
        if any(to is not None and os.path.basename(to.file) in here for to in sent):
            raise RefusedError(f"records came here from {other.conversation}, which has to be taken back first")


def _is_sending(step: Step) -> bool:
    """Whether a record goes to another conversation with a step."""
    return step.rule == FOREIGN and step.to is not None


def _gone(entry: Run) -> HealOutcome:
    problem = Problem("unknown-conversation", "it is no longer in the store", entry.conversation)
    return HealOutcome(conversation=entry.conversation, status="failed", undoes=entry.run, errors=[problem])
