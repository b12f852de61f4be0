"""How records of one agent read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from jarvis_ops.model.message import Message


class Dialect(Protocol):
    """Turns the stored form of one agent into Messages. Dialects know records, never files."""

    name: str
    # True where records name their parent and the order is a walk from a leaf; False where the order is the file's.
    tree: bool

    def sniff(self, record: Mapping[str, Any]) -> bool:
        """Whether this record could only come from this agent, or is of its form."""

    def is_record(self, value: Mapping[str, Any]) -> bool:
        """Whether a JSON object found inside a damaged line is a whole record of this dialect, not a piece of one."""

    def quick(self, raw: bytes) -> Message | None:
        """The Message of a plain line, read faster than by `decode`; None when the line wants the full reading.

        `raw` is known to be UTF-8 without escaped surrogates or NULs. ValueError where it is no strict JSON.
        """

    def decode(self, record: Mapping[str, Any]) -> Message:
        """The Message of a record. Never fails: what is wrong with its shape is in `fault`."""

    def good_id(self, call_id: str) -> bool:
        """Whether the agent's own provider takes this call id."""

    def unique_id(self, call_id: str) -> bool:
        """Whether this call id may stand only once in a whole replay, since the provider itself made it."""
