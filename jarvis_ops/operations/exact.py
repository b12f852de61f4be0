"""The exact verdict on what a conversation's own records say, whatever is wrong with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from jarvis_ops.dialects.base import Dialect
from jarvis_ops.model.conversation import Conversation
from jarvis_ops.model.record import Record
from jarvis_ops.model.settings import Settings
from jarvis_ops.model.verdict import Verdict
from jarvis_ops.operations.branching import Branching, duplicates
from jarvis_ops.operations.linear import Known, Linear
from jarvis_ops.operations.reading import Reading
from jarvis_ops.operations.running import sign_of_life
from jarvis_ops.operations.sealed import judge_segments
from jarvis_ops.operations.tail import tail
from jarvis_ops.rules.chain import Chain
from jarvis_ops.rules.tree import Tree
from jarvis_ops.stores.base import Snapshot

# Who wants to see the tree and the chain after judging them.
Keep = Callable[[Tree, Chain], None] | None
# A conversation whose passes do not agree after so many is read as the last one saw it.
PASSES = 4


def judge_linear(
    conversation: Conversation,
    snapshot: Snapshot,
    dialect: Dialect,
    settings: Settings,
    metadata: Mapping[str, Any] | None,
    hard: Callable[[], str],
) -> Verdict:
    """Read a conversation in the order of its lines, again for as long as a pass learns what the one before lacked."""
    partial = settings.scope == "last-turn"
    known = Known()
    for _ in range(PASSES):
        records = tail(snapshot, dialect) if partial else None
        compacts = settings.profile != "jarvis"
        reading = Reading(snapshot, dialect, settings.limits, records)
        linear = Linear(reading, dialect, known, compacts=compacts)
        linear.run()
        learned = linear.learned()
        if settings.scope == "full":
            learned = learned._replace(through=known.through, boundary=known.boundary)
        if learned == known:
            break
        known = learned
    open_calls = bool(linear.pairing.open)
    waiting = (
        open_calls or linear.turns.accepted is not None or (linear.turns.last is not None and linear.turns.last.typed)
    )
    frontier = sign_of_life(metadata, linear.turns, settings, open_calls=open_calls, hard=hard() if waiting else "")
    segments = [] if partial else list(judge_segments(snapshot, conversation, linear, settings))
    gap = any(finding.rule == "segment-gap" for finding in segments)
    linear.finish(frontier, gap=gap, partial=partial)
    return Verdict(
        dialect=dialect.name,
        findings=linear.findings + segments,
        records=linear.records,
        bytes=reading.size,
        last_time=linear.last_time,
        talk=linear.records,
        growing=reading.growing,
        sign=frontier,
    )


def judge_tree(
    conversation: Conversation,
    snapshot: Snapshot,
    dialect: Dialect,
    settings: Settings,
    hard: Callable[[], str],
    soft: str,
    keep: Keep = None,
) -> Verdict:
    """Read a conversation whose records name their parents, and judge the way back from its leaf.

    The tree and the chain are handed to `keep`, for whoever wants to mend them.
    """
    partial = settings.scope == "last-turn"

    def reading(records: Iterable[Record] | None = None) -> Reading:
        return Reading(snapshot, dialect, settings.limits, iter(records) if records is not None else None)

    side = conversation.parent is not None or "/agent-" in f"/{conversation.id}"
    tree = Branching(
        reading(tail(snapshot, dialect) if partial else None),
        dialect,
        own=conversation.session_id,
        side=side,
        partial=partial,
    )
    tree.run()
    repeated = [] if partial else duplicates(reading, tree.tree)
    chain = tree.build()
    open_calls = bool(tree.newest.open)
    waiting = open_calls or (tree.turns.last is not None and tree.turns.last.typed)
    sign = hard() if waiting else ""
    frontier = sign_of_life(None, tree.turns, settings, open_calls=open_calls, hard=sign, soft=soft)
    tree.finish(chain, frontier, full=settings.scope == "full")
    if keep is not None:
        keep(tree.tree, chain)
    return Verdict(
        dialect=dialect.name,
        findings=tree.findings + repeated,
        attachments=tree.attachments,
        records=tree.records,
        bytes=tree.reading.size,
        last_time=tree.last_time,
        talk=tree.talk,
        typed=tree.typed,
        cwds=sorted(tree.cwds),
        prompts=tree.prompts,
        growing=tree.reading.growing,
        sign=frontier,
    )
