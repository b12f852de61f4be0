"""Where a value stands in the bytes of a JSON line, so that it can be changed without touching anything else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]")
BLANKS = re.compile(r"[ \t\r\n]*")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
DECODER = json.JSONDecoder(strict=False)


def value_span(raw: bytes, path: str) -> tuple[int, int]:
    """[start, end) of the value at `path` (`message.content[1].id`, "" is the whole) in the bytes of a line.

    Of a key that stands twice the last counts, as for every reader. KeyError if there is no such place.
    """
    text = raw.decode("latin-1")  # one character a byte
    start = _blanks(text, len(BYTE_ORDER_MARK) if raw.startswith(BYTE_ORDER_MARK) else 0)
    for key, index in STEP.findall(path):
        if key:
            start = dict(_members(text, start))[key]
        else:
            start = dict(enumerate(_elements(text, start)))[int(index)]
    return start, _end(text, start)


def without_element(raw: bytes, path: str, index: int) -> tuple[int, int]:
    """[start, end) of what must go so that the list at `path` loses its element `index`, a comma included."""
    text = raw.decode("latin-1")
    spans = [(place, _end(text, place)) for place in _elements(text, value_span(raw, path)[0])]
    start, end = spans[index]
    if index + 1 < len(spans):
        return start, spans[index + 1][0]
    return (spans[index - 1][1], end) if index else (start, end)


def _members(text: str, start: int) -> Iterator[tuple[str, int]]:
    """(key, place of its value) of the object at `start`. KeyError if there is none."""
    if text[start] != "{":
        raise KeyError(start)
    place = _blanks(text, start + 1)
    while text[place] != "}":
        key, place = DECODER.raw_decode(text, place)
        value = _blanks(text, _blanks(text, place) + 1)
        yield key, value
        place = _next(text, value)


def _elements(text: str, start: int) -> Iterator[int]:
    """The places of the elements of the list at `start`. KeyError if there is none."""
    if text[start] != "[":
        raise KeyError(start)
    place = _blanks(text, start + 1)
    while text[place] != "]":
        yield place
        place = _next(text, place)


def _next(text: str, value: int) -> int:
    """The place of the next item behind the value at `value`, or of the bracket that closes them."""
    place = _blanks(text, _end(text, value))
    return _blanks(text, place + 1) if text[place] == "," else place


def _end(text: str, start: int) -> int:
    return DECODER.raw_decode(text, start)[1]


def _blanks(text: str, place: int) -> int:
    match = BLANKS.match(text, place)
    return match.end() if match else place
