"""The fast way to say that nothing is wrong with a conversation of flat messages.

One loop reads and judges at once. It knows only health: at the first thing that is in any way odd it gives up, and
the exact way reads the conversation from the beginning. So it may doubt without cause, but what it calls clean is clean;
tests hold both ways against each other.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import orjson

from jarvis_ops.dialects.jarvis import COMPACTION, HEALED, ROLES, SEALED, Jarvis
from jarvis_ops.model.message import Message
from jarvis_ops.model.record import Position
from jarvis_ops.model.settings import Settings
from jarvis_ops.rules.repeats import repeats
from jarvis_ops.stores.base import Chunk, Snapshot

# Lines of this many bytes that hold a backslash are read faster by orjson.
LONG = 2_000
UNUSABLE = frozenset({"", "unknown"})
TEXT, OBJECT, NULL = b'"{n'
# A lone half of a surrogate pair and U+0000 can only come from these escapes; a whole pair is looked at more closely.
RISKY_ESCAPE = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
ESCAPED_NUL = re.compile(rb"\\u0000")
SEPARATOR = re.compile(rb"\xe2\x80[\xa8\xa9]|\xc2\x85")


class Odd(Exception):  # noqa: N818 - no error: it says that the exact way must judge
    """The conversation is not plainly healthy."""


class Function(msgspec.Struct, gc=False):
    """The inner part of a call in OpenAI form."""

    arguments: msgspec.Raw = msgspec.Raw(b"{}")


class Call(msgspec.Struct, gc=False):
    """A tool call, flat or in OpenAI form."""

    id: str
    arguments: msgspec.Raw = msgspec.Raw(b"{}")
    function: Function | None = None


class Envelope(msgspec.Struct, gc=False):
    """What the loop needs of a line; all else is skipped, though not unchecked."""

    role: str | None = None
    id: str | None = None
    timestamp: int | str | None = None
    turn_id: str | None = None
    tool_call_id: str | None = None
    content: msgspec.Raw = msgspec.Raw(b'""')
    tool_calls: list[Call] | None = None
    proactive: bool = False
    type: str | None = None


class Screen:
    """The state of the loop. `read` a whole snapshot, then ask `settle`; both raise Odd."""

    def __init__(self, settings: Settings, *, compacts: bool) -> None:
        self.decode: Callable[[bytes], Envelope] = msgspec.json.Decoder(Envelope).decode
        self.dialect = Jarvis()
        self.long_line = settings.limits.long_line
        self.compacts = compacts
        self.keys = array("q")  # of records
        self.calls = array("q")  # of calls
        self.open: set[str] = set()
        self.opened = 0  # how many records stood before the first open call
        self.spans = array("q")  # stretches of records within which a call was open
        self.last_role = ""
        self.last_turn: str | None = None
        self.last_time: int | str | None = None
        self.keyless = False  # a record had neither an id nor a time
        self.new_file = False
        self.records = 0
        self.size = 0
        self.compactions: list[tuple[Mapping[str, Any], Position]] = []
        self.sealed: dict[str, Mapping[str, Any]] = {}
        self.healed: dict[str, tuple[Mapping[str, Any], Position]] = {}  # stays empty, as what is cut would be odd
        self.cut: frozenset[str] = frozenset()

    def read(self, snapshot: Snapshot) -> None:
        """Go through all lines."""
        file = ""
        for chunk in snapshot.chunks():
            if chunk.part.file.file != file:
                file = chunk.part.file.file
                self.new_file = self.last_role != ""
            self.check_bytes(chunk.lines)
            self.loop(chunk)
        if any(part.size == 0 for part in snapshot.parts):
            raise Odd

    def check_bytes(self, lines: list[bytes]) -> None:
        """What can be said of many lines at once: encoding, escapes, line ends, lengths."""
        joined = b"".join(lines) if len(lines) > 1 else lines[0]
        size = len(joined)
        self.size += size
        if not joined.isascii():
            joined.decode()
            if (b"\xe2\x80" in joined if b"\xe2" in joined else False) or b"\xc2\x85" in joined:
                if SEPARATOR.search(joined):
                    raise Odd
        if b"\\" in joined and RISKY_ESCAPE.search(joined):
            for line in lines:
                if RISKY_ESCAPE.search(line) and (ESCAPED_NUL.search(line) or orjson.loads(line) is None):
                    raise Odd
        if b"\r" in joined or joined[-1] != 10 or (size > self.long_line and max(map(len, lines)) > self.long_line):
            raise Odd

    def loop(self, chunk: Chunk) -> None:
        """Judge the lines of a chunk. All that every line needs stands here, since a call a line would cost a third."""
        decode, keys, open_calls = self.decode, self.keys, self.open
        first = chunk.first_line == 1
        file = chunk.part.file.file
        for line in chunk.lines:
            if len(line) > LONG and b"\\" in line:
                self.general(line, file if first else "")
                first = False
                continue
            try:
                envelope = decode(line)
            except msgspec.DecodeError:
                if line.strip(b" \t\r\n"):
                    raise
                first = False
                continue
            role = ROLES.get(envelope.role)  # type: ignore[arg-type]
            kind = memoryview(envelope.content)[0]
            if role is None or (kind != TEXT and kind != NULL) or envelope.type is not None or self.new_file or first:
                self.general(line, file if first else "")
                first = False
                continue
            self.records += 1
            name = envelope.id
            if name is not None:
                keys.append(hash(name))
            elif envelope.timestamp is not None:
                keys.append(hash(line.strip()))
            else:
                self.keyless = True
            self.last_time = envelope.timestamp
            if role == "tool":
                call_id = envelope.tool_call_id
                if call_id not in open_calls:
                    raise Odd
                open_calls.remove(call_id)
                if not open_calls:
                    self.spans.append(self.opened)
                    self.spans.append(len(keys))
            elif open_calls or envelope.tool_call_id is not None:
                raise Odd
            elif role == "user" and self.last_role == "tool":
                raise Odd
            elif envelope.tool_calls and role == "assistant":
                self.opened = len(keys)
                for call in envelope.tool_calls:
                    self.call(call)
            if not envelope.proactive and role != "system":
                self.last_role = role
                self.last_turn = envelope.turn_id

    def call(self, call: Call) -> None:
        """A call: its id and its arguments must be beyond doubt."""
        name = call.id
        if name in self.open or name.strip() in UNUSABLE:
            raise Odd
        arguments = call.arguments if call.function is None else call.function.arguments
        if memoryview(arguments)[0] != OBJECT:
            value = orjson.loads(arguments)
            if not isinstance(value, str) or not isinstance(orjson.loads(value), dict):
                raise Odd
        self.open.add(name)
        self.calls.append(hash(name))

    def general(self, line: bytes, begins: str) -> None:
        """A line that the loop does not take: a marker, content in blocks, a long line, the one that `begins` a file."""
        value = orjson.loads(line)
        if not isinstance(value, dict):
            raise Odd
        message = self.dialect.decode(value)
        self.records += 1
        if message.fault or not isinstance(value.get("proactive", False), bool):
            raise Odd
        if message.id is not None:
            self.keys.append(hash(message.id))
        elif message.time is not None:
            self.keys.append(hash(line.strip()))
        else:
            self.keyless = True
        if message.time is not None:
            self.last_time = message.time
        if message.role:
            self.take(message)
        else:
            self.marker(message, begins)

    def take(self, message: Message) -> None:
        """A message, by the same steps as in the loop."""
        role = message.role
        if self.new_file and role != "system" and not message.proactive:
            known = message.turn_id is not None and self.last_turn is not None
            if (message.turn_id == self.last_turn) if known else not message.typed:
                raise Odd
            self.new_file = False
        if role != "assistant" and message.results:
            for result in message.results:
                if result.server or result.id not in self.open:
                    raise Odd
                self.open.remove(result.id)
            if not self.open:
                self.spans.append(self.opened)
                self.spans.append(len(self.keys))
            role = "tool"
        elif self.open or message.results or (role == "user" and self.last_role == "tool"):
            raise Odd
        self.opened = len(self.keys) if message.calls else self.opened
        for call in message.calls:
            if call.fault or call.server or call.id is None or call.id in self.open or call.id.strip() in UNUSABLE:
                raise Odd
            self.open.add(call.id)
            self.calls.append(hash(call.id))
        if not message.proactive and role != "system":
            self.last_role = role
            self.last_turn = message.turn_id

    def marker(self, message: Message, begins: str) -> None:
        """A record that is no message; a seal marker counts only where it begins a file."""
        fields = message.marker or {}
        if message.type == COMPACTION and self.compacts:
            self.compactions.append((fields, Position(begins)))
        elif message.type == SEALED and begins:
            self.sealed[begins] = fields
        elif message.type == HEALED:
            raise Odd

    def settle(self) -> None:
        """At the end: nothing may be open, nothing may stand twice, and compactions must name what is there."""
        if self.open or self.last_role == "user" or repeats(self.keys) or repeats(self.calls):
            raise Odd
        if self.compactions and self.keyless:
            raise Odd
        for number, (fields, _) in enumerate(self.compactions):
            for field in ("from_id", "through_id"):
                named = fields.get(field)
                if not isinstance(named, str):
                    continue
                key = hash(named)
                if key not in self.keys:
                    raise Odd
                if field == "through_id" and number == len(self.compactions) - 1:
                    self.outside_pairs(self.keys.index(key) + 1)

    def outside_pairs(self, place: int) -> None:
        """A compaction may not end between a call and its result; `place` counts the records up to its end."""
        before = bisect_right(self.spans[::2], place) - 1
        if before >= 0 and place < self.spans[2 * before + 1]:
            raise Odd


def screened(snapshot: Snapshot, settings: Settings, *, compacts: bool) -> Screen | None:
    """The screen after a conversation went through it; None when it is in any way odd."""
    screen = Screen(settings, compacts=compacts)
    try:
        screen.read(snapshot)
        screen.settle()
    except (Odd, msgspec.DecodeError, orjson.JSONDecodeError, UnicodeDecodeError, RecursionError):
        return None
    return screen
