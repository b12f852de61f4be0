"""Carries changes out, one conversation at a time: decide, hold, apply; wait where it is busy; answer for all."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import msgspec

from jarvis_ops.errors import BusyError, OpsError, StaleError
from jarvis_ops.model.conversation import Conversation
from jarvis_ops.model.plan import Change
from jarvis_ops.model.report import HealOutcome, Problem
from jarvis_ops.operations.verify import fault_of
from jarvis_ops.stores.base import Snapshot, WritableStore

# How long to pause before looking again at a conversation that is in use: longer each time.
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0

# Looks at a conversation, writes what it sees into the outcome, and says what is to be done, if anything.
Decide = Callable[[Conversation, Snapshot, HealOutcome], Change | None]


class Manner(msgspec.Struct, frozen=True, kw_only=True):
    """How to carry out: whether at all, under which run's name, and how long (seconds) to wait for others."""

    run: str
    apply: bool
    wait: float = 0
    lock_wait: float = 0


def each(store: WritableStore, chosen: Sequence[Conversation], decide: Decide, manner: Manner) -> Iterator[HealOutcome]:
    """One outcome a conversation. What keeps one from being changed is its outcome, never an exception."""
    for conversation in chosen:
        yield patiently(store, conversation, decide, manner)


def patiently(store: WritableStore, conversation: Conversation, decide: Decide, manner: Manner) -> HealOutcome:
    """Do the work on one conversation, again for as long as it is in use and there is time to wait."""
    deadline, pause = time.monotonic() + manner.wait, FIRST_PAUSE
    while True:
        outcome = bare(conversation)
        try:
            once(store, conversation, decide, manner, outcome)
        except BusyError as error:
            left = deadline - time.monotonic()
            if left > 0:
                time.sleep(min(pause, left))
                pause = min(2 * pause, LONGEST_PAUSE)
                continue
            return troubled(outcome, conversation, "skipped", error.code, error.message)
        except OpsError as error:
            return troubled(outcome, conversation, "failed", error.code, error.message)
        except Exception as error:  # noqa: BLE001 - one conversation must not keep the others from being mended
            return troubled(outcome, conversation, "failed", "unexpected", fault_of(error))
        return outcome


def bare(conversation: Conversation) -> HealOutcome:
    """The outcome of a conversation of which nothing is known yet."""
    return HealOutcome(
        conversation=conversation.id, status="clean", session_id=conversation.session_id, parent=conversation.parent
    )


def troubled(
    seen: HealOutcome, conversation: Conversation, status: Literal["skipped", "failed"], code: str, message: str
) -> HealOutcome:
    """What came of a conversation that was not changed: what was seen of it, and why; no plan."""
    outcome = bare(conversation)
    outcome.status = status
    outcome.dialect, outcome.records, outcome.bytes = seen.dialect, seen.records, seen.bytes
    outcome.findings, outcome.recovered = seen.findings, seen.recovered
    outcome.errors = [Problem(code, message, conversation.id)]
    return outcome


def once(
    store: WritableStore, conversation: Conversation, decide: Decide, manner: Manner, outcome: HealOutcome
) -> None:
    """Decide on an open conversation, and carry out what was decided while it is held."""
    if manner.apply and store.unfinished(conversation):
        with store.hold(conversation, manner.run, wait=manner.lock_wait):
            outcome.recovered = [one.what for one in store.recover(conversation)]
    with store.open(conversation) as snapshot:
        change = decide(conversation, snapshot, outcome)
    if change is None or not manner.apply:
        return
    with store.hold(conversation, manner.run, wait=manner.lock_wait):
        try:
            applied = store.apply(change, manner.run)
        except StaleError as error:
            raise BusyError(f"it changed while it was looked at: {error.message}") from error
    outcome.run = manner.run
    outcome.writer_check = applied.level
    outcome.late_lines = applied.late_lines
