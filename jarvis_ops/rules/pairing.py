"""Calls and their results, in one pass that holds only what is open.

Messages come in replay order. A call must be answered before the next answer begins; results stand
directly behind their calls. What does not fit is kept aside and joined at the end: a call that stayed open
and a stray result with its id are one displaced result, not two faults.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Collection
from typing import Any

from jarvis_ops.model.finding import Finding, Severity
from jarvis_ops.model.message import Message, ToolCall, ToolResult
from jarvis_ops.model.record import Position, Record
from jarvis_ops.rules.findings import found

UNUSABLE = frozenset({"", "unknown"})


class Call:
    """A call that waits for its result; `split` when a compaction has come between."""

    __slots__ = ("at", "compacted", "id", "order", "server", "split")

    def __init__(self, call_id: str, at: Position, order: int, *, server: bool, compacted: bool) -> None:
        self.id = call_id
        self.at = at
        self.order = order
        self.server = server
        self.compacted = compacted
        self.split = False


class Stray:
    """A result that found no open call."""

    __slots__ = ("at", "compacted", "id", "order")

    def __init__(self, call_id: str, at: Position, order: int, *, compacted: bool) -> None:
        self.id = call_id
        self.at = at
        self.order = order
        self.compacted = compacted


class Pairing:
    """The pairing machine. `feed` it the messages of one replay, then `finish` it; `findings` is the verdict.

    `good_id` and `unique_id` are the dialect's. `repeats` are hashes of call ids known to stand more than
    once; without them the machine only collects hashes (`ids`), 8 bytes a call. While `compacted` is set the
    messages are out of the replay, and their faults are infos.
    """

    def __init__(
        self, good_id: Callable[[str], bool], unique_id: Callable[[str], bool], repeats: Collection[int] = frozenset()
    ) -> None:
        self.findings: list[Finding] = []
        self.ids = array("q")
        self.good_id = good_id
        self.unique_id = unique_id
        self.repeats = repeats
        self.first_calls: dict[str, Position] = {}
        self.open: dict[str, Call] = {}
        self.nameless: deque[Position] = deque()
        self.done: dict[str, Position] = {}
        self.group: str | None = None
        self.between: Position | None = None
        self.unanswered: list[Call] = []
        self.stray: list[Stray] = []
        self.boundary: Position | None = None
        self.compacted = False
        self.order = 0

    def feed(self, message: Message, record: Record) -> None:
        """Take the next message of the replay."""
        if not message.sent:
            return
        self.order += 1
        if message.role == "assistant":
            if message.group_id is None or message.group_id != self.group:
                self.close()
                self.group = message.group_id
            for call in message.calls:
                self.call(call, record.position(call.path))
        for result in message.results:
            self.result(result, record.position(result.path))
        if message.role != "assistant" and not message.results and (self.open or self.nameless):
            self.between = record.position()

    def call(self, call: ToolCall, at: Position) -> None:
        """A call of the present answer."""
        if call.fault:
            self.report(
                "bad-arguments", at, call.id, f"the arguments of call {call.id} are no JSON object: {call.fault}"
            )
        call_id = call.id
        if call_id is None or call_id.strip() in UNUSABLE:
            self.report("bad-call-id", at, call_id, f"a call whose id is {shown(call_id)}")
            self.nameless.append(at)
            return
        if not self.good_id(call_id):
            self.report("bad-call-id", at, call_id, "the call's id has characters that the provider refuses")
        earlier = self.open[call_id].at if call_id in self.open else self.done.get(call_id)
        if earlier is not None:
            self.report("duplicate-call-id", at, call_id, f"a second call {call_id} in one answer", first=earlier)
            return
        self.seen_again(call_id, at)
        self.open[call_id] = Call(call_id, at, self.order, server=call.server, compacted=self.compacted)

    def seen_again(self, call_id: str, at: Position) -> None:
        """Note a call id for the whole history; speak when an earlier answer has it too."""
        key = hash(call_id)
        self.ids.append(key)
        if key not in self.repeats:
            return
        first = self.first_calls.setdefault(call_id, at)
        if first is at:
            return
        if self.unique_id(call_id):
            detail = f"call {call_id} stands in an earlier answer too, and the provider made this id once"
            self.report("duplicate-call-id", at, call_id, detail, first=first)
        else:
            self.report(
                "id-reused-across-turns", at, call_id, f"the id {call_id} was used in an earlier answer", first=first
            )

    def result(self, result: ToolResult, at: Position) -> None:
        """A result, in whatever record it came."""
        call_id = result.id
        if call_id is None or call_id.strip() in UNUSABLE:
            if self.nameless:
                self.nameless.popleft()
            else:
                self.report("bad-call-id", at, call_id, f"a result whose call id is {shown(call_id)}")
            return
        call = self.open.pop(call_id, None)
        if call is not None:
            self.done[call_id] = at
            if call.server != result.server:
                side = "the provider" if call.server else "the agent"
                detail = f"call {call_id} is answered by {side} alone, and this result comes from the other side"
                self.report("misplaced-result", at, call_id, detail, call=call.at)
                return
            if call.split and self.boundary is not None:
                self.cut_apart(call, at, self.boundary)
            elif self.between is not None:
                self.misplaced(call_id, at, call.at, self.between)
        elif call_id in self.done:
            self.report(
                "duplicate-result", at, call_id, f"a second result for call {call_id}", first=self.done[call_id]
            )
        else:
            self.stray.append(Stray(call_id, at, self.order, compacted=self.compacted))

    def misplaced(self, call_id: str, at: Position, call: Position, between: Position | None = None) -> None:
        """Report a result that is there, but not directly after its call."""
        where = f"; {spot(between)} stands between" if between is not None and spot(between) else ""
        detail = f"the result of call {call_id} does not follow its call{in_place(call)}{where}"
        self.report("misplaced-result", at, call_id, detail, call=call)

    def cut_apart(self, call: Call, at: Position, boundary: Position) -> None:
        """Report a pair whose call is compacted and whose result, at `at`, is not."""
        detail = f"the compaction has call {call.id} on one side and its result on the other"
        self.report("pair-split", boundary, call.id, detail, first=call.at, result=at)

    def close(self) -> None:
        """The answer is over: what is still open stays unanswered."""
        if self.open:
            self.unanswered.extend(self.open.values())
            self.open.clear()
        self.done.clear()
        self.nameless.clear()
        self.between = None

    def split(self, boundary: Position) -> None:
        """All messages up to here are compacted: what is open now is cut off from its result by `boundary`."""
        self.boundary = boundary
        self.compacted = False
        for call in self.open.values():
            call.split = True

    def finish(
        self, frontier: str, *, calls_known: bool = True, results_known: bool = True, earlier: Collection[int] = ()
    ) -> None:
        """The replay is over.

        `frontier` is the sign that the last turn is still running ("" when nothing runs: what is open is
        damage). Where a part of the record cannot be read, a call or a result may lie in it: then
        `calls_known` or `results_known` is False, and none is called missing. `earlier` are hashes of call
        ids that a compaction has taken out of this replay.
        """
        last = set(self.open)
        self.unanswered.extend(self.open.values())
        strays: dict[str, list[Stray]] = {}
        for stray in self.stray:
            strays.setdefault(stray.id, []).append(stray)
        for call in self.unanswered:
            self.compacted = call.compacted
            mine = strays.get(call.id)
            if mine:
                # The nearest result behind the call, else the nearest before it.
                place = bisect_left(mine, call.order, key=lambda stray: stray.order)
                match = mine.pop(min(place, len(mine) - 1))
                if call.compacted and not match.compacted and self.boundary is not None:
                    self.compacted = False
                    self.cut_apart(call, match.at, self.boundary)
                else:
                    self.misplaced(call.id, match.at, call.at)
            elif frontier and call.id in last:
                self.report("open-call", call.at, call.id, f"call {call.id} has no result yet: {frontier}")
            elif results_known:
                detail = f"call {call.id} has no result, and the next message would be refused"
                self.report("unanswered-call", call.at, call.id, detail)
        left = [stray for group in strays.values() for stray in group]
        answered = {hash(stray.id) for stray in left}.intersection(self.ids)
        for stray in left:
            self.compacted = stray.compacted
            self.judge_stray(stray, calls_known=calls_known, answered=answered, earlier=earlier)

    def judge_stray(
        self, stray: Stray, *, calls_known: bool, answered: Collection[int], earlier: Collection[int]
    ) -> None:
        """A result for which no call of this replay waited."""
        key = hash(stray.id)
        if key in earlier:
            detail = f"the call of result {stray.id} lies before the compaction, the result behind it"
            self.report("pair-split", stray.at, stray.id, detail)
        elif key in answered:
            self.report("duplicate-result", stray.at, stray.id, f"call {stray.id} was answered long before this result")
        elif calls_known:
            self.report("orphan-result", stray.at, stray.id, f"no call {stray.id} is anywhere in the record")

    def report(self, rule: str, at: Position, call_id: str | None, detail: str, **places: Position) -> None:
        """Add a finding; each further place becomes facts (`call_line`, `call_file`, `call_offset`, …)."""
        facts: dict[str, Any] = {}
        for name, place in places.items():
            told = {what: getattr(place, what) for what in ("line", "file", "offset", "table", "key")}
            facts.update((f"{name}_{what}", value) for what, value in told.items() if value is not None)
        severity: Severity | None = "info" if self.compacted else None
        self.findings.append(found(rule, at, detail, severity=severity, call_id=call_id, facts=facts))


def shown(call_id: str | None) -> str:
    """An unusable id as a sentence names it."""
    return "missing" if call_id is None else "empty" if not call_id.strip() else f'"{call_id}"'


def spot(position: Position) -> str:
    """The words for a line or a row; "" where lines were not counted."""
    if position.table is not None:
        return f"row {position.key}"
    return f"line {position.line}" if position.line else ""


def in_place(position: Position) -> str:
    """The words that say in which line or row something stands, where that is known."""
    return f" in {spot(position)}" if spot(position) else ""
