"""Judging many conversations: one outcome each, and at the end what the store as a whole shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from jarvis_ops.errors import BusyError, OpsError, UnknownDialectError
from jarvis_ops.model.conversation import Conversation, Inventory
from jarvis_ops.model.finding import Finding
from jarvis_ops.model.record import Position
from jarvis_ops.model.report import Outcome, Problem
from jarvis_ops.model.settings import Accept, Settings
from jarvis_ops.model.verdict import Verdict
from jarvis_ops.operations.footprint import log_bytes
from jarvis_ops.operations.judge import Hands, judge
from jarvis_ops.operations.landscape import Landscape, Share
from jarvis_ops.operations.surroundings import Surroundings, look_around
from jarvis_ops.rules.findings import found
from jarvis_ops.rules.store import FileMode
from jarvis_ops.stores.base import Store

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from jarvis_ops.operations.changed import Memory

# Conversations are handed to other processes in batches of about so many bytes, or so many of them.
BATCH_BYTES = 16 << 20
BATCH_LENGTH = 64


class Judged(msgspec.Struct):
    """One conversation after judging: its outcome, and what its store's own findings are made from."""

    outcome: Outcome
    verdict: Verdict | None = None
    modes: tuple[FileMode, ...] = ()


def verify(  # noqa: PLR0913 - what to judge, how, and with whose help
    store: Store,
    inventory: Inventory,
    chosen: Sequence[Conversation],
    settings: Settings,
    *,
    whole: bool,
    executor: Executor | None,
    workers: int = 1,
    advance: Callable[[int], None],
    memory: Memory | None = None,
) -> Iterator[Outcome]:
    """Yield one outcome a conversation, in the order of `chosen`; then, if `whole`, the store's own, if it has any.

    `whole` says that everything in the store was chosen, or is known from `memory`. `executor` judges conversations
    in `workers` processes, None judges them here.
    `advance` is told the bytes that were read, as they are.
    """
    around = look_around(store, inventory, settings)
    landscape = Landscape(store, inventory, around, settings)
    named = not whole or inventory.layout == "file"
    if memory is not None:
        known = ((one, memory.share(one.id)) for one in inventory.conversations)
        landscape.add_all((one, share) for one, share in known if share is not None)
    batches = batched(chosen)
    for batch, results in zip(batches, judged(store, batches, settings, around, executor, workers), strict=True):
        for conversation, one in zip(batch, results, strict=True):
            place(store, conversation, one, landscape, settings)
            if memory is not None and one.verdict is not None:
                bare = msgspec.structs.replace(one.verdict, findings=[], attachments=[])
                memory.learn(conversation.id, Share(bare, one.modes))
            advance(one.outcome.bytes)
            yield finished(one.outcome, settings, named=named)
    if whole:
        outcome = finished(store_outcome(landscape), settings, named=False)
        if outcome.findings or outcome.accepted:
            yield outcome


def place(store: Store, conversation: Conversation, one: Judged, landscape: Landscape, settings: Settings) -> None:
    """Judge what a conversation shows only among the others: a branch its parent, a path its file."""
    landscape.add_all([(conversation, Share(one.verdict, one.modes))])
    if one.verdict is None:
        return
    if one.verdict.branch_of is not None and one.outcome.findings:
        from jarvis_ops.operations.branch import settle_branch

        settle_branch(store, landscape.by_id, one.verdict, one.outcome, settings)
    one.outcome.findings += landscape.missing_attachments(conversation, one.verdict)


def store_outcome(landscape: Landscape) -> Outcome:
    """What the store as a whole shows; a failure where a part of it could not be read."""
    outcome = Outcome(conversation=None, status="clean", findings=list(landscape.judge()))
    unreadable = [one for one in outcome.findings if one.rule == "unreadable"]
    if unreadable:
        outcome.status = "failed"
        outcome.errors = [Problem("unreadable", f"{one.position.file}: {one.detail}") for one in unreadable]
    return outcome


def judged(
    store: Store,
    batches: Sequence[Sequence[Conversation]],
    settings: Settings,
    around: Surroundings,
    executor: Executor | None,
    workers: int,
) -> Iterator[Iterator[Judged] | list[Judged]]:
    """The results of each batch, in order: judged here one by one as they are asked for, or elsewhere.

    A single conversation cannot be handed out whole, so its portions are.
    """
    if executor is None:
        yield from ((judge_one(store, one, settings, around) for one in batch) for batch in batches)
        return
    if len(batches) == 1 and len(batches[0]) == 1:
        yield [judge_one(store, batches[0][0], settings, around, hands=(executor, workers))]
        return
    waiting = [executor.submit(judge_batch, store, batch, settings, around) for batch in batches]
    for future in waiting:
        yield future.result()


