"""Bringing together what the segment rules need: the parts, their markers, and their hashes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jarvis_ops.model.conversation import Conversation
from jarvis_ops.model.finding import Finding
from jarvis_ops.model.record import Position
from jarvis_ops.model.settings import Settings
from jarvis_ops.operations.linear import Linear
from jarvis_ops.rules.segments import Sealed, Segment, judge_numbers, judge_sealed
from jarvis_ops.stores.base import OpenPart, Snapshot


def judge_segments(
    snapshot: Snapshot, conversation: Conversation, linear: Linear, settings: Settings, *, pippa: bool
) -> Iterator[Finding]:
    """All findings about the segments of a conversation that was read forward."""
    parts = [Segment(part.file.file, part.file.number, part.size, linear.sealed.get(part.file.file)) for part in snapshot.parts]
    folder = segments_folder(conversation)
    yield from judge_numbers(parts, folder, due=settings.limits.segment if pippa else None)
    for part, following in zip(snapshot.parts, snapshot.parts[1:], strict=False):
        marker = linear.sealed.get(following.file.file)
        if marker is not None:
            finding = judge_sealed(sealed(snapshot, part, marker, Position(following.file.file, 1, 0), linear))
            if finding is not None:
                yield finding


def segments_folder(conversation: Conversation) -> str:
    """The folder of the segments, relative to the store."""
    stem = conversation.live.file.removesuffix(".jsonl") if conversation.live is not None else None
    for part in conversation.parts:
        if part.number is not None:
            return part.file.rpartition("/")[0]
    return f"{stem or conversation.id}.segments"


def sealed(snapshot: Snapshot, part: OpenPart, marker: Mapping[str, Any], at: Position, linear: Linear) -> Sealed:
    """A segment beside what its marker, or the newest note that it was healed, says of it."""
    name = part.file.file.rpartition("/")[2]
    healed = linear.healed.get(name)
    expected = _hex(marker.get("sha256"))
    size = marker.get("bytes") if isinstance(marker.get("bytes"), int) else None
    if healed is not None:
        expected, size, at = _hex(healed[0].get("new")), None, healed[1]
    digest = snapshot.digest(part) if expected is not None else None
    prefix = None
    if digest != expected and size is not None and part.size > size:
        prefix = snapshot.digest(part, size)
    return Sealed(part.file.file, at, size, expected, part.size, digest, prefix, ends_whole(linear, part))


def ends_whole(linear: Linear, part: OpenPart) -> bool:
    """Whether the last line of a part has its line feed."""
    broken = {"torn-tail", "no-final-newline"}
    return not any(finding.rule in broken and finding.position.file == part.file.file for finding in linear.reading.findings)


def _hex(value: object) -> str | None:
    return value.removeprefix("sha256:").lower() if isinstance(value, str) else None
