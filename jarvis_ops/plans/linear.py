"""Mending calls and results where the order of the lines is the order of the conversation: JARVIS and Pippa."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from jarvis_ops.model.finding import Finding
from jarvis_ops.model.plan import Refusal, Repair
from jarvis_ops.model.record import Record
from jarvis_ops.plans.base import Ground, Pages
from jarvis_ops.plans.boundary import moved_back
from jarvis_ops.plans.calls import Calls
from jarvis_ops.plans.lines import Line, Lines, UnmendableError, put_behind, taken_out
from jarvis_ops.plans.made import made_result
from jarvis_ops.plans.results import (
    Result,
    around,
    carried,
    carried_id,
    holds_more,
    results_of,
    taken,
)
from jarvis_ops.plans.splice import value_span
from jarvis_ops.plans.steps import Words


class Linear:
    """Mends what `Pairing` and repeated records are about. What is already broken as bytes is left to others."""

    def __init__(self, pages: Pages, ground: Ground) -> None:
        self._lines = Lines(pages, ground.dialect)
        self._elsewhere = ground.elsewhere
        self._calls = Calls(self._lines)
        self._ways: dict[str, Callable[[Finding], Repair | None]] = {
            "repeated-record": self._repeated,
            "unanswered-call": self._unanswered,
            "misplaced-result": self._misplaced,
            "orphan-result": self._orphan,
            "result-of-aborted-call": self._orphan,
            "duplicate-result": self._duplicate,
            "duplicate-call-id": self._calls.duplicate_id,
            "bad-call-id": self._calls.bad_id,
            "bad-arguments": self._calls.arguments,
            "pair-split": lambda finding: moved_back(self._lines, finding),
        }

    def repair(self, finding: Finding) -> Repair | Refusal | None:
        """How to mend a finding; None for a rule that is none of these."""
        way = self._ways.get(finding.rule)
        if way is None or finding.position.offset is None:
            return None
        try:
            return way(finding)
        except UnmendableError as error:
            return Refusal(finding, error.reason)
        except (LookupError, TypeError, ValueError, RecursionError):
            # A line that one reader takes and another does not, or of a shape that nobody thought of.
            return Refusal(finding, "its line is of a form that cannot be changed safely")

    def _repeated(self, finding: Finding) -> Repair:
        line, words = self._lines.at(finding.position), Words(finding, "lossy")
        step = words.step("set-aside", line.at(), "the same record stands before, byte for byte")
        return words.repair(step, edits=(taken_out(line),), removes=1)

    def _orphan(self, finding: Finding) -> Repair:
        return self._set_aside(finding, self._result_at(finding), "its call is not there")

    def _set_aside(self, finding: Finding, result: Result, why: str) -> Repair:
        words = Words(finding, "lossy")
        step = words.step("set-aside", result.line.at(result.path), why, record_id=result.line.message.id)
        return words.repair(step, edits=(taken(result),), removes=int(result.alone))

    def _misplaced(self, finding: Finding) -> Repair:
        result, answer = self._result_at(finding), self._lines.told(finding.facts, "call")
        if answer is None:
            raise UnmendableError("its call is not where it was found")
        self._forbid_server(answer, result, finding.call_id)
        behind = self._last_result(answer)
        whole = self._moves_whole(result, answer)
        place = (result.line.record.file, result.line.span.start)
        if whole and place in {(behind.record.file, edge) for edge in behind.span[1:]}:
            raise UnmendableError("it stands behind its call already")
        moved, words = carried(result, whole=whole), Words(finding)
        step = words.step("move", result.line.at(result.path), "the result goes to its call", to=behind.at())
        edits = (put_behind(behind, *moved.pieces), moved.gone)
        return words.repair(step, edits=edits, moves=1, adds=moved.adds, removes=moved.removes, inserted=moved.inserted)

    def _moves_whole(self, result: Result, answer: Line) -> bool:
        """Whether the whole record of a result belongs to one answer and holds nothing else."""
        own = {call.id for call in answer.message.calls}
        if result.line.message.role == "assistant" or holds_more(result.line):
            return False
        return all(one.id in own for one in result.line.message.results)

    def _duplicate(self, finding: Finding) -> Repair:
        second = self._result_at(finding)
        first = self._first_of(finding, second)
        if first is None or not first.placeholder or second.placeholder:
            return self._set_aside(finding, second, "the call has a result already")
        if self._adjacent(first, second):
            return self._set_aside(finding, first, "it only says that there is no result, and there is one")
        words, gone, moved = Words(finding, "lossy"), taken(first), carried(second)
        aside = words.step("set-aside", first.line.at(first.path), "it only says that there is no result")
        move = words.step("move", second.line.at(second.path), "the real result takes its place", to=first.line.at())
        return words.repair(
            aside,
            move,
            edits=(gone._replace(pieces=(*gone.pieces, *moved.pieces)), moved.gone),
            removes=int(first.alone) + moved.removes,
            moves=1,
            adds=moved.adds,
            inserted=moved.inserted,
        )

    def _first_of(self, finding: Finding, second: Result) -> Result | None:
        """The result that a call has beside `second`."""
        call_id = str(finding.call_id)
        told = self._lines.told(finding.facts, "first")
        if told is not None:
            near: Iterator[Line] = iter([told])
        else:
            answer = self._answer_of(second.line, call_id)
            near = self._lines.behind(answer) if answer is not None else iter(())
        found = (one for line in near for one in results_of(line, call_id))
        return next((one for one in found if (one.line.span, one.path) != (second.line.span, second.path)), None)

    def _answer_of(self, line: Line, call_id: str) -> Line | None:
        """The answer with a call, nearest before a line; else the nearest behind it."""
        for lines in (self._lines.before(line), self._lines.after(line)):
            for other in lines:
                if any(call.id == call_id for call in other.message.calls):
                    return other
        return None

    def _adjacent(self, first: Result, second: Result) -> bool:
        """Whether nothing that is sent stands between two results but other results."""
        if first.line.span == second.line.span:
            return True
        for line in self._lines.after(first.line):
            if line.span == second.line.span:
                return True
            if line.message.sent and not line.message.results:
                return False
        return False

    def _unanswered(self, finding: Finding) -> Repair | None:
        call = self._calls.call_at(finding)
        self._forbid_server(call.line, None, finding.call_id)
        if self._calls.has_nameless_result(call):
            return None  # the result gets its id by another repair
        behind, words = self._last_result(call.line), Words(finding)
        real = self._elsewhere.get(str(finding.call_id))
        found = self._from_elsewhere(real, str(finding.call_id)) if real is not None else None
        if found is not None:
            raw, name = found
            why = "the result stands in the other record of this conversation, and is put in from there"
        else:
            raw, name = made_result(self._lines, call.line, call.path, behind.raw)
            why = "no result was recorded; one that says so is put in, so that the conversation can go on"
        step = words.step("insert", behind.at(), why, new=raw, record_id=name)
        return words.repair(
            step, edits=(put_behind(behind, raw),), adds=1, inserted=(name,) if name is not None else ()
        )

    def _from_elsewhere(self, raw: bytes, call_id: str) -> tuple[bytes, str | None] | None:
        """The line with a result, taken from a record of another store, and its id."""
        line = self._lines.read(Record("", None, 0, raw))
        result = next(iter(results_of(line, call_id)), None) if line is not None else None
        if line is None or result is None:
            return None
        if result.movable:
            return raw if raw.endswith(b"\n") else raw + b"\n", line.message.id
        head, tail = around(result)
        start, end = value_span(raw, result.path)
        return head + raw[start:end] + tail, carried_id(result) if "id" in line.value else None

    def _last_result(self, answer: Line) -> Line:
        """The record behind which a result of this answer belongs: its last result, else the answer itself."""
        own = {call.id for call in answer.message.calls}
        last = answer
        for line in self._lines.behind(answer):
            if not line.message.results:
                break
            if any(one.id in own for one in line.message.results):
                if holds_more(line):
                    break  # results come first, then what the user says
                last = line
        return last

    def _forbid_server(self, answer: Line, result: Result | None, call_id: str | None) -> None:
        """UnmendableError for what only the provider can answer."""
        calls = [one.server for one in answer.message.calls if one.id == call_id]
        results = [one.server for one in result.line.message.results if one.path == result.path] if result else []
        if any((*calls, *results)):
            raise UnmendableError("the provider itself answers this call, within its own answer, and nobody else can")

    def _result_at(self, finding: Finding) -> Result:
        line, path = self._lines.at(finding.position), finding.position.path or ""
        if not any(one.path == path for one in line.message.results):
            raise UnmendableError("the result is not where it was found")
        return Result(line, path)
