"""Mending the agent's index of a folder: entries whose transcript is gone leave it; all others stay as they are."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

import orjson

from jarvis_ops.errors import RefusedError
from jarvis_ops.model.conversation import Conversation, Inventory
from jarvis_ops.model.finding import Finding
from jarvis_ops.model.pieces import Edit, Span
from jarvis_ops.model.plan import Change, Repair
from jarvis_ops.model.record import Position
from jarvis_ops.model.report import HealOutcome
from jarvis_ops.operations.draft import Draft
from jarvis_ops.operations.driver import Manner, each
from jarvis_ops.operations.index import indexes
from jarvis_ops.operations.landscape import Landscape
from jarvis_ops.operations.verify import accepted
from jarvis_ops.plans.splice import value_span
from jarvis_ops.plans.steps import Words
from jarvis_ops.rules.store import judge_index, names_session
from jarvis_ops.stores.base import Snapshot, WritableStore

RULE = "index-stale"
NO_ENTRY = "what the agent wants to find in an entry is not known, so none is made up"
NO_COUNT = "which messages the agent counts is not known, so its count stays"


def mend_indexes(
    store: WritableStore,
    inventory: Inventory,
    landscape: Landscape,
    manner: Manner,
    keep_plan: Callable[[Change], None] | None = None,
) -> Iterator[HealOutcome]:
    """One outcome for each index in which something is wrong. `landscape` knows all conversations of the store."""

    def decide(index: Conversation, snapshot: Snapshot, outcome: HealOutcome) -> Change | None:
        change = _decide(store, index, snapshot, outcome, landscape, manner)
        if change is not None and keep_plan is not None:
            keep_plan(change)
        return change

    for outcome in each(store, [*indexes(inventory)], decide, manner):
        # It belongs to no conversation.
        outcome.conversation = outcome.session_id = None
        if outcome.findings or outcome.errors or outcome.run or outcome.recovered:
            yield outcome


def _decide(
    store: WritableStore,
    index: Conversation,
    snapshot: Snapshot,
    outcome: HealOutcome,
    landscape: Landscape,
    manner: Manner,
) -> Change | None:
    file = index.id
    raw = snapshot.read(file, 0, snapshot.size(file))
    value = _object(raw)
    if value is None:
        return None
    present = {one.session_id for one in landscape.inventory.conversations if _is_main(one, index.folder)}
    judged = {one.session_id for one in landscape.transcripts if one.folder == index.folder}
    mine = [one for one in landscape.transcripts if one.folder == index.folder]
    findings = [
        one
        for one in judge_index(value, file, mine)
        # Of a transcript that could not be looked at, nothing is known but that it is there.
        if one.record_id not in present - judged and not accepted(one, outcome, landscape.settings)
    ]
    gone = [one for one in findings if one.record_id not in present]
    left = [one for one in findings if one.record_id in present]
    listed = {entry["sessionId"] for entry in value["entries"] if names_session(entry)} if findings else set()
    outcome.refused = [f"{RULE}: {one.detail}; {NO_COUNT if one.record_id in listed else NO_ENTRY}" for one in left]
    outcome.findings = findings
    outcome.status = "found" if findings else "clean"
    outcome.bytes = len(raw)
    if not gone:
        return None
    draft = Draft(store, snapshot, manner.run)
    draft.take([_without(gone, file, raw, value["entries"])])
    _check_whole(draft.view(), file, len(value["entries"]) - draft.repairs[0].removes)
    outcome.steps = draft.steps()
    outcome.status = "applied" if manner.apply else "planned"
    outcome.findings = left if manner.apply else findings
    outcome.lines_quarantined = draft.repairs[0].removes
    return draft.change("heal", index, everything=True)


def _is_main(one: Conversation, folder: str) -> bool:
    return one.folder == folder and one.parent is None


def _object(raw: bytes) -> dict[str, Any] | None:
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None


def _without(gone: list[Finding], file: str, raw: bytes, entries: list[Any]) -> Repair:
    """The index without the entries of sessions that are gone; every other byte stays."""
    names = {one.record_id for one in gone}
    away = [number for number, entry in enumerate(entries) if names_session(entry) and entry["sessionId"] in names]
    spans = [value_span(raw, f"entries[{number}]") for number in range(len(entries))]
    reached, pieces = 0, []
    for start, end in _cuts(spans, away):
        pieces.append(Span(file, reached, start))
        reached = end
    words = Words(gone[0], "asked")
    steps = [
        words.step(
            "set-aside",
            Position(file, None, spans[number][0], f"entries[{number}]"),
            "the transcript that it names is gone",
            record_id=entries[number]["sessionId"],
        )
        for number in away
    ]
    edit = Edit(file, 0, len(raw), (*pieces, Span(file, reached, len(raw))))
    return words.repair(*steps, edits=(edit,), removes=len(away))


def _cuts(spans: list[tuple[int, int]], away: Collection[int]) -> Iterator[tuple[int, int]]:
    """[start, end) of what goes with elements of a list: each with the comma before it, or behind the first ones."""
    kept = next((number for number in range(len(spans)) if number not in away), None)
    if kept is None:
        yield spans[0][0], spans[-1][1]
        return
    if kept:
        yield spans[0][0], spans[kept][0]
    yield from ((spans[number - 1][1], spans[number][1]) for number in away if number > kept)


def _check_whole(view: Snapshot, file: str, entries: int) -> None:
    value = _object(view.read(file, 0, view.size(file)))
    if value is None or len(value["entries"]) != entries:
        raise RefusedError("the index is of a form that cannot be changed safely")
