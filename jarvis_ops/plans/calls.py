"""Mending calls: their ids, and arguments that are no JSON object."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from jarvis_ops.model.finding import Finding
from jarvis_ops.model.plan import Repair
from jarvis_ops.plans.arguments import with_good_arguments
from jarvis_ops.plans.call import Call, given_id, new_id, places, twins, usable
from jarvis_ops.plans.lines import Change, Line, Lines, UnmendableError, changed
from jarvis_ops.plans.results import Result, renamed, results_of, taken
from jarvis_ops.plans.splice import element, without_element
from jarvis_ops.plans.steps import Words
from jarvis_ops.plans.style import style_of

# A result may stand so many records behind its call before it is taken for lost.
FAR = 200


class Calls:
    """Mends what is wrong with calls themselves."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines

    def duplicate_id(self, finding: Finding) -> Repair:
        """A second call with an id of the same answer: set aside when it is the same, else renamed with its result."""
        call = self.call_at(finding)
        same = [Call(call.line, one.path) for one in twins(call)]
        number = same.index(call) if call in same else len(same)
        if any(one.said == call.said for one in same[:number]):
            words = Words(finding, "lossy")
            changes = [Change(call.line, *without_element(call.line.raw, *element(path))) for path in places(call)]
            step = words.step("set-aside", call.line.at(call.path), "the answer holds this call already, word for word")
            return words.repair(step, edits=changed(changes))
        results = [one for line in self._lines.behind(call.line) for one in results_of(line, str(finding.call_id))]
        return self._rename(finding, call, results[number : number + 1], "its id stands on another call of this answer")

    def bad_id(self, finding: Finding) -> Repair:
        """An id that nobody can use, on a call or on a result."""
        line = self._lines.at(finding.position)
        path = finding.position.path or ""
        if any(one.path == path for one in line.message.results):
            return self._bad_result(finding, Result(line, path))
        call = self.call_at(finding)
        own = finding.call_id
        if usable(own):
            results = [one for other in self._lines.behind(line) for one in results_of(other, str(own))]
            return self._rename(finding, call, results, "the provider refuses the id of this call")
        result = self.result_of(call)
        if result is None:
            raise UnmendableError("no result belongs to this call for certain, so it gets no id by itself")
        return self._rename(finding, call, [result], "call and result belong together and get an id")

    def arguments(self, finding: Finding) -> Repair:
        """Arguments that are no JSON object: `{}` for none, else kept whole under one key."""
        return with_good_arguments(self.call_at(finding), finding)

    def call_at(self, finding: Finding) -> Call:
        """The call that a finding is about."""
        line = self._lines.at(finding.position)
        path = finding.position.path or ""
        if not any(one.path == path for one in line.message.calls):
            raise UnmendableError("the call is not where it was found")
        return Call(line, path)

    def result_of(self, call: Call) -> Result | None:
        """The result without a usable id that belongs to a call without one, where that is certain."""
        calls = [Call(call.line, one.path) for one in call.line.message.calls if not usable(one.id)]
        results = self._nameless_behind(call.line)
        if len(calls) == len(results) == 1:
            return results[0]
        for known in (spelled, named):
            mine = known(call)
            matching = [one for one in results if known(one) == mine]
            if mine is not None and len(matching) == 1 and sum(known(one) == mine for one in calls) == 1:
                return matching[0]
        return None

    def owner_of(self, result: Result) -> Call | None:
        """The one call without a result that a result without an id can belong to; None when there is none.

        UnmendableError where several could.
        """
        answer = next((one for one in self._lines.before(result.line) if one.message.role == "assistant"), None)
        if answer is None or result.line.message.role == "assistant":
            return None
        open_calls = [one for one in self._open(answer) if named(result) in {None, one.name}]
        if not open_calls:
            return None
        if len(open_calls) > 1 or len(self._nameless_behind(answer)) > 1:
            raise UnmendableError("a result without a usable id stands there, and several calls could own it")
        return open_calls[0]

    def has_nameless_result(self, call: Call) -> bool:
        """Whether a result without an id belongs to a call. UnmendableError where it could be another's as well."""
        owners = [self.owner_of(result) for result in self._nameless_behind(call.line)]
        return any(owner is not None and owner.path == call.path for owner in owners)

    def _open(self, answer: Line) -> Iterator[Call]:
        """The calls of an answer that have an id, and no result far and wide."""
        calls = [one for one in answer.message.calls if not one.server and usable(one.id)]
        answered = {
            result.id for line in itertools.islice(self._lines.after(answer), FAR) for result in line.message.results
        }
        return (Call(answer, one.path) for one in calls if one.id not in answered)

    def _bad_result(self, finding: Finding, result: Result) -> Repair:
        owner = self.owner_of(result)
        if owner is None:
            words = Words(finding, "lossy")
            why = "no open call can own this result, which has no usable id"
            step = words.step("set-aside", result.line.at(result.path), why)
            return words.repair(step, edits=(taken(result),), removes=int(result.alone))
        words = Words(finding)
        new = str(owner.value["id"])
        why = "the one call before it that has no result can own it, and gives it its id"
        step = words.step("replace", result.line.at(result.path), why, new=new.encode())
        return words.repair(step, edits=changed(renamed(result, new)))

    def _rename(self, finding: Finding, call: Call, results: Sequence[Result], why: str) -> Repair:
        words, new = Words(finding), new_id(call)
        encoded = style_of(call.line.raw).encoded(new)
        changes = [given_id(call.line, path, encoded) for path in places(call)]
        steps = [words.step("replace", call.line.at(call.path), why, new=new.encode())]
        for result in results:
            changes += renamed(result, new)
            why = "the result follows the new id of its call"
            steps.append(words.step("replace", result.line.at(result.path), why, new=new.encode()))
        return words.repair(*steps, edits=changed(changes))

    def _nameless_behind(self, answer: Line) -> list[Result]:
        return [
            Result(line, one.path)
            for line in self._lines.behind(answer)
            for one in line.message.results
            if not usable(one.id)
        ]


def spelled(one: Call | Result) -> Any:
    """An unusable id as it is written; None where there is none at all."""
    value = one.value
    return value.get("tool_use_id", value.get("tool_call_id")) if isinstance(one, Result) else value.get("id")


def named(one: Call | Result) -> Any:
    """The tool's name, None where it is not told."""
    return one.name
