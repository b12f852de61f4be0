"""Where a value stands in the bytes of a JSON line, so that it can be changed without touching anything else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from jarvis_ops.rules.text import BYTE_ORDER_MARK

STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]")
ELEMENT = re.compile(r"(.*)\[(\d+)\]")
BLANKS = re.compile(r"[ \t\r\n]*")
DECODER = json.JSONDecoder(strict=False)


def value_span(raw: bytes, path: str) -> tuple[int, int]:
    """[start, end) of the value at `path` (`message.content[1].id`, "" is the whole) in the bytes of a line.

    Of a key that stands twice the last counts, as for every reader. KeyError if there is no such place.
    """
    text = _text(raw)
    start = _place(text, path)
    return start, _end(text, start)


def without_element(raw: bytes, path: str, index: int) -> tuple[int, int]:
    """[start, end) of what must go so that the list at `path` loses its element `index`, a comma included."""
    text = _text(raw)
    spans = [(place, _end(text, place)) for place in _elements(text, _place(text, path))]
    if not 0 <= index < len(spans):
        raise KeyError(index)
    start, end = spans[index]
    if index + 1 < len(spans):
        return start, spans[index + 1][0]
    return (spans[index - 1][1], end) if index else (start, end)


def new_member(raw: bytes, path: str, key: str, value: bytes, *, spaced: bool = False) -> tuple[int, bytes]:
    """The place in a line, and what to put there, so that the object at `path` begins with a member `key`."""
    text = _text(raw)
    start = _place(text, path)
    more = next(iter(_members(text, start)), None) is not None
    blank = b" " if spaced else b""
    return start + 1, json.dumps(key).encode() + b":" + blank + value + (b"," + blank if more else b"")


def separators(raw: bytes) -> tuple[str, str]:
    """How a line separates its members, and keys from values: `(",", ":")` where it is compact."""
    text = _text(raw)
    places = _members(text, _place(text, ""))
    first = next(places, None)
    if first is None:
        return ",", ":"
    end = _end(text, first[1])
    key = ": " if text[first[1] - 1].isspace() else ":"
    if next(places, None) is None:
        return (", " if key == ": " else ","), key
    return (", " if text[_blanks(text, end) + 1].isspace() else ","), key


def value_at(value: Any, path: str) -> Any:
    """The value at `path` inside a value that was read; KeyError or IndexError if there is no such place."""
    for key, index in STEP.findall(path):
        value = value[key] if key else value[int(index)]
    return value


def element(path: str) -> tuple[str, int]:
    """The path of a list and the index in it, from the path of an element. KeyError if it names none."""
    match = ELEMENT.fullmatch(path)
    if match is None:
        raise KeyError(path)
    return match[1], int(match[2])


def _text(raw: bytes) -> str:
    """A line with one character a byte, so that places in the text are places in the line."""
    return raw.decode("latin-1")


def _place(text: str, path: str) -> int:
    """Where the value at `path` begins."""
    place = _blanks(text, len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK.decode("latin-1")) else 0)
    for key, index in STEP.findall(path):
        place = dict(_members(text, place))[key] if key else dict(enumerate(_elements(text, place)))[int(index)]
    return place


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
