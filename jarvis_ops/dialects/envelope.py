"""A typed reading of JARVIS's flat messages: only what a verdict needs is made, all else is checked and skipped."""

from __future__ import annotations

import msgspec

PLAIN = frozenset(b'"n')  # how text and null begin
OBJECT = ord("{")


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


decode_envelope = msgspec.json.Decoder(Envelope).decode
