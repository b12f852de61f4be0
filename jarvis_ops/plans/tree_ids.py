"""Giving calls in a tree other ids, with the results that belong to them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

from jarvis_ops.dialects.base import Dialect
from jarvis_ops.model.finding import Finding, Safety
from jarvis_ops.model.plan import Repair
from jarvis_ops.plans.lines import Change, UnmendableError
from jarvis_ops.plans.results import member
from jarvis_ops.plans.splice import value_at, value_span
from jarvis_ops.plans.style import style_of
from jarvis_ops.plans.tree_links import Links
from jarvis_ops.plans.tree_pairs import told, unusable
from jarvis_ops.plans.tree_rework import Rework, set_aside
from jarvis_ops.plans.tree_twice import Twice
from jarvis_ops.rules.tree import ASSISTANT, NONE, SENT


class Block(NamedTuple):
    """A call or a result: the number of its record, and the path in it."""

    number: int
    path: str


class Ids:
    """Mends ids that stand twice and ids that nobody can use. `signed` is the offset of the last signed thinking."""

    def __init__(self, links: Links, dialect: Dialect, twice: Twice) -> None:
        self._links = links
        self._good = dialect.good_id
        self._twice = twice

    def duplicate(self, finding: Finding, signed: int) -> Repair:
        """One id on two calls: a second call that is the same goes, another gets an id of its own with its result.

        Where signed thinking stands behind it (the last of it in the line at `signed`), that must be asked for.
        """
        same = self._twice.same_call(finding)
        if same is not None:
            return same
        links = self._links
        first, call = links.at(told(finding, "first")), self._block(finding)
        one_answer = links.same_answer(first, call.number)
        results = self._of_second(first, call, finding.call_id) if one_answer else self._behind(call, finding.call_id)
        safety: Safety = "asked" if signed > links.tree.offsets[call.number] else "safe"
        where = "of this answer" if one_answer else "of an earlier answer"
        return self._rename(finding, call, results, f"its id stands on another call {where}", safety)

    def unusable(self, finding: Finding) -> Repair:
        """An id that is missing or refused, on a call or on a result."""
        block = self._block(finding)
        if any(one.path == block.path for one in self._links.line(block.number).message.results):
            return self._result(finding, block)
        own = finding.call_id
        if not unusable(own):
            results = self._behind(block, own)
            if not results:
                raise UnmendableError("the call has no result yet, and gets one before it gets another id")
            return self._rename(finding, block, results, "the provider refuses the id of this call")
        result = self._nameless_result(block)
        if result is None:
            raise UnmendableError("no result belongs to this call for certain, so it gets no id by itself")
        return self._rename(finding, block, [result], "call and result belong together and get an id")

    def _block(self, finding: Finding) -> Block:
        return Block(self._links.at(finding.position), finding.position.path or "")

    def _results_in(self, numbers: Iterable[int], call_id: str | None) -> list[Block]:
        """The results with an id; with None, those whose id says nothing."""
        return [
            Block(number, one.path)
            for number in numbers
            if number in self._links.tree.results
            for one in self._links.line(number).message.results
            if (unusable(one.id) if call_id is None else one.id == call_id)
        ]

    def _behind(self, call: Block, call_id: str | None) -> list[Block]:
        """The results of a call in its own answer, else the first one before the id stands on another call."""
        mine = self._results_in([call.number, *self._links.answer_behind(call.number)], call_id)
        if mine:
            return mine
        for number in self._links.replay_behind(call.number):
            if call_id in self._links.calls(number):
                return []
            found = self._results_in([number], call_id)
            if found:
                return found
        return []

    def _of_second(self, first: int, call: Block, call_id: str | None) -> list[Block]:
        """The results that belong to the second of two calls of one answer. UnmendableError if nobody can tell."""
        links = self._links
        results = self._results_in([first, *links.answer_behind(first)], call_id)
        names = [links.tree.ids[first], links.tree.ids[call.number]]
        told_by = [links.line(one.number).value.get("sourceToolAssistantUUID") for one in results]
        if first != call.number and results and all(name in names for name in told_by):
            return [one for one, name in zip(results, told_by, strict=True) if name == names[1]]
        at_first = [one for one in results if links.stored(one.number) == first]
        if first != call.number and len(at_first) == 1 and len(results) <= 2:
            return [one for one in results if one not in at_first]
        if len(results) == 1:
            raise UnmendableError("two calls share this id and have one result, and nobody can tell whose it is")
        return results[1:2]

    def _nameless_result(self, call: Block) -> Block | None:
        """The result without a usable id that belongs to a call without one, where that is certain."""
        links = self._links
        numbers = [call.number, *links.answer_behind(call.number)]
        results = self._results_in(numbers, None)
        anchors = {one.number for one in results}
        above = [one for one in links.tree.upward(call.number) if links.same_answer(one, call.number)]
        calls = [
            Block(number, one.path)
            for number in dict.fromkeys([*above, *numbers])
            for one in (links.line(number).message.calls if number in links.tree.calls else ())
            if unusable(one.id)
        ]
        if len(calls) == len(results) == 1:
            return results[0]
        parents = [links.stored(one.number) for one in results]
        if len(set(parents)) == len(results) == len(anchors) and set(parents) <= {one.number for one in calls}:
            mine = [one for one, parent in zip(results, parents, strict=True) if parent == call.number]
            if len(mine) == 1 and sum(one.number == call.number for one in calls) == 1:
                return mine[0]
        return None

    def _result(self, finding: Finding, result: Block) -> Repair:
        """A result without a usable id goes to the one call that lacks one, or is set aside if there is none."""
        owners = self._owners(result)
        if not owners:
            why = "no open call can own this result, which has no usable id"
            return set_aside(self._links, finding, result.number, why)
        if len(owners) > 1:
            raise UnmendableError("several calls could own this result, which has no usable id")
        rework = Rework(self._links, finding)
        why = "the one call before it that has no result can own it, and gives it its id"
        self._give(rework, result, "tool_use_id", owners[0], why)
        return rework.repair()

    def _owners(self, result: Block) -> list[str]:
        """The ids of the calls of the answer before a result that have none; all of them if other results want one."""
        links, flags = self._links, self._links.tree.flags
        above = links.tree.upward(links.tree.parents[result.number])
        answer = next((one for one in above if flags[one] & ASSISTANT and flags[one] & SENT), NONE)
        if answer == NONE:
            return []
        mine = [one for one in links.tree.upward(answer) if links.same_answer(one, answer)]
        top = mine[-1]
        numbers = [top, *links.answer_behind(top)]
        calls = {
            str(one.id): None
            for number in numbers
            if number in links.tree.calls and links.same_answer(number, answer)
            for one in links.line(number).message.calls
            if not one.server and not unusable(one.id)
        }
        answered = {name for number in links.replay_behind(top) for name in links.results(number)}
        left = [name for name in calls if name not in answered]
        if left and len(self._results_in(numbers, None)) > 1:
            raise UnmendableError("several results without a usable id could belong to this call")
        return left

    def _rename(
        self, finding: Finding, call: Block, results: Iterable[Block], why: str, safety: Safety = "safe"
    ) -> Repair:
        rework = Rework(self._links, finding, safety)
        new = self._new_id(call)
        self._give(rework, call, "id", new, why)
        for result in results:
            self._give(rework, result, "tool_use_id", new, "the result follows the new id of its call")
        return rework.repair()

    def _give(self, rework: Rework, block: Block, key: str, name: str, why: str) -> None:
        line = self._links.line(block.number)
        style = style_of(line.raw)
        encoded = style.encoded(name)
        if key in value_at(line.value, block.path):
            change = Change(line, *value_span(line.raw, f"{block.path}.{key}"), encoded)
        else:
            change = member(line, block.path, key, encoded, style)
        step = rework.words.step("replace", line.at(block.path), why, new=encoded, record_id=line.message.id)
        rework.add(step, change)

    def _new_id(self, call: Block) -> str:
        """Another id for a call, always the same for the same call."""
        old = value_at(self._links.line(call.number).value, call.path).get("id")
        seed = f"{self._links.tree.ids[call.number]}/{call.path}/{old}"
        digest = hashlib.sha256(seed.encode(errors="replace")).hexdigest()
        if isinstance(old, str) and self._good(old) and not unusable(old) and len(old) <= 48:
            return f"{old}_{digest[:12]}"
        return f"toolu_{digest[:24]}"
