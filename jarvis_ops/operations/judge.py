"""The verdict on one conversation: detect its dialect, judge its records, say what its companions lack."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from jarvis_ops.dialects.base import Dialect
from jarvis_ops.dialects.blocks import milliseconds
from jarvis_ops.dialects.jarvis import Jarvis
from jarvis_ops.dialects.registry import DIALECTS, SAMPLE, detect
from jarvis_ops.errors import UnknownDialectError
from jarvis_ops.model.conversation import Conversation
from jarvis_ops.model.finding import Finding
from jarvis_ops.model.message import Message
from jarvis_ops.model.record import Position, Record
from jarvis_ops.model.settings import Settings
from jarvis_ops.model.verdict import Verdict
from jarvis_ops.operations.running import hard_sign, sign_of_life
from jarvis_ops.operations.screen import screened
from jarvis_ops.operations.sealed import judge_segments
from jarvis_ops.operations.surroundings import Surroundings, read_metadata
from jarvis_ops.rules.findings import found
from jarvis_ops.rules.seams import strict
from jarvis_ops.rules.turns import Turns
from jarvis_ops.stores.base import BEGINNING, Snapshot, Store

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from jarvis_ops.rules.chain import Chain
    from jarvis_ops.rules.tree import Tree

# Who shares in looking at one conversation: an executor and the number of its processes.
Hands = tuple["Executor", int] | None
Keep = Callable[["Tree", "Chain"], None] | None
# How many lines are looked at for the dialect, whole or not.
LOOKED_AT = 200


def judge(  # noqa: PLR0913 - what to judge, how, and with whose help
    store: Store,
    conversation: Conversation,
    snapshot: Snapshot,
    settings: Settings,
    around: Surroundings,
    *,
    screen: bool = True,
    hands: Hands = None,
    keep: Keep = None,
) -> Verdict:
    """Judge a conversation that is held open. UnknownDialectError if its records are of no known form.

    With `screen`, the fast way is tried first; the verdict is the same without it. `hands` share in it. The tree and
    the chain of a conversation that has them go to `keep`.
    """
    dialect = dialect_of(snapshot, conversation, settings)
    metadata, fault = read_metadata(store, conversation)
    hard = _once(lambda: hard_sign(store, conversation, snapshot, around))
    verdict = at_a_glance(store, conversation, snapshot, dialect, settings, hands) if screen else None
    if verdict is not None:
        unanswered, verdict.sign = last_turn(snapshot, dialect, settings, metadata, hard)
        verdict.findings += unanswered
    if verdict is None:
        # Most conversations are healthy, and their start-up time is better spent on them.
        from jarvis_ops.operations import exact

        if dialect.tree:
            young = around.young.get(conversation.session_id, "")
            verdict = exact.judge_tree(conversation, snapshot, dialect, settings, hard, young, keep)
        else:
            verdict = exact.judge_linear(conversation, snapshot, dialect, settings, metadata, hard)
    verdict.findings += companions(conversation, metadata, fault, settings, around, verdict, hard)
    if metadata is not None and isinstance(metadata.get("parent_id"), str):
        verdict.branch_of = metadata["parent_id"]
    order = {part.file.file: number for number, part in enumerate(snapshot.parts)}
    verdict.findings.sort(
        key=lambda one: (order.get(one.position.file, -1), one.position.line or 0, one.position.offset or 0)
    )
    if settings.scope == "last-turn":
        verdict.findings = with_lines(verdict.findings, snapshot)
    return verdict


def at_a_glance(
    store: Store, conversation: Conversation, snapshot: Snapshot, dialect: Dialect, settings: Settings, hands: Hands
) -> Verdict | None:
    """The verdict on a conversation in whose records nothing is odd; None when the exact way must judge."""
    if dialect.tree or settings.scope == "last-turn":
        return None
    if hands is not None:
        from jarvis_ops.operations.portions import screened_in_portions

        screen = screened_in_portions(store, conversation, snapshot, settings, *hands)
    else:
        screen = screened(snapshot, settings, begin=BEGINNING, end=None)
        screen = screen if screen is not None and screen.settled() else None
    if screen is None:
        return None
    return Verdict(
        dialect=dialect.name,
        findings=list(judge_segments(snapshot, conversation, screen, settings)),
        records=screen.records,
        bytes=screen.size,
        last_time=milliseconds(screen.last_time),
        talk=screen.records,
    )


def last_turn(
    snapshot: Snapshot,
    dialect: Dialect,
    settings: Settings,
    metadata: Mapping[str, Any] | None,
    hard: Callable[[], str],
) -> tuple[list[Finding], str]:
    """Whether a conversation without a fault ends with a prompt that nothing answers, and the sign that it runs."""
    records: list[tuple[Record, Message]] = []
    messages = 0
    for record in snapshot.newest_first():
        value = strict(record.raw)
        if isinstance(value, dict):
            message = dialect.decode(value)
            records.append((record, message))
            messages += message.sent and not message.proactive
        if messages > 1 or (messages and not records[-1][1].typed) or len(records) == LOOKED_AT:
            break
    turns = Turns()
    for record, message in reversed(records):
        turns.feed(message, record)
    prompt = turns.last is not None and turns.last.typed
    waiting = prompt or turns.accepted is not None
    frontier = sign_of_life(metadata, turns, settings, open_calls=False, hard=hard() if waiting else "")
    turns.finish(frontier)
    unanswered = [one for one in turns.findings if one.rule == "unanswered-turn"] if prompt else []
    return with_lines(unanswered, snapshot), frontier


def _once(ask: Callable[[], str]) -> Callable[[], str]:
    """A question that is put at most once, and only if somebody needs the answer."""
    answers: list[str] = []

    def answer() -> str:
        if not answers:
            answers.append(ask())
        return answers[0]

    return answer


def dialect_of(snapshot: Snapshot, conversation: Conversation, settings: Settings) -> Dialect:
    """The dialect of a conversation: the one asked for, else what its first records show."""
    if settings.dialect is not None:
        return DIALECTS[settings.dialect]
    if conversation.layout == "rows":
        return DIALECTS[Jarvis.name]  # rows are read as lines of this form
    companion = conversation.metadata is not None or any(part.file.number is not None for part in snapshot.parts)
    found_dialect = detect(list(sample(snapshot)), layout=conversation.layout, companions=companion)
    if found_dialect is None:
        raise UnknownDialectError(
            "its records are of no form that is known; --dialect says how to read it",
            conversation=conversation.id,
        )
    return found_dialect


def sample(snapshot: Snapshot) -> Iterator[Mapping[str, Any]]:
    """The first whole objects of a conversation."""
    number = 0
    for looked_at, record in enumerate(snapshot.records()):
        value = strict(record.raw)
        if isinstance(value, dict):
            number += 1
            yield value
        if number == SAMPLE or looked_at == LOOKED_AT:
            return


def companions(
    conversation: Conversation,
    metadata: Mapping[str, Any] | None,
    fault: str,
    settings: Settings,
    around: Surroundings,
    verdict: Verdict,
    hard: Callable[[], str],
) -> Iterator[Finding]:
    """What the metadata of a JARVIS conversation says wrongly, or that it is missing."""
    if conversation.metadata is None:
        if around.metadata and conversation.live is not None and verdict.dialect == Jarvis.name:
            yield found(
                "meta-missing",
                Position(conversation.live.file),
                "it has no metadata file, although the others here have one",
            )
        return
    at = conversation.metadata.position()
    if fault and (verdict.dialect == Jarvis.name or metadata is None):
        yield found("meta-invalid", at, fault)  # other agents' metadata needs no id of ours
    if metadata is None or metadata.get("state") != "running":
        return
    started = (
        milliseconds(metadata.get("turn_started_at")) or milliseconds(metadata.get("updated_at")) or verdict.last_time
    )
    young = started is not None and settings.now - started < settings.turn_timeout and not settings.assume_idle
    if not young and not hard():
        yield found("stale-running", at, "it says that a turn is running, and nothing runs")


def with_lines(findings: Sequence[Finding], snapshot: Snapshot) -> list[Finding]:
    """Findings of a backward reading with their lines counted, once a file, which costs only where there are any."""
    wanted: dict[str, set[int]] = {}
    for finding in findings:
        at = finding.position
        if at.line is None and at.offset is not None:
            wanted.setdefault(at.file, set()).add(at.offset)
    lines = {(file, offset): line for file in wanted for offset, line in snapshot.lines_at(file, wanted[file])}
    return [in_line(finding, lines) for finding in findings]


def in_line(finding: Finding, lines: Mapping[tuple[str, int], int]) -> Finding:
    """A finding with the line that its offset stands for."""
    at = finding.position
    line = lines.get((at.file, at.offset)) if at.line is None and at.offset is not None else None
    return (
        finding if line is None else msgspec.structs.replace(finding, position=msgspec.structs.replace(at, line=line))
    )
