"""The two sides of a comparison: what was said in a conversation, as one store has it."""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

import orjson

from jarvis_ops.errors import OpsError, UnreadableError
from jarvis_ops.model.conversation import Conversation
from jarvis_ops.model.finding import Finding
from jarvis_ops.model.message import Message
from jarvis_ops.model.record import Position, Record
from jarvis_ops.model.settings import Settings
from jarvis_ops.operations.elsewhere import made_up, without_nul
from jarvis_ops.operations.judge import dialect_of
from jarvis_ops.operations.reading import Reading
from jarvis_ops.rules.findings import found
from jarvis_ops.rules.seams import parse
from jarvis_ops.rules.words import counted
from jarvis_ops.stores.base import Store

# So many records are named; the others are counted.
NAMED = 20
# So many of these stand in the sentence.
SAID = 5


class Side(NamedTuple):
    """One of the two records of a conversation, and the name under which its files are spoken of ("" for our own)."""

    store: Store
    conversation: Conversation
    settings: Settings
    name: str = ""

    def messages(self) -> Iterator[tuple[int, Record, Message]]:
        """What was said, with the hash of its identity: its id, else its line.

        Markers, and what a repair put in, are left out. UnreadableError or UnknownDialectError if it cannot be read.
        """
        with self.store.open(self.conversation) as snapshot:
            dialect = dialect_of(snapshot, self.conversation, self.settings)
            for record, message in Reading(snapshot, dialect, self.settings.limits):
                is_said = bool(message.role) or (dialect.tree and message.id is not None)
                if is_said and not made_up(record.raw):
                    yield identity(record, message), record, message

    def position(self) -> Position:
        """Its live file, or the last one it has; in the other store with the name of that store before it.

        In a database it is the row of the conversation.
        """
        if self.conversation.layout == "rows" and self.conversation.metadata is not None:
            return self.conversation.metadata.position()
        last = self.conversation.live or next(reversed(self.conversation.parts), None)
        file = last.file if last is not None else self.conversation.id
        if not self.name:
            return Position(file)
        is_itself = f"/{self.name}".endswith(f"/{file}")  # the store is this one file
        return Position(self.name if is_itself else f"{self.name.rstrip('/')}/{file}")

    def unread(self, error: OpsError) -> Finding:
        """That it cannot be read, so that nothing can be said of it."""
        rule = "unreadable" if isinstance(error, UnreadableError) else "unknown-dialect"
        return found(rule, self.position(), f"it cannot be compared: {error.message}")


class Tally:
    """Records, each counted once, of which some are named: `ids` where they have one, `lines` as `file:line`."""

    def __init__(self) -> None:
        self.seen: set[int] = set()
        self.ids: list[str] = []
        self.lines: list[str] = []

    def add(self, key: int, record: Record, message: Message) -> None:
        """Count a record, unless it was counted before."""
        if key in self.seen:
            return
        self.seen.add(key)
        if len(self.lines) < NAMED:
            self.lines.append(f"{record.file}:{record.line}")
            self.ids += [message.id] if message.id is not None else []

    @property
    def facts(self) -> dict[str, Any]:
        """For a program."""
        return {"count": len(self.seen), "ids": self.ids, "lines": self.lines}

    def said(self, what: str) -> str:
        """For a person: how many, and the first of them."""
        names = (self.ids or self.lines)[:SAID]
        more = ", …" if len(self.seen) > len(names) else ""
        return f"{counted(len(self.seen), 'message')} {what}: {', '.join(names)}{more}"


def tally(side: Side, keys: Collection[int]) -> Tally:
    """The records of one side that have these identities."""
    counts = Tally()
    for key, record, message in side.messages() if keys else ():
        if key in keys:
            counts.add(key, record, message)
    return counts


def are_equal(here: Side, there: Side) -> bool:
    """Whether both sides are the same bytes, in the same files: most often so, and told much faster than by records."""
    with here.store.open(here.conversation) as mine, there.store.open(there.conversation) as other:
        pairs = list(zip(mine.parts, other.parts, strict=False))
        return (
            len(mine.parts) == len(other.parts)
            and all(one.size == two.size for one, two in pairs)
            and all(mine.digest(one) == other.digest(two) for one, two in pairs)
        )


class Hashes:
    """What one side holds: hashes of the identities, and of the lines as they are; 17 bytes a record."""

    def __init__(self, side: Side) -> None:
        keys, lines = array("q"), array("q")
        for key, record, _ in side.messages():
            keys.append(key)
            lines.append(line_hash(key, record))
        self._keys = array("q", sorted(keys))
        self._lines = array("q", sorted(lines))
        self._met = bytearray(len(keys))

    def meet(self, key: int) -> bool:
        """Whether there is a record of this identity; it is remembered that it was asked for."""
        place = bisect_left(self._keys, key)
        is_there = place < len(self._keys) and self._keys[place] == key
        if is_there:
            self._met[place] = 1
        return is_there

    def has_line(self, line: int) -> bool:
        """Whether there is a record with this line."""
        place = bisect_left(self._lines, line)
        return place < len(self._lines) and self._lines[place] == line

    def never_met(self) -> set[int]:
        """The identities that were never asked for; of equal ones the first stands for all."""
        keys = self._keys
        return {
            key for place, key in enumerate(keys) if not self._met[place] and (place == 0 or keys[place - 1] != key)
        }


def line_hash(key: int, record: Record) -> int:
    """The hash of a line as it is, in the record that has this identity."""
    return hash((key, record.raw.strip()))


def contents(side: Side, keys: Collection[int]) -> Iterator[tuple[int, bytes | None]]:
    """What one side says under these identities."""
    for key, record, _ in side.messages() if keys else ():
        if key in keys:
            yield key, content(record.raw)


def identity(record: Record, message: Message) -> int:
    """What tells a message from the others of its conversation, as a hash."""
    return hash(message.id if message.id is not None else without_nul(record.raw).strip())


def content(raw: bytes) -> bytes | None:
    """What a line says, whatever the order of its keys and the way in which it is spelled; None if it is not whole."""
    value = parse(without_nul(raw))
    if value is None:
        return None
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:  # half a surrogate pair, or a number of more digits than usual
        return json.dumps(value, sort_keys=True).encode()
