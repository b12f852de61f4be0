"""Finding the whole records in a line that is not one, by parsing from each place where one may begin."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import orjson

IsRecord = Callable[[Mapping[str, Any]], bool]

# A seam is looked for in vain at so many places of a line at most, and until so many times its length has been read.
SEAMS = 10_000
EFFORT = 8
LEAST_EFFORT = 1 << 20
ALONE = re.compile(r"\s*(?:\{|\Z)")
# Blanks before the first object of a line are at most so many.
NEAR = 4_096
OBJECT_START = re.compile(r'\{\s*"')


class Piece(NamedTuple):
    """A whole record found inside a damaged line: its JSON object and its bytes, as [start, end) within the line."""

    value: dict[str, Any]
    start: int
    end: int


def records_in(raw: bytes, is_record: IsRecord) -> list[Piece]:
    """The whole records in a line, found by parsing from each place where one may begin, never by looking for `}{`."""
    line = raw.decode("latin-1")  # one character a byte, so that places in the text are places in the line
    found: list[Piece] = []
    position, seams, effort = 0, 0, max(EFFORT * len(raw), LEAST_EFFORT)
    while (start := next_object(line, position)) is not None and seams < SEAMS and effort > 0:
        end, read_to = object_end(line, start)
        value = whole_record(raw, line, start, end, is_record) if end is not None else None
        if end is not None and value is not None:
            found.append(Piece(value, start, end))
            position = end
        else:
            seams += 1
            effort -= read_to - start
            position = start + 1
    return found


def whole_record(raw: bytes, line: str, start: int, end: int, is_record: IsRecord) -> dict[str, Any] | None:
    """The object at [start, end), unless it is only a part of a torn record around it.

    A part of another record has more of that record behind it; a record of its own has nothing, or the
    next object. At the beginning of the line nothing can be around it.
    """
    first = not line[:start].strip() if start < NEAR else False
    alone = ALONE.match(line, end) is not None
    if not (first or alone):
        return None
    value = parse(raw[start:end])
    return value if value is not None and ((first and alone) or is_record(value)) else None


def next_object(line: str, position: int) -> int | None:
    """The next place from `position` on where an object with a key may begin."""
    match = OBJECT_START.search(line, position)
    return match.start() if match else None


def object_end(line: str, start: int) -> tuple[int | None, int]:
    """Where the JSON value that begins at `start` ends (None when it is not whole), and how far it was read."""
    try:
        end = json.JSONDecoder().raw_decode(line, start)[1]
    except json.JSONDecodeError as error:
        return None, max(error.pos, start)
    except (ValueError, RecursionError):  # a number of more digits than Python reads, or nesting deeper than it goes
        return None, len(line)
    return end, end


def strict(raw: bytes) -> Any:
    """The value of a line as the strict reader sees it, None when it refuses it."""
    try:
        return orjson.loads(raw)
    except (orjson.JSONDecodeError, RecursionError):
        return None


def parse(raw: bytes) -> dict[str, Any] | None:
    """An object as any reader may read it: strictly, else with bad bytes replaced and lone surrogates let through."""
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        try:
            value = json.loads(raw.decode(errors="replace"))
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, dict) else None
