"""What is wrong with the bytes of a line that is not one strict JSON object, and what in it can still be read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, NamedTuple

import orjson

from jarvis_ops.rules.seams import IsRecord, Piece, parse, records_in
from jarvis_ops.rules.words import counted

NUL = b"\x00"
# A line feed inside a string is looked for in so many further lines and bytes at most.
JOINED_LINES = 1_000
JOINED_BYTES = 16 << 20
JOIN_TRIES = 20
BARE_QUOTE = re.compile(rb'(?<!\\)(?:\\\\)*"')
LAST_ID = re.compile(rb'"uuid"\s*:\s*"([^"\\]{1,200})"')
FIRST_ID = re.compile(rb'^\s*\{\s*"id"\s*:\s*"([^"\\]{1,200})"')
SURROGATE = re.compile("[\ud800-\udfff]")


class Damage(NamedTuple):
    """The verdict on a damaged line: one rule, what it holds that can be read, and how many lines it takes up."""

    rule: str
    detail: str
    facts: dict[str, Any]
    pieces: tuple[Piece, ...] = ()
    record_id: str | None = None
    lines: int = 1


class ConstantError(ValueError):
    """NaN or Infinity, which Python's reader takes and the providers refuse."""


def examine(raw: bytes, *, final: bool, following: Callable[[], Iterable[bytes]], is_record: IsRecord) -> Damage | None:
    """The first rule that fits a line which the strict reader refused; None when the refusal was only about a number.

    `raw` is the line with its line feed, `final` says that it is the last of its file, `following` gives
    the lines behind it (up to JOINED_LINES).
    """
    if NUL in raw:
        return nul_run(raw, is_record)
    readable = leniently(raw)
    if readable is not None:
        return readable.damage
    return (
        split_line(raw, following)
        or glued(raw, is_record)
        or torn_tail(raw, final=final)
        or bad_utf8(raw)
        or Damage("bad-line", "the line is not one JSON object", {"bytes": len(raw)}, (), lost_id(raw))
    )


class Lenient(NamedTuple):
    """A line that a Python agent can read although the strict reader refuses it."""

    damage: Damage | None


def leniently(raw: bytes) -> Lenient | None:
    """Judge a line that is whole for Python's own reader; None when it is not even that."""
    try:
        value = json.loads(raw.decode())
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return Lenient(Damage("bad-line", f"a JSON {kind(value)} stands where an object must", {"bytes": len(raw)}))
    if too_deep(raw):
        return Lenient(Damage("bad-line", "it is nested too deeply to be read", {"bytes": len(raw)}))
    whole = (Piece(value, 0, len(raw)),)
    lone = lone_surrogate(value)
    if lone is not None:
        path, half = lone
        facts = {"value": half, "path": path}
        return Lenient(Damage("lone-surrogate", f"half a surrogate pair, \\u{half}, at {path}", facts, whole))
    try:
        json.loads(raw.decode(), parse_constant=refuse)
    except ConstantError as error:
        return Lenient(Damage("bad-line", f"{error} is no JSON value", {"bytes": len(raw)}, whole))
    return Lenient(None)


def refuse(name: str) -> None:
    """Called for NaN, Infinity and -Infinity."""
    raise ConstantError(name)


def kind(value: object) -> str:
    """What a JSON value that is no object is called."""
    return {list: "list", str: "string", bool: "boolean", type(None): "null"}.get(type(value), "number")


def lone_surrogate(value: object) -> tuple[str, str] | None:
    """Where an unpaired half stands inside a value, and which (four hex digits)."""
    waiting: list[tuple[str, object]] = [("", value)]
    while waiting:
        path, inner = waiting.pop()
        if isinstance(inner, str):
            half = SURROGATE.search(inner)
            if half is not None:
                return path, f"{ord(half.group()):04x}"
        elif isinstance(inner, dict):
            half = next((half for key in inner if (half := SURROGATE.search(key))), None)
            if half is not None:
                return f"{path}.(a key)".lstrip("."), f"{ord(half.group()):04x}"
            waiting += [(f"{path}.{key}".lstrip("."), item) for key, item in reversed(inner.items())]
        elif isinstance(inner, list):
            waiting += reversed([(f"{path}[{number}]", item) for number, item in enumerate(inner)])
    return None


def too_deep(raw: bytes) -> bool:
    """Whether the strict reader refuses a line for its nesting, which Python's own may bear."""
    try:
        orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        return any(word in str(error).lower() for word in ("depth", "recursion"))
    return False


