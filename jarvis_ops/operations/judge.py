"""The exact verdict on one conversation: detect its dialect, read it, judge it, say what its companions lack."""

from __future__ import annotations


from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from jarvis_ops.dialects.base import Dialect
from jarvis_ops.dialects.jarvis import Jarvis
from jarvis_ops.dialects.registry import DIALECTS, SAMPLE, detect
from jarvis_ops.errors import UnknownDialectError
from jarvis_ops.model.conversation import Conversation
from jarvis_ops.model.finding import Finding
from jarvis_ops.model.record import Position, Record
from jarvis_ops.model.settings import Settings
from jarvis_ops.operations.branching import Branching, duplicates
from jarvis_ops.operations.linear import Known, Linear
from jarvis_ops.operations.reading import Reading
from jarvis_ops.operations.running import hard_sign, sign_of_life
from jarvis_ops.operations.sealed import judge_segments
from jarvis_ops.operations.surroundings import Surroundings, read_metadata
from jarvis_ops.operations.tail import tail
from jarvis_ops.rules.damage import strict
from jarvis_ops.rules.verdict import found
from jarvis_ops.stores.base import OpenPart, Snapshot, Store

# A conversation whose passes do not agree after so many is read as the last one saw it.
PASSES = 4
# How many lines are looked at for the dialect, whole or not.
LOOKED_AT = 200


class Verdict(msgspec.Struct, kw_only=True):
    """What is known of a conversation after judging it; `talk` counts user and assistant records.

    `cwds` are the working directories that its records name, `branch_of` the conversation that its metadata says it
    was copied from. `growing` says that a writer was in the middle of the last line.
    """

    dialect: str
    findings: list[Finding] = []
    records: int = 0
    bytes: int = 0
    last_time: int | None = None
    talk: int = 0
    cwds: list[str] = []
    prompts: bool = False
    branch_of: str | None = None
    growing: bool = False


