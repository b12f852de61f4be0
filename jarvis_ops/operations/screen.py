"""The fast way to say that nothing is wrong with a conversation of flat messages.

One loop reads and judges at once. It knows only health: at the first thing that is in any way odd it gives up, and
the exact way reads the conversation from the beginning. So it may doubt without cause, but what it calls clean is
clean; tests hold both ways against each other.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Mapping
from typing import Any

import msgspec
import orjson

from jarvis_ops.dialects.envelope import OBJECT, PLAIN, Call, Envelope, decode_envelope
from jarvis_ops.dialects.jarvis import COMPACTION, HEALED, ROLES, SEALED, Jarvis
from jarvis_ops.model.message import Message
from jarvis_ops.model.record import Position
from jarvis_ops.model.settings import Settings
from jarvis_ops.rules.repeats import repeats
from jarvis_ops.rules.text import SEPARATOR, has_risky_escape, holds_nul
from jarvis_ops.stores.base import Place, Snapshot

UNUSABLE = frozenset({"", "unknown"})
LINE_FEED = 10
BLANK = b" \t\r\n"


class Odd(Exception):  # noqa: N818 - no error: it says that the exact way must judge
    """The conversation is not plainly healthy."""


class Screen:
    """The state of the loop. `read` raises Odd at what is not plainly healthy; then ask whether all is `settled`."""

    def __init__(self, settings: Settings) -> None:
        self.dialect = Jarvis()
        self.long_line = settings.limits.long_line
        self.compacts = settings.profile != "jarvis"
        self.keys = array("q")  # of records
        self.calls = array("q")  # of calls
        self.open: set[str | None] = set()
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

    def read(self, snapshot: Snapshot, begin: Place, end: Place | None) -> None:
        """Go through all lines from one place to another."""
        file = ""
        for chunk in snapshot.chunks(begin, end):
            if chunk.part.file.file != file:
                file = chunk.part.file.file
                self.new_file = self.last_role != ""
            self.check_bytes(chunk.lines)
            self.loop(chunk.lines, file if chunk.first_line == 1 else "")
        if any(part.size == 0 for part in snapshot.parts):
            raise Odd

    def check_bytes(self, lines: list[bytes]) -> None:
        """What can be said of many lines at once: encoding, escapes, line ends, lengths."""
        joined = b"".join(lines) if len(lines) > 1 else lines[0]
        size = len(joined)
        self.size += size
        if joined[-1] != LINE_FEED or b"\r" in joined:
            raise Odd
        if size > self.long_line and max(map(len, lines)) > self.long_line:
            raise Odd
        if not joined.isascii():
            # Looking for one byte is many times faster than for two or three.
            if (b"\xe2" in joined or b"\xc2" in joined) and SEPARATOR.search(joined):
                raise Odd
            joined.decode()
        if b"\\" in joined and has_risky_escape(joined):
            for line in lines:
                # The strict reader refuses half a surrogate pair, and takes a whole one.
                if has_risky_escape(line) and holds_nul(orjson.loads(line)):
                    raise Odd

    def loop(  # noqa: C901, PLR0912 - the one place where speed is worth a long function
        self, lines: list[bytes], begins: str
    ) -> None:
        """Judge the lines of a chunk; `begins` is the file that begins with it, if any.

        All that every line needs stands here, since a call a line would cost a third of the speed.
        """
        decode, keys, open_calls = decode_envelope, self.keys, self.open
        last_role, last_turn, special, taken = self.last_role, self.last_turn, self.new_file or begins != "", None
        for line in lines:
            if special:
                self.pause(last_role, last_turn, taken)
                self.general(line, begins)
                last_role, last_turn, special, begins, taken = self.last_role, self.last_turn, self.new_file, "", None
                continue
            try:
                envelope = decode(line)
            except msgspec.DecodeError:
                if line.strip(BLANK):
                    raise
                self.records -= 1
                continue
            role = ROLES.get(envelope.role)  # type: ignore[arg-type]
            kind = memoryview(envelope.content)[0]
            if role is None or kind not in PLAIN or envelope.type is not None:
                self.pause(last_role, last_turn, taken)
                self.general(line, "")
                last_role, last_turn, taken = self.last_role, self.last_turn, None
                continue
            taken = envelope
            name = envelope.id
            if name is not None:
                keys.append(hash(name))
            elif envelope.timestamp is not None:
                keys.append(hash(line.strip()))
            else:
                self.keyless = True
            if role == "tool":
                open_calls.remove(envelope.tool_call_id)  # a KeyError for a result of no open call
                if not open_calls:
                    self.spans.extend((self.opened, len(keys)))
            elif open_calls or envelope.tool_call_id is not None or (role == "user" and last_role == "tool"):
                raise Odd
            elif envelope.tool_calls and role == "assistant":
                self.opened = len(keys)
                for call in envelope.tool_calls:
                    self.call(call)
            if role != "system" and not envelope.proactive:
                last_role, last_turn = role, envelope.turn_id
        self.pause(last_role, last_turn, taken)
        self.records += len(lines)

    def pause(self, last_role: str, last_turn: str | None, last: Envelope | None) -> None:
        """Keep what the loop has in its variables; `last` is the message that it took last."""
        self.last_role, self.last_turn = last_role, last_turn
        if last is not None and last.timestamp is not None:
            self.last_time = last.timestamp

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
        """A line that the loop does not take: a marker, content in blocks, the one that `begins` a file."""
        if line.isspace() and not line.strip(BLANK):
            self.records -= 1
            return
        value = orjson.loads(line)
        if not isinstance(value, dict):
            raise Odd
        message = self.dialect.decode(value)
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

    def take(self, message: Message) -> None:  # noqa: C901 - the loop's own steps, in its order
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
                self.spans.extend((self.opened, len(self.keys)))
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

    def join(self, later: Screen) -> bool:
        """Take in the screen of the portion behind this one, which begins with a prompt; False when they do not fit."""
        if self.open or self.last_role == "tool":
            return False
        moved = len(self.keys)
        self.spans.extend(place + moved for place in later.spans)
        self.keys.extend(later.keys)
        self.calls.extend(later.calls)
        self.open, self.opened = later.open, later.opened + moved
        self.last_role, self.last_turn, self.last_time = later.last_role, later.last_turn, later.last_time
        self.keyless = self.keyless or later.keyless
        self.records += later.records
        self.size += later.size
        self.compactions += later.compactions
        self.sealed.update(later.sealed)
        return True

    def settled(self) -> bool:
        """At the end: whether no call is open, nothing stands twice, and compactions name what is there.

        That the conversation may end with a prompt is left to the caller.
        """
        if self.open or repeats(self.keys) or repeats(self.calls):
            return False
        if self.compactions and self.keyless:
            return False
        for number, (fields, _) in enumerate(self.compactions):
            for field in ("from_id", "through_id"):
                named = fields.get(field)
                if not isinstance(named, str):
                    continue
                key = hash(named)
                if key not in self.keys:
                    return False
                newest = number == len(self.compactions) - 1
                if field == "through_id" and newest and self.inside_pair(self.keys.index(key) + 1):
                    return False
        return True

    def inside_pair(self, place: int) -> bool:
        """Whether a compaction ends between a call and its result; `place` counts the records up to its end."""
        before = bisect_right(self.spans[::2], place) - 1
        return before >= 0 and place < self.spans[2 * before + 1]


def screened(snapshot: Snapshot, settings: Settings, *, begin: Place, end: Place | None) -> Screen | None:
    """The screen after a conversation, or a portion of it, went through it; None when that is in any way odd."""
    screen = Screen(settings)
    try:
        screen.read(snapshot, begin, end)
    except (Odd, KeyError, msgspec.DecodeError, orjson.JSONDecodeError, UnicodeDecodeError, RecursionError):
        return None
    return screen
