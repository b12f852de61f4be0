"""How a store writes its lines, so that what is put in looks like what stands around it."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from jarvis_ops.plans.splice import separators

# An escape of a character beyond ASCII.
ESCAPED = re.compile(rb"\\u(?!00[0-7])[0-9a-fA-F]{4}")


class Style(NamedTuple):
    """What stands between members and behind keys, whether all is ASCII, and how a line ends."""

    item: str = ","
    key: str = ":"
    ascii_only: bool = False
    end: bytes = b"\n"

    def encoded(self, value: Any) -> bytes:
        """A value as JSON text. ValueError for one that no strict reader would take."""
        text = json.dumps(value, ensure_ascii=self.ascii_only, separators=(self.item, self.key), allow_nan=False)
        return text.encode()


def style_of(raw: bytes, *others: bytes) -> Style:
    """The style of a line; what it does not show, the `others` may."""
    item, key = separators(raw)
    return Style(item, key, _ascii_only((raw, *others)), line_end(raw, *others))


def line_end(*lines: bytes) -> bytes:
    """How the first of some lines ends that has an end."""
    for raw in lines:
        if raw.endswith(b"\n"):
            return b"\r\n" if raw.endswith(b"\r\n") else b"\n"
    return b"\n"


def _ascii_only(lines: tuple[bytes, ...]) -> bool:
    for raw in lines:
        if not raw.isascii():
            return False
        if ESCAPED.search(raw):
            return True
    return False
