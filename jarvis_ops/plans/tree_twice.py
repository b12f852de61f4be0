"""Setting aside, in a tree, what stands there too often or without a partner; what hung on it is relinked."""

from __future__ import annotations

from typing import Any

from jarvis_ops.model.finding import Finding
from jarvis_ops.model.plan import Repair
from jarvis_ops.plans.lines import UnmendableError
from jarvis_ops.plans.placeholders import is_placeholder
from jarvis_ops.plans.splice import value_at
from jarvis_ops.plans.tree_links import Links
from jarvis_ops.plans.tree_pairs import told
from jarvis_ops.plans.tree_rework import Rework, set_aside
from jarvis_ops.rules.tree import NONE


class Twice:
    """Mends orphaned results, second results, and second calls that say the same as the first."""

    def __init__(self, links: Links) -> None:
        self._links = links

    def orphan(self, finding: Finding) -> Repair:
        """A result whose call is not among what is sent: it goes to it where it stands on another way, else aside."""
        links, number = self._links, self._links.at(finding.position)
        call = self._call_elsewhere(number, finding.call_id)
        if call is None:
            return set_aside(links, finding, number, "its call is not there")
        rework = Rework(links, finding, "lossy")
        rework.give_to(number, call, "its call stands on another branch, and it leaves the replay for it")
        return rework.repair()

    def _call_elsewhere(self, number: int, call_id: str | None) -> int | None:
        """The one call that a result can answer, though it is not sent with it; None where nobody can tell."""
        links, tree = self._links, self._links.tree
        if call_id not in links.call_ids:
            return None
        calls = [one for one in tree.calls if call_id in links.calls(one)]
        results = [one for one in tree.results if call_id in links.results(one)]
        if len(calls) != 1 or results != [number] or links.results(number) != [call_id]:
            return None
        call = calls[0]
        free = number != links.chain.leaf and links.free(number) and not links.in_thread(call)
        kin = links.akin(call, number) and tree.groups[call] != NONE and links.window(call) != links.window(number)
        return call if free and kin and number not in tree.upward(call) else None

    def second_result(self, finding: Finding) -> Repair:
        """Of two results the later goes, unless it is real and the first only says that there is none."""
        links = self._links
        second, path = links.at(finding.position), finding.position.path or ""
        first, first_path = self._first(finding, second, path)
        if first is not None and self._made_up(first, first_path) and not self._made_up(second, path):
            return set_aside(
                links, finding, first, "it only says that there is no result, and there is one", first_path
            )
        return set_aside(links, finding, second, "the call has a result already")

    def _first(self, finding: Finding, second: int, path: str) -> tuple[int | None, str]:
        """The result that the call has beside the second, and its path; (None, "") where it is not found."""
        links = self._links
        if "first_offset" in finding.facts:
            near = [links.at(told(finding, "first"))]
        else:
            near = [
                number
                for sequence in links.chain.sequences
                if second in sequence
                for number in sequence
                if finding.call_id in links.results(number)
            ]
        for number in near:
            for result in links.line(number).message.results:
                if result.id == finding.call_id and (number, result.path) != (second, path):
                    return number, result.path
        return None, ""

    def _made_up(self, number: int, path: str) -> bool:
        value = self._links.line(number).value
        block = value_at(value, path)
        return is_placeholder(block.get("content"), block, value)

    def same_call(self, finding: Finding) -> Repair | None:
        """A second call with the name and the arguments of the first is set aside; None if they differ."""
        links = self._links
        first, second = links.at(told(finding, "first")), links.at(finding.position)
        path = finding.position.path or ""
        if not links.same_answer(first, second):
            return None
        one = next((call.path for call in links.line(first).message.calls if call.id == finding.call_id), None)
        if one is None or spoken(links.line(first).value, one) != spoken(links.line(second).value, path):
            return None
        return set_aside(links, finding, second, "the answer holds this call already, word for word")


def spoken(record: Any, path: str) -> tuple[Any, ...]:
    """What a call says: its kind, name and arguments."""
    call = value_at(record, path)
    if not isinstance(call, dict):
        raise UnmendableError("the call is not where it was found")
    return call.get("type"), call.get("name"), call.get("input")
