"""What is odd about the text of a line that is otherwise whole."""

from __future__ import annotations

import re

# An escaped U+0000 that is no escaped backslash followed by "u0000".
ESCAPED_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
# A lone half of a surrogate pair and U+0000 can only come from these escapes; a whole pair is looked at more closely.
RISKY_ESCAPE = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
# U+2028, U+2029 and U+0085 as UTF-8: legal inside JSON, line ends for readers that split by Unicode.
SEPARATOR = re.compile(rb"\xe2\x80[\xa8\xa9]|\xc2\x85")
SEPARATOR_NAMES = {b"\xe2\x80\xa8": "U+2028", b"\xe2\x80\xa9": "U+2029", b"\xc2\x85": "U+0085"}
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
BACKSLASH = ord("\\")


def has_risky_escape(text: bytes) -> bool:
    """Whether such an escape stands in a text; a `u` behind an escaped backslash, as in a path, is none."""
    return any(not backslashes_before(text, match.start()) % 2 for match in RISKY_ESCAPE.finditer(text))


def backslashes_before(text: bytes, place: int) -> int:
    """How many backslashes stand right before a place."""
    count = 0
    while place > count and text[place - count - 1] == BACKSLASH:
        count += 1
    return count


def nul_characters(raw: bytes) -> int:
    """How often U+0000 stands in the text of a line."""
    return len(ESCAPED_NUL.findall(raw)) if b"\\u0000" in raw else 0


def separators(raw: bytes) -> set[str]:
    """The names of the line separators in a line."""
    # Looking for one byte is many times faster than for two or three, and text without these is the rule.
    if b"\xe2" not in raw and b"\xc2" not in raw:
        return set()
    return {SEPARATOR_NAMES[mark] for mark in SEPARATOR.findall(raw)}


def holds_nul(value: object) -> bool:
    """Whether U+0000 is in any text of a line that was read, which is quicker to see there than in its escapes."""
    if isinstance(value, str):
        return "\x00" in value
    if isinstance(value, dict):
        return any(map(holds_nul, value)) or any(map(holds_nul, value.values()))
    return isinstance(value, list) and any(map(holds_nul, value))
