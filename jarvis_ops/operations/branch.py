"""A branch is a copy: a call or a result that it lacks may stand in the conversation that it was copied from."""

from __future__ import annotations

from collections.abc import Mapping

from jarvis_ops.errors import OpsError
from jarvis_ops.model.conversation import Conversation
from jarvis_ops.model.finding import Finding
from jarvis_ops.model.report import Outcome
from jarvis_ops.model.settings import Settings
from jarvis_ops.model.verdict import Verdict
from jarvis_ops.operations.judge import dialect_of
from jarvis_ops.operations.reading import Reading
from jarvis_ops.rules.findings import found
from jarvis_ops.stores.base import Store

HALVES = {"unanswered-call": "result", "orphan-result": "call"}


def settle_branch(
    store: Store, by_id: Mapping[str, Conversation], verdict: Verdict, outcome: Outcome, settings: Settings
) -> None:
    """Call a missing half `pair-split` where the parent conversation has it; the findings of `outcome` are replaced."""
    halves = [one for one in outcome.findings if one.rule in HALVES and one.severity == "error"]
    parent = by_id.get(verdict.branch_of or "")
    if not halves or parent is None:
        return
    try:
        calls, results = halves_in(store, parent, {one.call_id for one in halves}, settings)
    except OpsError:
        return  # a parent that cannot be read says nothing; it has an outcome of its own
    outcome.findings = [split(one, parent.id, calls, results) for one in outcome.findings]


def halves_in(
    store: Store, parent: Conversation, wanted: set[str | None], settings: Settings
) -> tuple[set[str | None], set[str | None]]:
    """Which of the wanted ids are calls, and which are results, in the parent's record."""
    calls: set[str | None] = set()
    results: set[str | None] = set()
    with store.open(parent) as snapshot:
        dialect = dialect_of(snapshot, parent, settings)
        for _, message in Reading(snapshot, dialect, settings.limits):
            calls.update(call.id for call in message.calls if call.id in wanted)
            results.update(result.id for result in message.results if result.id in wanted)
    return calls, results


def split(finding: Finding, parent: str, calls: set[str | None], results: set[str | None]) -> Finding:
    """The finding, or the split of the pair where the parent has the other half."""
    lacking = HALVES.get(finding.rule)
    has = results if lacking == "result" else calls if lacking == "call" else set()
    if finding.call_id not in has:
        return finding
    detail = f"the {lacking} of call {finding.call_id} stayed in {parent}, from which this conversation was copied"
    return found(
        "pair-split", finding.position, detail, call_id=finding.call_id, facts={"parent": parent, "lacks": lacking}
    )
