"""Bringing together what the segment rules need: the parts, their markers, and their hashes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Protocol

from jarvis_ops.model.conversation import Conversation
from jarvis_ops.model.finding import Finding
from jarvis_ops.model.record import Position
from jarvis_ops.model.settings import Settings
from jarvis_ops.rules.segments import Sealed, Segment, judge_numbers, judge_sealed
from jarvis_ops.stores.base import OpenPart, Snapshot

Fields = Mapping[str, Any]


class Markers(Protocol):
    """What a reading found out about segments.

    `sealed` are the seal markers by the file that they begin, `healed` the notes of healed segments by the name of
    the segment, `compactions` those of compactions; `cut` are files whose last line has no line feed.
    """

    sealed: dict[str, Fields]
    healed: dict[str, tuple[Fields, Position]]
    compactions: list[tuple[Fields, Position]]

    @property
    def cut(self) -> Collection[str]:
        """Files whose last line has no line feed."""


def judge_segments(
    snapshot: Snapshot, conversation: Conversation, markers: Markers, settings: Settings
) -> Iterator[Finding]:
    """All findings about the segments of a conversation that was read forward."""
    parts = [
        Segment(part.file.file, part.file.number, part.size, markers.sealed.get(part.file.file))
        for part in snapshot.parts
    ]
    due = settings.limits.segment if reads_segments(snapshot, markers, settings) else None
    yield from judge_numbers(parts, segments_folder(conversation), due=due)
    for part, following in zip(snapshot.parts, snapshot.parts[1:], strict=False):
        marker = markers.sealed.get(following.file.file)
        if marker is not None:
            finding = judge_sealed(sealed(snapshot, part, marker, Position(following.file.file, 1, 0), markers))
            if finding is not None:
                yield finding


def reads_segments(snapshot: Snapshot, markers: Markers, settings: Settings) -> bool:
    """Whether the agent that owns a conversation reads segments and compactions: Pippa does, JARVIS does not."""
    if settings.profile is not None:
        return settings.profile == "pippa"
    return bool(markers.compactions or markers.sealed) or any(part.file.number is not None for part in snapshot.parts)


def segments_folder(conversation: Conversation) -> str:
    """The folder of the segments, relative to the store."""
    for part in conversation.parts:
        if part.number is not None:
            return part.file.rpartition("/")[0]
    stem = conversation.live.file.removesuffix(".jsonl") if conversation.live is not None else conversation.id
    return f"{stem}.segments"


def sealed(snapshot: Snapshot, part: OpenPart, marker: Fields, at: Position, markers: Markers) -> Sealed:
    """A segment beside what its marker, or the newest note that it was healed, says of it."""
    healed = markers.healed.get(part.file.file.rpartition("/")[2])
    expected = _hex(marker.get("sha256"))
    told = marker.get("bytes")
    size = told if isinstance(told, int) and not isinstance(told, bool) else None
    if healed is not None:
        expected, size, at = _hex(healed[0].get("new")), None, healed[1]
    digest = snapshot.digest(part) if expected is not None else None
    prefix = None
    if digest != expected and size is not None and part.size > size:
        prefix = snapshot.digest(part, size)
    return Sealed(part.file.file, at, size, expected, part.size, digest, prefix, part.file.file not in markers.cut)


def _hex(value: object) -> str | None:
    return value.removeprefix("sha256:").lower() if isinstance(value, str) else None
