"""Finishes what an interrupted run left half done, or puts it back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from jarvis_ops.errors import BusyError, OpsError
from jarvis_ops.model.conversation import Conversation
from jarvis_ops.model.report import Problem, RecoverOutcome
from jarvis_ops.stores.base import WritableStore


def recover(
    store: WritableStore, chosen: Iterable[Conversation], *, apply: bool, run: str, lock_wait: float = 0
) -> Iterator[RecoverOutcome]:
    """One outcome a conversation. Waits at most `lock_wait` seconds for one that another run holds."""
    for conversation in chosen:
        outcome = RecoverOutcome(
            conversation=conversation.id, status="clean", session_id=conversation.session_id, parent=conversation.parent
        )
        try:
            outcome.unfinished = store.unfinished(conversation)
            if outcome.unfinished:
                outcome.status = "planned"
                if apply:
                    with store.hold(conversation, run, wait=lock_wait):
                        outcome.recovered = store.recover(conversation)
                    outcome.status = "applied"
        except OpsError as error:
            outcome.status = "skipped" if isinstance(error, BusyError) else "failed"
            outcome.errors = [Problem(error.code, error.message, conversation.id)]
        yield outcome