def nul_run(raw: bytes, is_record: IsRecord) -> Damage:
    """NUL bytes: what stands around or behind them is kept where it is whole."""
    start = raw.index(NUL)
    rest = raw.replace(NUL, b"")
    whole = parse(rest)
    if whole is not None:
        pieces: tuple[Piece, ...] = (Piece(whole, 0, len(raw)),)
    else:
        pieces = tuple(records_in(rest, is_record)) if rest.strip() else ()
    count = raw.count(NUL)
    facts = {"bytes": count, "at": start, "records": len(pieces)}
    return Damage(
        "nul-run",
        f"{counted(count, 'NUL byte')}, {counted(len(pieces), 'whole record')} around",
        facts,
        pieces,
        lost_id(rest),
    )


def split_line(raw: bytes, following: Callable[[], Iterable[bytes]]) -> Damage | None:
    """A line feed inside a string: the lines give one record when they are joined by an escaped one.

    Inside a string no quote stands bare, so only a line with one can end the record, or the search.
    """
    if not open_string(raw):
        return None
    pieces, size, tries = [escaped_end(raw)], len(raw), 0
    for number, line in enumerate(islice(following(), JOINED_LINES), start=2):
        size += len(line)
        if size > JOINED_BYTES or NUL in line:
            return None
        if BARE_QUOTE.search(line):
            tries += 1
            joined = b"".join((*pieces, line))
            value = parse(joined)
            if value is not None:
                facts = {"records": 1, "count": number}
                detail = f"one record broken over {number} lines by a raw line feed in a string"
                return Damage("split-line", detail, facts, (Piece(value, 0, len(raw)),), None, number)
            if tries == JOIN_TRIES or not open_string(joined):
                return None
        pieces.append(escaped_end(line))
    return None


def open_string(raw: bytes) -> bool:
    """Whether a line begins an object and ends in the middle of one of its strings."""
    if not raw.lstrip().startswith(b"{"):
        return False
    try:
        json.loads(raw.rstrip(b"\r\n").decode(errors="replace"))
    except json.JSONDecodeError as error:
        return error.msg.startswith("Unterminated string")
    except (ValueError, RecursionError):
        return False
    return False


def escaped_end(line: bytes) -> bytes:
    """A line with its end written as an escape."""
    body = line.removesuffix(b"\n")
    return (body[:-1] + b"\\r\\n") if body.endswith(b"\r") else body + b"\\n"


def glued(raw: bytes, is_record: IsRecord) -> Damage | None:
    """Several records on one line, or a torn piece with whole records beside it."""
    pieces = records_in(raw, is_record)
    if not pieces:
        return None
    body = raw.strip()
    torn = len(body) - sum(len(raw[piece.start : piece.end].strip()) for piece in pieces)
    if torn == 0 and len(pieces) == 1:
        return None  # one record and nothing beside it: its text is at fault
    head = raw[: pieces[0].start].strip()
    facts: dict[str, Any] = {"records": len(pieces), "torn_bytes": torn}
    detail = (
        f"{counted(len(pieces), 'whole record')} on one line"
        if not torn
        else f"{counted(torn, 'torn byte')} and {counted(len(pieces), 'whole record')} on one line"
    )
    if head and raw[pieces[0].start : pieces[0].end].startswith(head):
        facts["superseded"] = True
        detail += "; the torn piece is the beginning of the record behind it, so nothing is lost"
    return Damage("glued-lines", detail, facts, tuple(pieces))


def torn_tail(raw: bytes, *, final: bool) -> Damage | None:
    """The last line, cut off in the middle: no line feed and no whole value."""
    if not final or raw.endswith(b"\n"):
        return None
    return Damage(
        "torn-tail",
        f"the last line is cut off after {counted(len(raw), 'byte')}",
        {"bytes": len(raw)},
        (),
        lost_id(raw),
    )


def bad_utf8(raw: bytes) -> Damage | None:
    """Bytes that are no UTF-8; the record counts as whole when only its text suffers."""
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        value = parse(raw)
        pieces = (Piece(value, 0, len(raw)),) if value is not None else ()
        facts = {"at": error.start, "records": len(pieces)}
        return Damage(
            "bad-utf8", f"byte {error.start} of the line is not UTF-8", facts, pieces, None if pieces else lost_id(raw)
        )
    return None


def lost_id(raw: bytes) -> str | None:
    """The id of a record of which only a piece is left: `uuid` stands near the end of a record, `id` at its start."""
    uuids = LAST_ID.findall(raw) if raw.rstrip().endswith(b"}") else []  # in a torn line it could be a nested one
    found = uuids[-1] if uuids else next(iter(FIRST_ID.findall(raw)), None)
    return found.decode(errors="replace") if found is not None else None
