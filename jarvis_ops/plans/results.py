"""Results as they stand in their records: taking one out, putting it elsewhere, giving it another id.

A result is a record of its own (flat: path "" or `content`), or a block among others (`content[1]`).
"""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

from jarvis_ops.model.pieces import Edit, Piece, Span
from jarvis_ops.plans.lines import Change, Line, changed, taken_out
from jarvis_ops.plans.placeholders import is_placeholder
from jarvis_ops.plans.splice import element, new_member, value_at, value_span, without_element
from jarvis_ops.plans.style import Style, style_of

# What a record that is put in has in common with the one that it goes with.
COPIED = ("turn_id", "turnId", "session_id", "sessionId", "conversation_id", "agent_id", "agent")
# Stands for a block while the record around it is encoded.
HOLE = "block-comes-here"


class Result(NamedTuple):
    """A result: its line and the path inside it."""

    line: Line
    path: str

    @property
    def is_block(self) -> bool:
        """Whether it is one block of a list."""
        return self.path.endswith("]")

    @property
    def alone(self) -> bool:
        """Whether its record is there for it alone.

        A tool's record that holds one result is: what else stands in it would be a result without an id.
        """
        message = self.line.message
        if len(message.results) != 1 or message.calls:
            return False
        return not self.is_block or message.role == "tool" or len(self.line.value["content"]) == 1

    @property
    def movable(self) -> bool:
        """Whether its record can go elsewhere as it is; inside an answer a result stands with the wrong role."""
        return self.alone and self.line.message.role != "assistant"

    @property
    def value(self) -> Any:
        """The object that holds its content."""
        return value_at(self.line.value, self.path)

    @property
    def placeholder(self) -> bool:
        """Whether it only says that there is no result."""
        value = self.value
        content = value.get("content") if self.path != "content" else value
        return is_placeholder(content, value, self.line.value)

    @property
    def name(self) -> str | None:
        """The tool's name, where the result tells it."""
        name = self.line.value.get("name")
        return name if isinstance(name, str) else None


class Carried(NamedTuple):
    """A result on its way: the line that it becomes, the edit that takes it out where it was, and what that changes."""

    pieces: tuple[Piece, ...]
    gone: Edit
    adds: int = 0
    removes: int = 0
    inserted: tuple[str, ...] = ()


def results_of(line: Line, call_id: str) -> list[Result]:
    """The results in a record that name a call."""
    return [Result(line, result.path) for result in line.message.results if result.id == call_id]


def holds_more(line: Line) -> bool:
    """Whether anything but results stands in a record."""
    content = line.value.get("content")
    blocks = sum(1 for result in line.message.results if result.path.endswith("]"))
    return bool(blocks) and isinstance(content, list) and len(content) > blocks


def taken(result: Result) -> Edit:
    """The edit that takes a result out of its record: the whole record, or the block alone."""
    if result.alone:
        return taken_out(result.line)
    start, end = without_element(result.line.raw, *element(result.path))
    return changed([Change(result.line, start, end)])[0]


def carried(result: Result, *, whole: bool = False) -> Carried:
    """A result as a line of its own: its record as it is, or one made for its block.

    With `whole`, its record goes with all that is in it.
    """
    line = result.line
    if whole or result.movable:
        return Carried((line.body,) if line.raw.endswith(b"\n") else (line.body, b"\n"), taken_out(line))
    head, tail = around(result)
    start, end = value_span(line.raw, result.path)
    pieces = (head, Span(line.record.file, line.span.start + start, line.span.start + end), tail)
    return Carried(pieces, taken(result), 1, int(result.alone), (carried_id(result),) if "id" in line.value else ())


def around(result: Result) -> tuple[bytes, bytes]:
    """The bytes before and behind a block, so that it becomes a record of its own."""
    value, style = result.line.value, style_of(result.line.raw)
    fields = {key: item for key, item in value.items() if key in {"id", "role", "content", "timestamp", *COPIED}}
    fields["content"] = [HOLE]
    if result.line.message.role == "assistant":
        fields["role"] = "user"
    if "id" in fields:
        fields["id"] = carried_id(result)
    for key in ("tool_call_id", "toolCallId"):
        if key in value:
            fields[key] = result.value.get("tool_use_id")
    head, _, tail = style.encoded(fields).partition(style.encoded(HOLE))
    return head, tail + style.end


def carried_id(result: Result) -> str:
    """The id of the record that a block gets for itself."""
    return made_id(result.line, result.path)


def made_id(line: Line, path: str) -> str:
    """An id for a record that is put in, always the same for the same place; equal lines may stand at two places."""
    seed = b"%b%d %b" % (line.raw, line.record.offset, path.encode())
    return f"jarvis_ops_{hashlib.sha256(seed).hexdigest()[:24]}"


def renamed(result: Result, new: str) -> list[Change]:
    """The changes that give a result another call id, at each place where its record names it."""
    line, raw = result.line, result.line.raw
    style = style_of(raw)
    encoded = style.encoded(new)
    keys = [f"{result.path}.tool_use_id"] if result.is_block else []
    if result.path == "content":
        keys.append("content.tool_call_id")
    if not result.is_block or len(line.message.results) == 1:
        keys += [key for key in ("tool_call_id", "toolCallId") if key in line.value]
    present = [key for key in keys if _there(line.value, key)]
    changes = [Change(line, *value_span(raw, key), encoded) for key in present]
    if result.is_block and f"{result.path}.tool_use_id" not in present:
        changes.append(member(line, result.path, "tool_use_id", encoded, style))
    elif not present:
        changes.append(member(line, "", "tool_call_id", encoded, style))
    return changes


def member(line: Line, path: str, key: str, value: bytes, style: Style) -> Change:
    """The change that gives the object at `path` a member that it lacks."""
    place, new = new_member(line.raw, path, key, value, spaced=style.key != ":")
    return Change(line, place, place, new)


def _there(value: Any, path: str) -> bool:
    try:
        value_at(value, path)
    except (KeyError, IndexError):
        return False
    return True
