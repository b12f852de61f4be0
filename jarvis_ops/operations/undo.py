"""Takes a run back, conversation by conversation; what an agent has added since stays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from jarvis_ops.errors import RefusedError
from jarvis_ops.model.conversation import Conversation, Inventory
from jarvis_ops.model.plan import Change
from jarvis_ops.model.report import HealOutcome, Problem
from jarvis_ops.model.run import Run
from jarvis_ops.operations.driver import Manner, each
from jarvis_ops.stores.base import Snapshot, WritableStore


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
        change = store.undoing(entry, conversation)
        outcome.steps = list(change.steps)
        outcome.status = "applied" if manner.apply else "planned"
        return change

    chosen = [present[name] for name in by_id if name in present]
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


def _gone(entry: Run) -> HealOutcome:
    problem = Problem("unknown-conversation", "it is no longer in the store", entry.conversation)
    return HealOutcome(conversation=entry.conversation, status="failed", undoes=entry.run, errors=[problem])
