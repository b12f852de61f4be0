"""Healing a conversation whose records are rows: how it is judged, and what its order allows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from jarvis_ops.errors import RefusedError
from jarvis_ops.model.conversation import Conversation
from jarvis_ops.model.finding import Finding
from jarvis_ops.model.plan import Refusal, Repair
from jarvis_ops.model.record import Row
from jarvis_ops.model.settings import Settings
from jarvis_ops.model.verdict import Verdict
from jarvis_ops.operations.judge import companions
from jarvis_ops.operations.pages import SnapshotPages
from jarvis_ops.operations.rows import judge_rows
from jarvis_ops.operations.surroundings import Surroundings, read_metadata
from jarvis_ops.plans.base import Planner
from jarvis_ops.plans.lines import Change, Line, Lines, changed
from jarvis_ops.plans.splice import value_span
from jarvis_ops.plans.steps import Words
from jarvis_ops.stores.base import Snapshot, Store
from jarvis_ops.stores.postgres.changes import HOW_TO_ORDER
from jarvis_ops.stores.postgres.held import HeldRows, milliseconds_in, tied_anew

TIE = "order-tie"
# What only a column of numbers, made for the whole table, can mend.
OF_THE_ORDER = (TIE, "seq-null", "order-conflict", "mixed-units")


def held_rows(view: Snapshot) -> HeldRows:
    """A view of a conversation of rows."""
    if not isinstance(view, HeldRows):
        raise TypeError("a conversation of rows is needed")
    return view


class RowHealing:
    """What is different about healing where records are rows. `spread` says that times may be moved apart."""

    def __init__(self, store: Store, settings: Settings, around: Surroundings, *, spread: bool) -> None:
        self._store = store
        self._settings = settings
        self._around = around
        self._spread = spread

    def judged(self, conversation: Conversation, view: Snapshot) -> Verdict:
        """The verdict on a view of a conversation."""
        metadata, fault = read_metadata(self._store, conversation)
        verdict = judge_rows(held_rows(view), self._settings, metadata)
        if metadata is not None and isinstance(metadata.get("parent_id"), str):
            verdict.branch_of = metadata["parent_id"]
        verdict.findings += companions(conversation, metadata, fault, self._settings, self._around, verdict, lambda: "")
        verdict.findings.sort(key=lambda one: one.position.line or 0)
        return verdict

    def planner(self, planner: Planner, view: Snapshot) -> Planner:
        """A planner whose repairs the order of a view allows."""
        return RowPlanner(planner, held_rows(view), spread=self._spread)

    def remarks(self, before: Snapshot, after: Snapshot, left: Sequence[Finding]) -> list[str]:
        """What is said of faults that are `left`, and are none of a conversation alone.

        RefusedError if a row would be put where nothing keeps it.
        """
        if tied_anew(held_rows(before), held_rows(after)):
            raise RefusedError(HOW_TO_ORDER)
        rules = {one.rule for one in left}
        asked = {TIE} if self._spread else set[str]()
        return [
            f"{rule}: this is about the order of the table as a whole; migrate-seq sees to it"
            for rule in OF_THE_ORDER
            if rule in rules - asked
        ]


class RowPlanner:
    """Repairs of a view that its order allows; `spread` says that times may be moved apart by a millisecond."""

    def __init__(self, planner: Planner, view: HeldRows, *, spread: bool) -> None:
        self._planner = planner
        self._view = view
        self._spread = spread

    def repair(self, finding: Finding) -> Repair | Refusal | None:
        """How to mend a finding."""
        if finding.rule == TIE:
            return self._apart(finding)
        answer = self._planner.repair(finding)
        ordered = self._view.shape.has_seq or self._spread
        if isinstance(answer, Repair) and (answer.adds or answer.moves) and not ordered:
            return Refusal(finding, HOW_TO_ORDER)
        return answer

    def _apart(self, finding: Finding) -> Repair | Refusal | None:
        """Rows of one time, moved apart in the order in which they pair."""
        if self._view.shape.has_seq:
            return Refusal(finding, "rows have numbers here, and some share one; migrate-seq sees to it")
        words = Words(finding)
        lines = Lines(SnapshotPages(self._view), self._view.dialect)
        changes: list[Change] = []
        groups = [list(group) for _, group in groupby(self._view.rows, key=lambda row: row.time)]
        for group, following in zip(groups, [*groups[1:], None], strict=True):
            if len(group) > 1 and not self._has_room(group, following[0] if following is not None else None):
                return Refusal(finding, "there is no millisecond left between rows of one time and the next row")
            changes += self._spread_out(group, lines)
        steps = (
            words.step("replace", one.line.at("timestamp"), "its time goes behind that of the row before", new=one.new)
            for one in changes
        )
        return words.repair(*steps, edits=changed(changes))

    def _has_room(self, group: Sequence[Row], following: Row | None) -> bool:
        """Whether so many milliseconds fit in before the next row."""
        time = group[0].time
        unit = milliseconds_in(self._view.shape, time)
        if unit is None or not isinstance(time, int):
            return False
        last = time + (len(group) - 1) * unit
        return following is None or (isinstance(following.time, int) and last < following.time)

    def _spread_out(self, group: Sequence[Row], lines: Lines) -> Iterator[Change]:
        """Give each row of a group but the first a time of its own."""
        read = [line for line in (lines.read(row) for row in group) if line is not None]
        first = timestamp(read[0])
        for number, line in enumerate(read[1:], start=1):
            yield Change(line, *value_span(line.raw, "timestamp"), b"%d" % (first + number))


def timestamp(line: Line) -> int:
    """The time that a line tells, in milliseconds."""
    return int(line.value["timestamp"])
