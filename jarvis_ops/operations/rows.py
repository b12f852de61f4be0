"""Judging the conversations of a database: those in which nothing is odd in one go, the others one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from jarvis_ops.errors import OpsError, StoreError
from jarvis_ops.model.conversation import Conversation, Inventory
from jarvis_ops.model.finding import Finding
from jarvis_ops.model.record import Row
from jarvis_ops.model.report import Outcome, Problem
from jarvis_ops.model.settings import Settings
from jarvis_ops.model.verdict import Verdict
from jarvis_ops.operations.branch import settle_branch
from jarvis_ops.operations.exact import PASSES
from jarvis_ops.operations.judge import companions, last_turn
from jarvis_ops.operations.linear import Known
from jarvis_ops.operations.rowscreen import Glance, RowScreen
from jarvis_ops.operations.rowwise import RowLinear, RowReading
from jarvis_ops.operations.running import sign_of_life
from jarvis_ops.operations.surroundings import Surroundings
from jarvis_ops.operations.tail import tail
from jarvis_ops.operations.verify import fault_of, finished
from jarvis_ops.rules.findings import found
from jarvis_ops.rules.schema import Numbering, judge_schema
from jarvis_ops.stores.base import Store
from jarvis_ops.stores.postgres.lines import Lines
from jarvis_ops.stores.postgres.reader import RowsSnapshot
from jarvis_ops.stores.postgres.store import PostgresStore


def verify_rows(
    store: Store,
    inventory: Inventory,
    chosen: Sequence[Conversation],
    settings: Settings,
    *,
    whole: bool,
    advance: Callable[[int], None],
) -> Iterator[Outcome]:
    """One outcome a conversation, in the order of `chosen`; then the store's own, if it has any.

    `whole` says that everything in the store was chosen. `advance` is told the rows that were read. StoreError if the
    database fails.
    """
    if not isinstance(store, PostgresStore):
        raise TypeError("a store of rows is needed")
    judge = RowJudge(store, inventory, settings)
    sorted_by_id = sorted(chosen, key=lambda one: one.id)
    outcomes = judge.outcomes(sorted_by_id, everything=whole)
    if [one.id for one in chosen] != [one.id for one in sorted_by_id]:
        # They come by id, and are wanted in another order.
        by_id = {one.conversation: one for one in outcomes}
        outcomes = (by_id[one.id] for one in chosen)
    for outcome in outcomes:
        advance(outcome.records)
        yield finished(outcome, settings, named=not whole)
    findings = list(judge_schema(judge.numbering(), whole=whole))
    outcome = finished(Outcome(conversation=None, status="clean", findings=findings), settings, named=False)
    if outcome.findings or outcome.accepted:
        yield outcome


class RowJudge:
    """Judges conversations, and gathers what the store as a whole shows."""

    def __init__(self, store: PostgresStore, inventory: Inventory, settings: Settings) -> None:
        self.store = store
        self.settings = settings
        self.by_id = {one.id: one for one in inventory.conversations}
        self.running = store.running()
        self.around = Surroundings(metadata=False)
        self.screen = RowScreen(Lines(store.shape))
        self.ties = 0
        self.tied: str | None = None
        self.units: Counter[str] = Counter()
        self.highest: int | None = None

    def outcomes(self, chosen: Sequence[Conversation], *, everything: bool) -> Iterator[Outcome]:
        """One outcome for each of the conversations, which come in the order of their ids."""
        glances = self.glances(None if everything else [one.id for one in chosen])
        ahead = next(glances, None)
        for conversation in chosen:
            if ahead is not None and ahead.session == conversation.id:
                yield self.outcome(conversation, ahead)
                ahead = next(glances, None)
            else:
                yield self.outcome(conversation, Glance(conversation.id, 0, clean=True))
        if ahead is not None:
            # Else conversations would count as empty, and so as clean, that were never looked at.
            raise StoreError(f"{self.store.name}: its conversations did not come in the order of their ids")

    def glances(self, sessions: Sequence[str] | None) -> Iterator[Glance]:
        """What the fast way says of each conversation; nothing of any where rows must be read one by one."""
        if self.settings.scope == "last-turn" or not self.store.shape.screens:
            return iter(Glance(name, 0, clean=False) for name in (sorted(self.by_id) if sessions is None else sessions))
        return self.screen.run(self.store.batches(sessions))

    def outcome(self, conversation: Conversation, glance: Glance) -> Outcome:
        """The outcome of one conversation. Only a failure of the database is an exception."""
        outcome = Outcome(conversation=conversation.id, status="clean", session_id=conversation.session_id)
        try:
            verdict = self.at_a_glance(conversation, glance) if glance.clean else self.exactly(conversation)
            outcome.findings = verdict.findings
            if verdict.branch_of is not None and verdict.findings:
                settle_branch(self.store, self.by_id, verdict, outcome, self.settings)
        except OpsError:
            raise
        except Exception as error:  # noqa: BLE001 - one conversation must not keep the others from being judged
            outcome.errors = [Problem("unexpected", fault_of(error), conversation.id)]
            outcome.status = "failed"
            return outcome
        outcome.dialect, outcome.records = verdict.dialect, verdict.records
        return outcome

    def at_a_glance(self, conversation: Conversation, glance: Glance) -> Verdict:
        """The verdict on a conversation in whose rows nothing is odd."""
        verdict = Verdict(dialect=self.store.dialect.name, records=glance.records)
        if glance.first is not None:
            self.units[self.store.unit(glance.first)] += 1
            self.number(glance.highest)
        metadata = self.running.get(conversation.id)
        if glance.prompt:
            snapshot = self.store.snapshot(conversation, whole=False)
            verdict.findings, verdict.sign = last_turn(
                snapshot, self.store.dialect, self.settings, metadata, lambda: ""
            )
        verdict.findings += self.beside(conversation, metadata, verdict)
        return verdict

    def exactly(self, conversation: Conversation) -> Verdict:
        """The verdict on any conversation."""
        metadata = self.store.metadata(conversation.id)
        snapshot = self.store.snapshot(conversation, whole=False)
        verdict = judge_rows(snapshot, self.settings, metadata)
        order = snapshot.order
        self.units.update(unit for unit, _ in order.units.most_common(1))
        self.number(order.highest)
        if order.ties:
            self.ties += order.ties
            self.tied = self.tied or conversation.id
        if metadata is not None and isinstance(metadata.get("parent_id"), str):
            verdict.branch_of = metadata["parent_id"]
        verdict.findings += self.beside(conversation, metadata, verdict)
        verdict.findings.sort(key=lambda one: one.position.line or 0)
        return verdict

    def number(self, highest: int | None) -> None:
        """Remember the highest number in use."""
        if highest is not None and (self.highest is None or highest > self.highest):
            self.highest = highest

    def beside(
        self, conversation: Conversation, metadata: Mapping[str, Any] | None, verdict: Verdict
    ) -> Iterator[Finding]:
        """What the row of a conversation says wrongly, or that there is none."""
        yield from companions(conversation, metadata, "", self.settings, self.around, verdict, lambda: "")
        if conversation.id in self.store.orphans:
            first = next(self.store.snapshot(conversation, whole=False).fetched(), None)
            if isinstance(first, Row):
                detail = f"conversation {conversation.id} is not in {self.store.shape.profile.sessions}"
                facts = {"rows": verdict.records}
                yield found("orphan-row", first.position(), detail, record_id=first.key, facts=facts)

    def numbering(self) -> Numbering:
        """What the store as a whole shows about its order."""
        shape = self.store.shape
        sequence = shape.sequence
        return Numbering(
            table=shape.entries.name,
            has_seq=shape.has_seq,
            ties=self.ties,
            tied=self.tied,
            units=dict(self.units),
            sequence=sequence.name if sequence is not None else None,
            owned=sequence is None or sequence.owned,
            last=sequence.last if sequence is not None else None,
            highest=self.store.highest() if sequence and self.settings.scope == "last-turn" else self.highest,
            invalid=self.store.invalid_indexes(),
            missing=self.store.missing_columns(),
        )


def judge_rows(snapshot: RowsSnapshot, settings: Settings, metadata: Mapping[str, Any] | None) -> Verdict:
    """Read the rows of a conversation, again for as long as a pass learns what the one before lacked."""
    partial, full = settings.scope == "last-turn", settings.scope == "full"
    known, dialect = Known(), snapshot.dialect
    for _ in range(PASSES):
        rows = (row for row in tail(snapshot, dialect) if isinstance(row, Row)) if partial else None
        reading = RowReading(snapshot.messages(rows))
        linear = RowLinear(reading, dialect, known, full=full)
        linear.run()
        learned = linear.learned()
        if learned == known:
            break
        known = learned
    open_calls = bool(linear.pairing.open)
    frontier = sign_of_life(metadata, linear.turns, settings, open_calls=open_calls, hard="")
    depends = snapshot.order.conflict is not None and not partial and depends_on_order(snapshot, linear, known)
    linear.settle(frontier, snapshot.order, partial=partial, depends=depends)
    return Verdict(
        dialect=dialect.name,
        findings=linear.findings,
        records=linear.records,
        bytes=reading.size,
        last_time=linear.last_time,
        talk=linear.records,
        sign=frontier,
    )


def depends_on_order(snapshot: RowsSnapshot, linear: RowLinear, known: Known) -> bool:
    """Whether pairs are other ones where rows are read by their numbers alone."""
    order = snapshot.order
    other = RowLinear(RowReading(snapshot.messages(snapshot.fetched("seq"))), snapshot.dialect, known, full=linear.full)
    other.run()
    snapshot.order = order
    return other.state() != linear.state()
