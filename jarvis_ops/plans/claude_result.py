"""Records with a result that are put into a Claude Code transcript: made up, or taken from another store."""

from __future__ import annotations

import json
import uuid
from collections.abc import Collection
from typing import NamedTuple

from jarvis_ops.model.record import Record
from jarvis_ops.plans.lines import Line, Lines
from jarvis_ops.plans.placeholders import MARK, TEXT
from jarvis_ops.plans.splice import element, new_member, value_at, value_span, without_element
from jarvis_ops.plans.style import style_of

# What a record that is put in has in common with the call that it answers.
ENVELOPE = (
    "parentUuid", "isSidechain", "userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch", "agentId",
    "slug", "type", "message", "uuid", "timestamp",
)  # fmt: skip
OURS = uuid.UUID("6f0c0d3e-6a55-5b0e-9d0c-3b9a55d3f1a7")


class Place(NamedTuple):
    """Where a result goes: the line of its call, the path in it, the line that it will stand behind, its parent's id.

    `taken` are the ids of all records. The agent resumes at the newest record, so the time of a result from elsewhere
    must not be earlier than `since` where it becomes that record, and must be earlier than `before` where not (ms).
    """

    call: Line
    path: str
    behind: Line
    parent: str
    taken: Collection[str]
    since: int | None = None
    before: int | None = None


class Made(NamedTuple):
    """A new line, and the id of its record."""

    raw: bytes
    id: str


def fresh_id(seed: str, taken: Collection[str]) -> str:
    """A new record id, always the same for the same seed, that no record has."""
    number = 0
    while (name := str(uuid.uuid5(OURS, f"{seed}#{number}"))) in taken:
        number += 1
    return name


def made_result(place: Place) -> Made:
    """A result that says that none was recorded, in the envelope and style of its call; its time is its neighbour's."""
    call, style = place.call, style_of(place.call.raw)
    call_id = value_at(call.value, place.path)["id"]
    name = fresh_id(f"{call.message.id}/{place.path}/{call_id}", place.taken)
    block = {"tool_use_id": call_id, "type": "tool_result", "content": TEXT, "is_error": True}
    new = {"parentUuid": place.parent, "type": "user", "message": {"role": "user", "content": [block]}, "uuid": name}
    members: list[bytes] = []
    for key in call.value:
        if key in new:
            value = style.encoded(new[key])
        elif key == "timestamp" and key in place.behind.value:
            value = raw_value(place.behind.raw, key)
        elif key in ENVELOPE and key != "timestamp":
            value = raw_value(call.raw, key)
        else:
            continue
        members.append(json.dumps(key).encode() + style.key.encode() + value)
    members.append(b'"jarvis_ops"' + style.key.encode() + style.encoded(MARK))
    return Made(b"{" + style.item.encode().join(members) + b"}" + style.end, name)


def result_from_elsewhere(lines: Lines, raw: bytes, place: Place, answered: Collection[str | None]) -> Made | None:
    """A record of another store with the result, linked to its new place; None if it cannot be used.

    Other results in it whose calls are `answered` here are left out.
    """
    line, wanted = lines.read(Record("", None, 0, raw)), value_at(place.call.value, place.path)["id"]
    if line is None or not usable(line, wanted, place.call):
        return None
    for index in reversed([element(one.path)[1] for one in line.message.results if one.id in answered]):
        start, end = without_element(raw, "message.content", index)
        raw = raw[:start] + raw[end:]
    name = str(line.message.id)
    if name in place.taken:
        name = fresh_id(name, place.taken)
    style = style_of(raw, place.call.raw)
    raw = with_value(raw, "parentUuid", style.encoded(place.parent))
    raw = with_value(raw, "uuid", style.encoded(name))
    if "sessionId" in place.call.value:
        raw = with_value(raw, "sessionId", raw_value(place.call.raw, "sessionId"))
    if not fits(line.message.time, place) and "timestamp" in place.behind.value:
        raw = with_value(raw, "timestamp", raw_value(place.behind.raw, "timestamp"))
    return Made(raw.rstrip(b"\r\n") + style_of(place.call.raw).end, name)


def usable(line: Line, wanted: str, call: Line) -> bool:
    """Whether a record holds the result that is wanted, in the same thread."""
    message = line.message
    mine = any(one.id == wanted and not one.server for one in message.results)
    return mine and message.role == "user" and message.chain == call.message.chain and message.id is not None


def fits(time: int | None, place: Place) -> bool:
    """Whether a result may keep its own time."""
    if time is None:
        return False
    return (place.since is None or time >= place.since) and (place.before is None or time < place.before)


def with_value(raw: bytes, key: str, value: bytes) -> bytes:
    """A line whose top level has another value for a key."""
    try:
        start, end = value_span(raw, key)
    except KeyError:
        start, value = new_member(raw, "", key, value)
        end = start
    return raw[:start] + value + raw[end:]


def raw_value(raw: bytes, key: str) -> bytes:
    """The bytes of a value of a line's top level."""
    start, end = value_span(raw, key)
    return raw[start:end]
