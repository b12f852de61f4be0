"""Durations, instants and sizes as people type them."""

from __future__ import annotations

from datetime import UTC, datetime

from jarvis_ops.errors import UsageError

SECOND = 1000
# A duration beyond this is a slip of the keyboard, and would leave the calendar.
LONGEST = 200 * 366 * 24 * 3600 * SECOND


def duration(text: str, *, zero: bool = False) -> int:
    """The milliseconds of `30d`, `36h` or `1h30m`; `zero` allows nothing at all (for waits). UsageError otherwise."""
    milliseconds = _milliseconds(text)
    if milliseconds is None:
        raise UsageError(f"{text!r} is no duration; write a number with a unit, such as 45s, 5m, 36h or 30d")
    if milliseconds == 0 and not zero:
        raise UsageError(f"{text!r} is a duration of zero, which would mean everything or nothing here")
    if milliseconds > LONGEST:
        raise UsageError(f"{text!r} is longer than 200 years")
    return milliseconds


def _milliseconds(text: str) -> int | None:
    """None for what is no duration: a sign, a bare number, a clock time, or `M`, which may mean months."""
    from pytimeparse.timeparse import timeparse

    if "M" in text or any(sign in text for sign in "+-:") or not text.isascii():
        return None
    if not any(letter.isalpha() for letter in text):
        return None
    number = text.removesuffix("ms")
    if number != text and number.isdigit():
        return int(number)
    seconds = timeparse(text)
    return None if seconds is None else round(seconds * SECOND)


def instant(text: str, now: int) -> int:
    """Milliseconds since the epoch of an ISO 8601 date or time (UTC unless it says otherwise), or of a duration ago."""
    if _milliseconds(text) is not None:
        return now - duration(text)
    moment = iso_time(text)
    if moment is None:
        raise UsageError(f"{text!r} is no date and no duration; write 2026-11-30, 2026-11-30T22:15:00Z or 36h")
    return moment


def iso_time(text: str) -> int | None:
    """Milliseconds since the epoch of an ISO 8601 text, UTC unless it says otherwise; None if it is none."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return round(moment.timestamp() * SECOND)


def iso_text(milliseconds: int | None) -> str | None:
    """The UTC instant as ISO 8601 text with milliseconds; None for none, and for one outside the calendar."""
    if milliseconds is None:
        return None
    try:
        moment = datetime.fromtimestamp(milliseconds / SECOND, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def size(text: str) -> int:
    """The bytes of `8MiB`, `200kB` or a bare number of bytes. UsageError if it is none, or nothing at all."""
    from pydantic import ByteSize, TypeAdapter, ValidationError

    try:
        count = int(TypeAdapter(ByteSize).validate_python(text))
    except (ValidationError, OverflowError) as error:
        raise UsageError(f"{text!r} is no size; write a number of bytes, or one with a unit such as 8MiB") from error
    if count <= 0:
        raise UsageError(f"{text!r} is no size: it must be more than zero")
    return count
