"""Bringing calls and results together in a tree: there the parents are the order, so records move by relinking."""

from __future__ import annotations

from collections.abc import Callable

from jarvis_ops.model.finding import Finding
from jarvis_ops.model.plan import Repair
from jarvis_ops.model.record import Position
from jarvis_ops.plans.base import Ground
from jarvis_ops.plans.claude_result import Made, Place, made_result, result_from_elsewhere
from jarvis_ops.plans.lines import UnmendableError
from jarvis_ops.plans.splice import element
from jarvis_ops.plans.tree_links import Answer, Links
from jarvis_ops.plans.tree_rework import Rework, set_aside
from jarvis_ops.rules.pairing import UNUSABLE
from jarvis_ops.rules.tree import MESSAGE, NONE

UNFINISHED = "the provider never answered this call of its own tool, and nobody else can"
KEPT = "a compaction keeps this stretch as it is, so nothing in it can change its place"


class Pairs:
    """Mends calls without results, results in the wrong place, and pairs that a compaction has split."""

    def __init__(self, links: Links, ground: Ground) -> None:
        self._links = links
        self._elsewhere = ground.elsewhere

    def unanswered(self, finding: Finding) -> Repair | None:
        """A call without a result: its result from another branch or another store, else one that says so."""
        links = self._links
        call = links.at(finding.position)
        line, path = links.line(call), finding.position.path or ""
        if any(one.server for one in line.message.calls if one.path == path):
            return self._server_call(finding)
        if any(unusable(name) for later in links.answer_behind(call) for name in links.results(later)):
            return None  # that result gets its id by another repair
        stray = self._on_another_branch(call, finding.call_id)
        if stray is not None:
            return self._brought_here(finding, call, stray)
        rework = Rework(links, finding)
        self._put_in(rework, call, path, lambda place: self._result(place, finding.call_id))
        return rework.repair()

    def _put_in(self, rework: Rework, call: int, path: str, make: Callable[[Place], tuple[Made, str]]) -> None:
        """Put a record with the result of a call in behind the other results of its answer."""
        links = self._links
        answer = links.answer(call)
        parent, child = self._seat(answer, call)
        behind = answer.last if answer.last != NONE else call
        newest, times = links.newest, links.tree.times
        ends = parent == behind == newest
        place = Place(
            call=links.line(call),
            path=path,
            behind=links.line(behind),
            parent=links.tree.ids[parent],
            taken=links.tree.index,
            since=times[behind] if ends else None,
            before=times[newest] if newest is not None and not ends else None,
        )
        made, why = make(place)
        rework.put(behind, made.raw, made.id, why)
        left = links.left_branches(parent) if parent == answer.last else ()
        for follower in sorted({child, *left} - {NONE}):
            rework.relink_to_new(follower, made.id, "it follows the result that is put in")

    def _server_call(self, finding: Finding) -> Repair:
        """A call that only the provider can answer, and did not: it goes, for no result may be put in for it."""
        links = self._links
        if finding.call_id in links.result_ids:
            raise UnmendableError("the provider's result of this call stands elsewhere, and cannot be moved to it")
        return set_aside(links, finding, links.at(finding.position), UNFINISHED)

    def _result(self, place: Place, call_id: str | None) -> tuple[Made, str]:
        real = self._elsewhere.get(call_id) if call_id is not None else None
        if real is not None:
            found = result_from_elsewhere(self._links.lines, real, place, self._links.result_ids)
            if found is not None:
                return found, "the result stands in the other record of this conversation, and is put in from there"
        why = "no result was recorded; one that says so is put in, so that the conversation can go on"
        return made_result(place), why

    def _seat(self, answer: Answer, call: int) -> tuple[int, int]:
        """(parent, child) of a result that is put in; the child is NONE where nothing is to hang on it."""
        links, last = self._links, answer.last
        if last != NONE:
            child = answer.way.behind(last)
            if child != NONE and links.free(child):
                return last, child
            ends = answer.way is not links.main or last == links.chain.leaf == links.newest
            if child == NONE and ends:
                return last, NONE
        if links.tree.groups[call] == NONE:
            raise UnmendableError(KEPT)
        return call, NONE  # beside the way; the agent sends it with the answer that it hangs on

    def _on_another_branch(self, call: int, call_id: str | None) -> int | None:
        """The record with the result of a call, where it hangs on another branch and can be no other call's."""
        links, tree = self._links, self._links.tree
        if call_id not in links.result_ids:
            return None
        calls = [one for one in tree.calls if call_id in links.calls(one)]
        found = [one for one in tree.results if call_id in links.results(one)]
        if len(calls) != 1 or len(found) != 1:
            return None
        only = found[0]
        window = links.window(only)
        sent = window is not None and window <= (links.window(call) or 0)
        alone = links.results(only) == [call_id] and links.akin(only, call)
        return only if alone and not sent and links.free(only) and not links.in_thread(call) else None

    def _brought_here(self, finding: Finding, call: int, result: int) -> Repair:
        if self._links.tree.groups[call] == NONE:
            raise UnmendableError("the result stands on a branch that is not sent")
        rework = Rework(self._links, finding)
        rework.give_to(result, call, "the result stood on another branch than its call")
        return rework.repair()

    def misplaced(self, finding: Finding) -> Repair:
        """A result that does not follow its call: it moves right behind the answer's last record there."""
        links = self._links
        result, call = links.at(finding.position), links.at(told(finding, "call"))
        self._check_move(finding, result, call)
        answer, rework = links.answer(call), Rework(links, finding)
        if not set(links.results(result)) <= answer.ids:
            return self._divided(finding, result, call)
        if result in answer.results:
            raise UnmendableError("it stands where it must, and another record between them has to move first")
        moves = "the result goes right behind its call"
        if result not in answer.way or answer.last == NONE:
            parent = call if links.tree.groups[call] != NONE else answer.last
            if parent == NONE or links.stored(result) == parent or not links.free(result):
                raise UnmendableError("it hangs beside what is sent, and its place there is not clear")
            rework.relink(result, parent, moves)
            return rework.repair()
        end = self._end_of_move(answer, result)
        before, after = links.tree.parents[result], answer.way.behind(end)
        child = answer.way.behind(answer.last)
        if child == result or before < 0:
            raise UnmendableError("no place before it is free")
        if not all(links.free(one) for one in (result, after, child)):
            raise UnmendableError(KEPT)
        if child == NONE and links.tree.groups[call] != NONE:
            rework.relink(result, call, moves)  # behind the end there is no way on; beside it is sent all the same
        else:
            rework.relink(result, answer.last, moves)
            for other in {child, *links.left_branches(answer.last)} - {NONE, result}:
                rework.relink(other, end, "it stood between the call and its result")
        self._leave(rework, end, before, after)
        return rework.repair()

    def _divided(self, finding: Finding, result: int, call: int) -> Repair:
        """A record that holds results of several answers gives one of them to a record of its own, behind its call."""
        links, rework = self._links, Rework(self._links, finding)
        line, names = links.line(result), links.results(result)
        if len(set(names)) != len(line.value["message"]["content"]):
            raise UnmendableError("its record holds results of several answers, and more")
        path = next(one.path for one in links.line(call).message.calls if one.id == finding.call_id)
        why = "the result goes to its call, out of a record with results of several answers"

        def make(place: Place) -> tuple[Made, str]:
            made = result_from_elsewhere(links.lines, line.raw, place, {*names} - {finding.call_id})
            if made is None:
                raise UnmendableError("its record holds results of several answers, and cannot be divided")
            return made, why

        self._put_in(rework, call, path, make)
        rework.cut(result, *element(finding.position.path or ""), why)
        return rework.repair()

    def _end_of_move(self, answer: Answer, result: int) -> int:
        """The last record that moves with a result: that of a server tool is a part of its answer, which goes on."""
        links, end = self._links, result
        while links.tree.groups[result] != NONE and (behind := answer.way.behind(end)) != NONE:
            if not links.same_answer(behind, result):
                break
            end = behind
        return end

    def _leave(self, rework: Rework, result: int, before: int, after: int) -> None:
        """Let the way, and what else hung on a result, go on from the record before it."""
        links = self._links
        for child in links.children(result):
            if child == after or links.tree.flags[child] & MESSAGE or links.children(child):
                rework.relink(child, before, "it follows what stood before the result")
        if after == NONE and result == links.chain.leaf:
            rework.point_to(before)
        rework.forget(result, before)

    def _check_move(self, finding: Finding, result: int, call: int) -> None:
        links = self._links
        if links.in_thread(result):
            raise UnmendableError("a sub-agent's records count in the order of the lines, which no repair changes")
        server = {one.server for one in links.line(call).message.calls if one.id == finding.call_id}
        if server != {one.server for one in links.line(result).message.results if one.id == finding.call_id}:
            raise UnmendableError("the result comes from the other side than the one that the call asks")

    def split(self, finding: Finding) -> Repair:
        """A result whose call was compacted: its call is kept as well, where the compaction says what it keeps.

        Elsewhere the result leaves the replay; what hung on it is relinked, its line stays.
        """
        links = self._links
        result = links.at(finding.position)
        longer = self._kept_from_the_call(finding, result)
        if longer is not None:
            return longer
        line, rework = links.line(result), Rework(links, finding, "lossy")
        if len(line.value["message"]["content"]) > 1:
            return set_aside(links, finding, result, "its call was compacted, so it is sent no longer")
        before, after = links.tree.parents[result], links.main.behind(result)
        if links.chain.reached[result]:
            if before < 0 or (after != NONE and not links.free(after)) or not links.free(result):
                raise UnmendableError(KEPT)
            self._leave(rework, result, before, after)
        if after == NONE or links.tree.answer_above(result) >= 0:
            rework.relink(result, self._compacted_call(finding), "it goes to its call, which was compacted")
        return rework.repair()

    def _kept_from_the_call(self, finding: Finding, result: int) -> Repair | None:
        """A compaction that keeps a result by name begins with the answer that it belongs to; None if it cannot."""
        links, tree = self._links, self._links.tree
        for boundary, message in tree.boundaries.items():
            if result not in tree.kept(message)[0]:
                continue
            more = self._back_to_the_call(finding.call_id, tree.before_kept.get(boundary, NONE))
            if more:
                rework = Rework(links, finding)
                rework.keep_more(boundary, more, "the compaction keeps the answer with the call as well")
                return rework.repair()
        return None

    def _back_to_the_call(self, call_id: str | None, number: int) -> list[int]:
        """The records from an answer with a call to the one given, oldest first; empty where no such call is found."""
        links, way, call = self._links, list[int](), NONE
        for one in links.tree.upward(number):
            if one in links.tree.boundaries or (call != NONE and not links.same_answer(one, call)):
                break
            way.append(one)
            if call_id in links.calls(one):
                call = one
        return way[::-1] if call != NONE else []

    def _compacted_call(self, finding: Finding) -> int:
        links = self._links
        for window in links.chain.windows[1:]:
            for number in reversed(window):
                if finding.call_id in links.calls(number):
                    return number
        raise UnmendableError("its call was not found before the compaction")


def told(finding: Finding, name: str) -> Position:
    """Another place that a finding names (`call`, `first`). UnmendableError if it names none."""
    file, offset = finding.facts.get(f"{name}_file"), finding.facts.get(f"{name}_offset")
    if not isinstance(file, str) or not isinstance(offset, int):
        raise UnmendableError("its counterpart is not where it was found")
    return Position(file, None, offset)


def unusable(call_id: str | None) -> bool:
    """Whether an id says nothing."""
    return call_id is None or call_id.strip() in UNUSABLE