def batched(chosen: Sequence[Conversation]) -> list[list[Conversation]]:
    """Conversations in portions that are worth handing to another process."""
    batches: list[list[Conversation]] = []
    size = BATCH_BYTES
    for one in chosen:
        if size >= BATCH_BYTES or len(batches[-1]) == BATCH_LENGTH:
            batches.append([])
            size = 0
        batches[-1].append(one)
        size += log_bytes(one)
    return batches


def judge_batch(store: Store, batch: Sequence[Conversation], settings: Settings, around: Surroundings) -> list[Judged]:
    """Judge a portion of the conversations; what another process runs."""
    return [judge_one(store, one, settings, around) for one in batch]


def judge_one(
    store: Store, conversation: Conversation, settings: Settings, around: Surroundings, *, hands: Hands = None
) -> Judged:
    """Judge one conversation. What keeps it from being judged is its outcome, never an exception."""
    outcome = Outcome(
        conversation=conversation.id, status="clean", session_id=conversation.session_id, parent=conversation.parent
    )
    modes: tuple[FileMode, ...] = ()
    verdict: Verdict | None = None
    try:
        with store.open(conversation) as snapshot:
            modes = tuple(FileMode(conversation.folder, part.file.file, part.mode) for part in snapshot.parts)
            verdict = judge(store, conversation, snapshot, settings, around, hands=hands)
        verdict.findings += interrupted(store, conversation)
    except UnknownDialectError as error:
        file = conversation.parts[0].file if conversation.parts else conversation.id
        outcome.findings = [found("unknown-dialect", Position(file), "its records are of no form that is known")]
        outcome.errors = [Problem(error.code, error.message, conversation.id)]
        outcome.status = "skipped"
    except OpsError as error:
        file = conversation.live.file if conversation.live is not None else conversation.id
        outcome.findings = [found("unreadable", Position(file), error.message)]
        outcome.errors = [Problem(error.code, error.message, conversation.id)]
        outcome.status = "failed"
    except Exception as error:  # noqa: BLE001 - one conversation must not keep the others from being judged
        outcome.errors = [Problem("unexpected", fault_of(error), conversation.id)]
        outcome.status = "failed"
    else:
        outcome.dialect = verdict.dialect
        outcome.records = verdict.records
        outcome.bytes = verdict.bytes
        outcome.findings = verdict.findings
        if verdict.growing:
            outcome.status = "skipped"
            problem = "its last line is being written; it was left alone"
            outcome.errors = [Problem(BusyError.code, problem, conversation.id)]
    return Judged(outcome, verdict, modes)


def interrupted(store: Store, conversation: Conversation) -> Iterator[Finding]:
    """The runs of ours that did not come to their end here."""
    file = conversation.live.file if conversation.live is not None else conversation.id
    for run in store.unfinished(conversation):
        detail = f"run {run} was interrupted while it changed this conversation"
        yield found("unfinished-run", Position(file), detail, facts={"run": run})


def fault_of(error: Exception) -> str:
    """A fault of the program itself in one sentence, with its place and without what was being read."""
    place_of = error.__traceback__
    while place_of is not None and place_of.tb_next is not None:
        place_of = place_of.tb_next
    where = f" at {place_of.tb_frame.f_code.co_name}:{place_of.tb_lineno}" if place_of is not None else ""
    return f"an unexpected fault ({type(error).__name__}{where}) while it was judged; please report it"


def finished(outcome: Outcome, settings: Settings, *, named: bool) -> Outcome:
    """An outcome with accepted findings taken out and its status set.

    `named` says that the conversation was asked for by itself: then one of an unknown form is a failure.
    """
    kept = [one.told() for one in outcome.findings if not accepted(one, outcome, settings)]
    outcome.accepted = len(outcome.findings) - len(kept)
    outcome.findings = kept
    if outcome.status == "clean" and kept:
        outcome.status = "found"
    if any(one.code == UnknownDialectError.code for one in outcome.errors):
        # A form that nobody knows is a failure where it was asked for, and nothing where its owner has accepted it.
        outcome.status = "clean" if not kept else "failed" if named else "skipped"
        outcome.errors = outcome.errors if named and kept else []
    return outcome


def accepted(finding: Finding, outcome: Outcome, settings: Settings) -> bool:
    """Whether the owner of the store has accepted a finding, and has not set a day that is past."""
    today = datetime.fromtimestamp(settings.now / 1000, UTC).date().isoformat()
    return any(matches(one, finding, outcome) and (one.until is None or one.until >= today) for one in settings.accept)


def matches(accept: Accept, finding: Finding, outcome: Outcome) -> bool:
    """Whether an acceptance names this finding."""
    ids = {finding.record_id, finding.call_id}
    return (
        (accept.conversation is None or accept.conversation == outcome.conversation)
        and (accept.rule is None or accept.rule == finding.rule)
        and (accept.record is None or accept.record in ids)
    )
