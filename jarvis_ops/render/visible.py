"""Makes text out of a store harmless before it reaches a terminal, a log or a JSON document."""

from __future__ import annotations

import re

# Control characters, marks that change the direction of text, characters of no width, line separators and
# halves of surrogate pairs: whatever can move a cursor, reorder or hide what a person reads.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
# Inside JSON text the same characters may stand as escapes, which every parser reads back.
_RAW_IN_JSON = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
# Python keeps a byte of a file name that is no UTF-8 as one of these.
_FIRST_BYTE, _LAST_BYTE = 0xDC80, 0xDCFF


def visible(text: str) -> str:
    r"""The text on one line, with nothing in it that acts: ESC becomes `\x1b`, U+202E becomes `\u202e`."""
    return _HIDDEN.sub(_escaped, text)


def encodable(text: str) -> str:
    r"""The text as UTF-8 can carry it: bytes of no UTF-8 as `\xNN`, halves of surrogate pairs as `\uNNNN`."""
    return _SURROGATE.sub(_escaped, text)


def inert_json(document: bytes) -> bytes:
    """The same JSON document, with what JSON allows raw but a terminal may act on written as escapes."""
    return _RAW_IN_JSON.sub(_json_escape, document.decode()).encode()


def _escaped(match: re.Match[str]) -> str:
    code = ord(match.group())
    if _FIRST_BYTE <= code <= _LAST_BYTE:
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _json_escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
