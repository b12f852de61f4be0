"""Comparing the conversations of a store with those of another: an archive, a backup, a copy."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Sequence

from jarvis_ops.errors import UnknownDialectError, UnreadableError
from jarvis_ops.model.conversation import Conversation, Inventory
from jarvis_ops.model.finding import Finding
from jarvis_ops.model.report import Outcome
from jarvis_ops.model.settings import Settings
from jarvis_ops.operations.elsewhere import Counterparts
from jarvis_ops.operations.sides import Hashes, Side, Tally, are_equal, contents, line_hash, tally
from jarvis_ops.operations.verify import accepted
from jarvis_ops.rules.findings import found
from jarvis_ops.rules.words import counted
from jarvis_ops.stores.base import Store


def compare(
    store: Store, conversation: Conversation, other: Store, other_conversation: Conversation | None, settings: Settings
) -> list[Finding]:
    """What one of two records of a conversation has and the other lacks, or has otherwise.

    What cannot be read here has its own outcome elsewhere, and is compared with nothing; that the other cannot be read
    is a finding. No message is said to be missing then.
    """
    here = Side(store, conversation, settings)
    if other_conversation is None:
        detail = f"this conversation is not in {other.name}"
        return [found("not-in-other", here.position(), detail)]
    there = Side(other, other_conversation, settings, other.name)
    with contextlib.suppress(UnreadableError):  # which of the two cannot be read is found out below
        if are_equal(here, there):
            return []
    try:
        theirs = Hashes(there)
    except (UnreadableError, UnknownDialectError) as error:
        return [there.unread(error)]
    try:
        return list(differences(here, there, theirs))
    except (UnreadableError, UnknownDialectError):
        return []


def differences(here: Side, there: Side, theirs: Hashes) -> Iterator[Finding]:
    """The findings, of which each kind comes once. Records are looked at again only where something differs."""
    added, suspect = Tally(), set[int]()
    for key, record, message in here.messages():
        if not theirs.meet(key):
            added.add(key, record, message)
        elif not theirs.has_line(line_hash(key, record)):
            suspect.add(key)
    at, name = here.position(), there.store.name
    missing = tally(there, theirs.never_met())
    if missing.seen:
        yield found("content-vanished", at, missing.said(f"of {name} missing here"), facts=missing.facts)
    if added.seen:
        yield found("not-in-other", at, added.said(f"not in {name}"), facts=added.facts)
    changed = tally(here, unequal(here, there, suspect))
    if changed.seen:
        yield found("differs-from-other", at, changed.said(f"with other content than in {name}"), facts=changed.facts)


def unequal(here: Side, there: Side, keys: Collection[int]) -> set[int]:
    """Those identities of which the two sides have no content in common, however it is spelled.

    A record that stands in pieces in a damaged line is not among them: the damage is a finding of its own.
    """
    theirs = {hash(one) for one in contents(there, keys)}
    shared = {key for key, said in contents(there, keys) if said is None}
    shared |= {key for key, said in contents(here, keys) if said is None or hash((key, said)) in theirs}
    return set(keys) - shared


def against(
    store: Store,
    inventory: Inventory,
    chosen: Sequence[Conversation],
    other: Store,
    settings: Settings,
    *,
    whole: bool,
) -> Iterator[tuple[Conversation, list[Finding]]]:
    """Each of the chosen conversations with what the comparison found; then, if `whole`, those that only `other` has.

    `whole` says that everything in this store was chosen. StoreError if the other store cannot be listed.
    """
    theirs = other.inventory()
    counterparts = Counterparts(theirs)
    for conversation in chosen:
        yield conversation, compare(store, conversation, other, counterparts.of(conversation), settings)
    if not whole or inventory.layout == "file":
        return
    ours = Counterparts(inventory)
    for conversation in theirs.conversations:
        if ours.of(conversation) is None:
            yield conversation, vanished(Side(other, conversation, settings, other.name))


def compared(
    outcomes: Iterator[Outcome], differences: Iterator[tuple[Conversation, list[Finding]]], settings: Settings
) -> Iterator[Outcome]:
    """Outcomes of verifying, in the order of `differences`, with these added; one more for each further difference.

    The store's own outcome, if there is one, comes last.
    """
    last = None
    for outcome in outcomes:
        if outcome.conversation is None:
            last = outcome
            continue
        _, findings = next(differences)
        yield added(outcome, findings, settings)
    for conversation, findings in differences:
        bare = Outcome(
            conversation=conversation.id, status="clean", session_id=conversation.session_id, parent=conversation.parent
        )
        yield added(bare, findings, settings)
    if last is not None:
        yield last


def added(outcome: Outcome, findings: list[Finding], settings: Settings) -> Outcome:
    """An outcome with further findings, save those that the store's owner has accepted."""
    kept = [one for one in findings if not accepted(one, outcome, settings)]
    outcome.findings = [*outcome.findings, *kept]
    outcome.accepted += len(findings) - len(kept)
    if kept and outcome.status == "clean":
        outcome.status = "found"
    return outcome


def vanished(there: Side) -> list[Finding]:
    """What the other store has of a conversation that is not here at all; nothing if nothing was ever said in it."""
    gone = Tally()
    try:
        for key, record, message in there.messages():
            gone.add(key, record, message)
    except (UnreadableError, UnknownDialectError) as error:
        return [there.unread(error)]
    if not gone.seen:
        return []
    detail = f"this conversation is only in {there.store.name}: {counted(len(gone.seen), 'message')}"
    return [found("content-vanished", there.position(), detail, facts=gone.facts)]
