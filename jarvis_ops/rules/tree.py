"""The records of a conversation whose order is a chain of parents, and the way back from its leaf.

About 200 bytes a record: ids as text once, everything else as numbers in arrays; records that hold calls
or results keep those.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import NamedTuple

from jarvis_ops.model.message import Message, ToolCall, ToolResult
from jarvis_ops.model.record import Position, Record

NONE = -1  # no parent: a root
LOST = -2  # a parent that is not in the file
FIRST_BLOCK = "message.content[0]"

# What a record is, as far as the chain is concerned.
MESSAGE, TYPED, SENT, SIDE, LEGAL_ROOT, BOUNDARY, SUPERSEDED, FOREIGN, ASSISTANT, STOPPED = (
    1 << bit for bit in range(10)
)


class Leaf(NamedTuple):
    """A pointer to the leaf: the id it names, whether it is pinned, and after how many records it was written."""

    id: str | None
    explicit: bool
    after: int


class Tree:
    """All records with an id, by number in file order. `add` them, then `settle` once; then the chain can be walked.

    Of `calls` and `results`, where a record has but one, in its first block and without a fault, only the id is kept.
    `stored` are the parents as they are written, of those records that a compaction hangs elsewhere; the `fixed` ones
    stay there whatever they say.
    """

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.index: dict[str, int] = {}
        self.parents = array("q")
        self.lines = array("q")
        self.offsets = array("q")
        self.times = array("q")
        self.flags = array("H")
        self.groups = array("q")
        self.sessions = array("I")
        self.chains = array("I")
        self.calls: dict[int, tuple[ToolCall, ...] | str] = {}
        self.results: dict[int, tuple[ToolResult, ...] | str] = {}
        self.group_index: dict[str, int] = {}
        self.session_names: dict[str | None, int] = {None: 0}
        self.chain_names: dict[str | None, int] = {None: 0}
        self.above: dict[int, int] = {}
        self.waiting: dict[int, str] = {}
        self.leaves: list[Leaf] = []
        self.boundaries: dict[int, Message] = {}
        self.before_kept: dict[int, int] = {}
        self.stored: dict[int, int] = {}
        self.fixed: set[int] = set()
        self.file = ""

    def __len__(self) -> int:
        return len(self.ids)

    def add(self, message: Message, record: Record) -> int | None:
        """Take a record. Returns the number of an earlier record with the same id, which this one replaces."""
        self.file = record.file
        if message.id is None:
            if message.type == "last-prompt" and message.marker is not None and "leafUuid" in message.marker:
                named = message.marker["leafUuid"]
                pinned = message.marker.get("explicit") is True
                self.leaves.append(Leaf(named if isinstance(named, str) else None, pinned, len(self)))
            return None
        number = len(self.ids)
        earlier = self.index.get(message.id)
        self.ids.append(message.id if earlier is None else self.ids[earlier])
        self.index[message.id] = number
        parent = NONE if message.parent_id is None else self.index.get(message.parent_id, LOST)
        if message.parent_id is not None and parent in {LOST, number}:
            self.waiting[number] = message.parent_id
        self.parents.append(parent)
        self.lines.append(record.line or 0)
        self.offsets.append(record.offset)
        self.times.append(message.time if message.time is not None else NONE)
        self.flags.append(flags_of(message))
        self.groups.append(self.group(message.group_id))
        self.sessions.append(numbered(message.session_id, self.session_names))
        self.chains.append(numbered(message.chain, self.chain_names))
        if message.calls:
            first = message.calls[0]
            plain = len(message.calls) == 1 and first.id is not None and first == plain_call(first.id)
            self.calls[number] = str(first.id) if plain else message.calls
        if message.results:
            answer = message.results[0]
            plain = len(message.results) == 1 and answer.id is not None and answer == plain_result(answer.id)
            self.results[number] = str(answer.id) if plain else message.results
        if message.marker is not None and message.subtype == "compact_boundary":
            self.boundaries[number] = message
        return earlier

    def group(self, name: str | None) -> int:
        """The number of an answer by its name; NONE for a record that belongs to no answer."""
        return NONE if name is None else self.group_index.setdefault(name, len(self.group_index))

    def settle(self) -> None:
        """All records are known: let parents that came later be found, and the last of equal ids stand for its id."""
        for number, name in self.waiting.items():
            self.parents[number] = self.index.get(name, LOST)
        self.group_index.clear()
        if len(self.index) == len(self.ids):
            return
        for number, name in enumerate(self.ids):
            current = self.index[name]
            if current != number:
                self.flags[number] |= SUPERSEDED
        for number, parent in enumerate(self.parents):
            if parent >= 0:
                self.parents[number] = self.index[self.ids[parent]]

    def keep_segments(self) -> None:
        """Hang the messages that a compaction kept behind its summary, as the agent does when it loads the file."""
        for number, boundary in self.boundaries.items():
            kept, anchor = self.kept(boundary)
            if not kept or anchor is None:
                continue
            tail = kept[-1]
            inside = set(kept)
            listed = "preservedMessages" in ((boundary.marker or {}).get("compactMetadata") or {})
            self.before_kept[number] = self.parents[kept[0]]
            for child in range(number, len(self)):
                if self.parents[child] == anchor and child not in inside:
                    self.hang(child, tail)
            for child, parent in zip(kept, [anchor, *kept[:-1]], strict=True):
                if listed or self.parents[child] != parent:
                    self.fixed.add(child)
                self.hang(child, parent)

    def hang(self, number: int, parent: int) -> None:
        """Let a record hang elsewhere than it says."""
        if self.parents[number] != parent:
            self.stored.setdefault(number, self.parents[number])
        self.parents[number] = parent

    def kept(self, boundary: Message) -> tuple[list[int], int | None]:
        """The records that a compaction kept, oldest first, and the record behind which they hang."""
        marker = boundary.marker or {}
        metadata = marker.get("compactMetadata")
        if not isinstance(metadata, dict):
            return [], None
        named = metadata.get("preservedMessages")
        if isinstance(named, dict) and isinstance(named.get("uuids"), list):
            numbers = [self.index[name] for name in named["uuids"] if isinstance(name, str) and name in self.index]
            return numbers, self.named(named.get("anchorUuid"))
        span = metadata.get("preservedSegment")
        if not isinstance(span, dict):
            return [], None
        head, tail = self.named(span.get("headUuid")), self.named(span.get("tailUuid"))
        chain: list[int] = []
        if head is not None and tail is not None:
            for number in self.upward(tail):
                chain.append(number)
                if number == head:
                    return chain[::-1], self.named(span.get("anchorUuid"))
        return [], None

    def answer_above(self, number: int) -> int:
        """The answer under which a record hangs, directly or by records that are no messages; NONE for no answer."""
        way: list[int] = []
        answer = NONE
        for ancestor in self.upward(self.parents[number]):
            if ancestor in self.above or self.flags[ancestor] & MESSAGE:
                answer = self.above.get(ancestor, self.groups[ancestor])
                break
            way.append(ancestor)
        self.above.update(dict.fromkeys(way, answer))
        return answer

    def named(self, name: object) -> int | None:
        """The number of the record with an id."""
        return self.index.get(name) if isinstance(name, str) else None

    def upward(self, number: int) -> Iterator[int]:
        """A record and its ancestors, nearest first; ends at a root, at a lost parent, and where a cycle closes."""
        steps = 0
        while number >= 0 and steps <= len(self):
            yield number
            number = self.parents[number]
            steps += 1

    def leaf(self, *, side: bool) -> int | None:
        """The record at which the agent resumes: the newest of the chain's own, unless a pointer names another.

        `side` is True for a transcript that consists of side records (a sub-agent's).
        """
        left_out = SUPERSEDED | FOREIGN | (0 if side else SIDE)
        newest: int | None = None
        for number, flags in enumerate(self.flags):
            if flags & left_out:
                continue
            if newest is None or self.times[number] >= self.times[newest] or self.times[number] == NONE:
                newest = number
        pointer = self.leaves[-1] if self.leaves else None
        if newest is None or pointer is None or pointer.id is None or pointer.id not in self.index:
            return newest
        pointed = self.index[pointer.id]
        if self.flags[pointed] & left_out or any(number >= pointer.after for number in self.boundaries):
            return newest
        if not pointer.explicit and (pointed in set(self.upward(newest)) or pointer.after <= newest):
            return newest  # the talk has gone on since the pointer was written
        return pointed

    def position(self, number: int, path: str | None = None) -> Position:
        """Where a record stands."""
        return Position(self.file, self.lines[number] or None, self.offsets[number], path)

    def record(self, number: int) -> Record:
        """A record without its bytes."""
        return Record(self.file, self.lines[number] or None, self.offsets[number], b"")

    def message(self, number: int) -> Message:
        """The message of a record, made anew from what was kept of it."""
        group = f"#{self.groups[number]}" if self.groups[number] >= 0 else None
        calls, results = self.calls.get(number, ()), self.results.get(number, ())
        flags = self.flags[number]
        return Message(
            role="assistant" if flags & ASSISTANT else "user" if flags & MESSAGE else "system",
            id=self.ids[number],
            group_id=group,
            time=None if self.times[number] == NONE else self.times[number],
            sent=bool(flags & SENT),
            typed=bool(flags & TYPED),
            stop="tool_use" if flags & STOPPED else None,
            calls=(plain_call(calls),) if isinstance(calls, str) else calls,
            results=(plain_result(results),) if isinstance(results, str) else results,
        )


def plain_call(call_id: str) -> ToolCall:
    """A call that is the only block of its record."""
    return ToolCall(call_id, FIRST_BLOCK)


def plain_result(call_id: str) -> ToolResult:
    """A result that is the only block of its record."""
    return ToolResult(call_id, FIRST_BLOCK)


def numbered(name: str | None, names: dict[str | None, int]) -> int:
    """The number of a name, which is added if it is new."""
    return names.setdefault(name, len(names))


def flags_of(message: Message) -> int:
    """A message's part in the chain as bits."""
    flags = 0
    if message.role in {"user", "assistant"}:
        flags |= MESSAGE
    if message.role == "assistant":
        flags |= ASSISTANT
    if message.typed:
        flags |= TYPED
    if message.sent:
        flags |= SENT
    if message.chain is not None:
        flags |= SIDE
    if message.stop == "tool_use":
        flags |= STOPPED
    if message.subtype == "compact_boundary":
        flags |= BOUNDARY | LEGAL_ROOT
    if message.subtype in {"local_command", "compact_summary"} or message.type == "progress":
        flags |= LEGAL_ROOT
    return flags