def judge(store: Store, conversation: Conversation, snapshot: Snapshot, settings: Settings, around: Surroundings) -> Verdict:
    """Judge a conversation that is held open. UnknownDialectError if its records are of no known form."""
    dialect = dialect_of(snapshot, conversation, settings)
    metadata, fault = read_metadata(store, conversation)
    hard = _once(lambda: hard_sign(store, conversation, snapshot, around))
    if dialect.tree:
        verdict = judge_tree(conversation, snapshot, dialect, settings, hard)
    else:
        verdict = judge_linear(conversation, snapshot, dialect, settings, metadata, hard)
    verdict.findings += companions(conversation, metadata, fault, settings, around, verdict, hard)
    if metadata is not None and isinstance(metadata.get("parent_id"), str):
        verdict.branch_of = metadata["parent_id"]
    order = {part.file.file: number for number, part in enumerate(snapshot.parts)}
    verdict.findings.sort(key=lambda finding: (order.get(finding.position.file, -1), finding.position.line or 0, finding.position.offset or 0))
    if settings.scope == "last-turn":
        verdict.findings = [with_line(finding, snapshot) for finding in verdict.findings]
    return verdict


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
    companion = conversation.metadata is not None or any(part.file.number is not None for part in snapshot.parts)
    found_dialect = detect(list(sample(snapshot)), layout=conversation.layout, companions=companion)
    if found_dialect is None:
        raise UnknownDialectError(
            f"{conversation.id}: its records are of no form that is known; --dialect says how to read it", conversation=conversation.id
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


def reads_segments(snapshot: Snapshot, settings: Settings, *, markers: bool) -> bool:
    """Whether the agent that owns a conversation reads segments and compactions: Pippa does, JARVIS does not."""
    if settings.profile is not None:
        return settings.profile == "pippa"
    return markers or any(part.file.number is not None for part in snapshot.parts)


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
        linear = Linear(Reading(snapshot, dialect, settings.limits, records), dialect, known, compacts=compacts)
        linear.run()
        learned = linear.learned()
        if settings.scope == "full":
            learned = learned._replace(through=known.through, boundary=known.boundary)
        if learned == known:
            break
        known = learned
    compacts = reads_segments(snapshot, settings, markers=bool(linear.compactions or linear.sealed))
    open_calls = bool(linear.pairing.open)
    waiting = open_calls or linear.turns.accepted is not None or (linear.turns.last is not None and linear.turns.last.typed)
    frontier = sign_of_life(
        conversation, metadata, linear.turns, settings, open_calls=open_calls, hard=hard() if waiting else ""
    )
    segments = [] if partial else list(judge_segments(snapshot, conversation, linear, settings, pippa=compacts))
    gap = any(finding.rule == "segment-gap" for finding in segments)
    linear.finish(frontier, whole=not gap and not partial)
    return Verdict(
        dialect=dialect.name,
        findings=linear.findings + segments,
        records=linear.records,
        bytes=linear.reading.size,
        last_time=linear.last_time,
        talk=linear.records,
        growing=linear.reading.growing,
    )


def judge_tree(
    conversation: Conversation, snapshot: Snapshot, dialect: Dialect, settings: Settings, hard: Callable[[], str]
) -> Verdict:
    """Read a conversation whose records name their parents, and judge the way back from its leaf."""
    partial = settings.scope == "last-turn"

    def reading(records: Iterable[Record] | None = None) -> Reading:
        return Reading(snapshot, dialect, settings.limits, iter(records) if records is not None else None)

    side = conversation.parent is not None or "/agent-" in f"/{conversation.id}"
    tree = Branching(
        reading(tail(snapshot, dialect) if partial else None), dialect, own=conversation.session_id, side=side, partial=partial
    )
    tree.run()
    repeated = [] if partial else duplicates(reading, dialect, tree.tree)
    chain = tree.build()
    open_calls = tree.open_calls(chain)
    waiting = open_calls or (tree.turns.last is not None and tree.turns.last.typed)
    frontier = sign_of_life(conversation, None, tree.turns, settings, open_calls=open_calls, hard=hard() if waiting else "")
    tree.finish(chain, frontier, full=settings.scope == "full")
    missing = [finding for path, finding in tree.attachments if not kept(conversation, path)]
    return Verdict(
        dialect=dialect.name,
        findings=tree.findings + repeated + missing,
        records=tree.records,
        bytes=tree.reading.size,
        last_time=tree.last_time,
        talk=tree.talk,
        cwds=sorted(tree.cwds),
        prompts=tree.prompts,
        growing=tree.reading.growing,
    )


def kept(conversation: Conversation, path: str) -> bool:
    """Whether a saved output is there: its path counts from the session's own folder, wherever that now lies."""
    name = path.replace("\\", "/").rpartition("tool-results/")[2]
    wanted = f"tool-results/{name}"
    return any(file.file.endswith(wanted) for file in conversation.side_files)


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
            yield found("meta-missing", Position(conversation.live.file), "it has no metadata file, although the others here have one")
        return
    at = Position(conversation.metadata.file)
    if fault and (verdict.dialect == Jarvis.name or metadata is None):
        yield found("meta-invalid", at, fault)  # other agents' metadata needs no id of ours
    if metadata is None or metadata.get("state") != "running":
        return
    started = _time(metadata, "turn_started_at") or _time(metadata, "updated_at") or verdict.last_time
    young = started is not None and settings.now - started < settings.turn_timeout and not settings.assume_idle
    if not young and not hard():
        yield found("stale-running", at, "it says that a turn is running, and nothing runs")


def _time(metadata: Mapping[str, Any], key: str) -> int | None:
    from jarvis_ops.dialects.blocks import milliseconds  # noqa: PLC0415 - only damaged metadata needs it

    return milliseconds(metadata.get(key))


def with_line(finding: Finding, snapshot: Snapshot) -> Finding:
    """A finding of a backward reading with its line counted, which costs only where there is a finding."""
    at = finding.position
    if at.line is not None or at.offset is None:
        return finding
    return msgspec.structs.replace(finding, position=msgspec.structs.replace(at, line=snapshot.line_at(at.file, at.offset)))
