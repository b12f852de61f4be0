"""What is odd about the text of a line that is otherwise whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

# An escaped U+0000 that is no escaped backslash followed by "u0000".
ESCAPED_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
# U+2028, U+2029 and U+0085 as UTF-8: legal inside JSON, line ends for readers that split by Unicode.
SEPARATORS = {b"\xe2\x80\xa8": "U+2028", b"\xe2\x80\xa9": "U+2029", b"\xc2\x85": "U+0085"}
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def judge_text(raw: bytes, long_line: int) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(rule, detail, facts) for each oddity of a line."""
    if b"\\u0000" in raw and (count := len(ESCAPED_NUL.findall(raw))):
        yield "nul-char", f"{count} times U+0000 in its text, which Postgres refuses", {"count": count}
    # Looking for one byte is many times faster than for two or three, and text without these is the rule.
    if b"\xe2" in raw or b"\xc2" in raw:
        names = [name for mark, name in SEPARATORS.items() if mark in raw]
        if names:
            yield "line-separator-char", f"{', '.join(names)} in its text", {"characters": names}
    if len(raw) > long_line:
        yield "long-line", f"the line has {len(raw):,} bytes", {"bytes": len(raw)}
