"""Moving the boundary of a compaction that lies between a call and its result."""

from __future__ import annotations

from typing import Any

from jarvis_ops.model.finding import Finding
from jarvis_ops.model.plan import Repair
from jarvis_ops.plans.lines import Change, Line, Lines, UnmendableError, changed
from jarvis_ops.plans.splice import value_span
from jarvis_ops.plans.steps import Words
from jarvis_ops.plans.style import style_of


def moved_back(lines: Lines, finding: Finding) -> Repair:
    """The compaction then ends before the turn that holds the call, or, where nothing is there, before its answer."""
    marker, call = lines.at(finding.position), lines.told(finding.facts, "first")
    through = marker.value.get("through_id")
    if call is None or not isinstance(through, str):
        raise UnmendableError("the boundary does not say where it lies")
    last = last_compacted(lines, call, marker.value.get("from_id"))
    if last is None:
        raise UnmendableError("no message stands before the call, with which the compaction could end")
    style, words = style_of(marker.raw), Words(finding)
    new = style.encoded(last.value["id"])
    changes = [Change(marker, *value_span(marker.raw, "through_id"), new)]
    count = marker.value.get("count")
    freed = messages_between(lines, last, through)
    if isinstance(count, int) and not isinstance(count, bool) and count > freed:
        changes.append(Change(marker, *value_span(marker.raw, "count"), style.encoded(count - freed)))
    why = "the compaction ends earlier, so that call and result stand on one side of its boundary"
    return words.repair(words.step("replace", marker.at("through_id"), why, new=new), edits=changed(changes))


def last_compacted(lines: Lines, call: Line, first_id: Any) -> Line | None:
    """The message with which the compaction can end: the last before the turn of the call, else before its answer.

    `first_id` is the message with which the compaction begins; nothing before it will do.
    """
    nearest: Line | None = None
    turn_began = call.message.id == first_id
    if turn_began:
        return None
    for line in lines.before(call):
        message = line.message
        usable = message.role != "" and not message.proactive and isinstance(line.value.get("id"), str)
        if usable and turn_began:
            return line
        if usable and nearest is None:
            nearest = line
        turn_began = turn_began or message.typed
        if message.id == first_id:
            break
    return nearest


def messages_between(lines: Lines, last: Line, through: str) -> int:
    """How many messages stand behind `last`, up to the one with the id `through`; one id counts once."""
    seen: set[Any] = set()
    for line in lines.after(last):
        if line.message.role:
            seen.add(line.message.id if line.message.id is not None else line.record.offset)
        if line.message.id == through:
            break
    return len(seen)
