"""Sealed segments: their numbers, the markers behind them, and whether they are still what was sealed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from jarvis_ops.model.finding import Finding
from jarvis_ops.model.record import Position
from jarvis_ops.rules.findings import found
from jarvis_ops.rules.words import counted

NAME = "{:06d}.jsonl"


class Segment(NamedTuple):
    """A part as the segment rules see it: its number (None for the live file) and size in bytes.

    `marker` holds the fields of the seal marker in its first line, None when the line is none. `ends_whole`
    says that its last byte is a line feed.
    """

    file: str
    number: int | None
    size: int
    marker: Mapping[str, Any] | None


class Sealed(NamedTuple):
    """What a segment must be, from its marker (or the newest note that it was healed), and what it is.

    `digest` is the sha256 of all of it, `prefix` of its first `size` bytes; both hex, None where not needed.
    """

    file: str
    marker: Position
    size: int | None
    expected: str | None
    actual_size: int
    digest: str | None
    prefix: str | None
    ends_whole: bool


def judge_numbers(parts: Sequence[Segment], folder: str, *, due: int | None) -> Iterator[Finding]:
    """Gaps, missing markers, a missing live file, and a live file over `due` bytes.

    `folder` is the segments' folder; `due` is None for a store whose agent does not read segments.
    """
    sealed = [part for part in parts if part.number is not None]
    numbers = [part.number for part in sealed if part.number is not None]
    yield from judge_gaps(parts, numbers, folder)
    for part in parts[1:]:
        if part.marker is None:
            detail = "the file behind a segment does not begin with the note of its sealing"
            yield found("segment-marker-missing", Position(part.file, 1, 0), detail)
    live = next((part for part in parts if part.number is None), None)
    if sealed and live is None:
        yield found(
            "live-missing", Position(sealed[-1].file), f"{counted(len(sealed), 'segment')}, and no live file behind"
        )
    if due is not None and live is not None and live.size >= due:
        yield found(
            "segment-due", Position(live.file), f"the live file has {live.size:,} bytes", facts={"bytes": live.size}
        )


def judge_gaps(parts: Sequence[Segment], numbers: Sequence[int], folder: str) -> Iterator[Finding]:
    """Numbers that are missing: between segments, before the first, or behind the last by the live file's marker."""
    if not parts:
        return
    expected = numbers[0] if numbers and numbers[0] in {0, 1} else 1
    present = set(numbers)
    last = max(numbers, default=0)
    marker = parts[-1].marker if parts[-1].number is None else None
    told = marker.get("seq") if marker is not None else None
    if isinstance(told, int) and not isinstance(told, bool) and 0 <= told < 1_000_000:
        last = max(last, told)
    elif not numbers:
        return
    missing = [number for number in range(expected, last + 1) if number not in present]
    for number in missing[:100]:
        name = NAME.format(number)
        detail = f"segment {name} is missing: the full record cannot be read ({len(missing)} missing)"
        yield found(
            "segment-gap", Position(f"{folder}/{name}"), detail, facts={"segment": name, "missing": len(missing)}
        )


def judge_sealed(sealed: Sealed) -> Finding | None:
    """Whether a segment is still what its marker says."""
    changed = (sealed.expected is not None and sealed.digest is not None and sealed.digest != sealed.expected) or (
        sealed.expected is None and sealed.size is not None and sealed.actual_size != sealed.size
    )
    if not changed:
        return None
    facts = {"bytes": sealed.actual_size, "sealed_bytes": sealed.size, "marker": sealed.marker.file}
    at = Position(sealed.file)
    grown = sealed.size is not None and sealed.actual_size > sealed.size
    if grown and sealed.prefix is not None and sealed.prefix == sealed.expected and sealed.ends_whole:
        more = sealed.actual_size - (sealed.size or 0)
        return found(
            "late-lines",
            at,
            f"{more:,} bytes of whole lines came after the sealing; the sealed part is unchanged",
            facts=facts,
        )
    return found("segment-changed", at, "the segment is not what was sealed", facts=facts)
