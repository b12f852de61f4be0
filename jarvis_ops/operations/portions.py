"""One long conversation looked at by several processes: each takes the turns between two places.

A portion begins at a prompt of the user's, where no call is open, so that the portions can be joined afterwards as if
one loop had gone through all of them. Anything else is odd, and left to the exact way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jarvis_ops.dialects.jarvis import Jarvis
from jarvis_ops.errors import OpsError
from jarvis_ops.model.conversation import Conversation
from jarvis_ops.model.settings import Settings
from jarvis_ops.operations.screen import Screen, screened
from jarvis_ops.rules.seams import strict
from jarvis_ops.stores.base import OpenPart, Place, Snapshot, Store

if TYPE_CHECKING:
    from concurrent.futures import Executor

# A process more pays only for so many bytes.
SMALLEST = 24 << 20
# A place to cut at is looked for in so many bytes.
SEARCHED = 8 << 20


def screened_in_portions(
    store: Store, conversation: Conversation, snapshot: Snapshot, settings: Settings, executor: Executor, workers: int
) -> Screen | None:
    """The screen of a whole conversation, made from portions: the first one here, the others by `executor`."""
    cuts = places(snapshot, workers + 1)
    parts = [identity(part) for part in snapshot.parts]
    ends: list[Place | None] = [*cuts[1:], None]
    waiting = [
        executor.submit(screen_portion, store, conversation, parts, begin, end, settings)
        for begin, end in zip(cuts[1:], ends[1:], strict=True)
    ]
    screens = [screened(snapshot, settings, begin=cuts[0], end=ends[0]), *(future.result() for future in waiting)]
    whole = screens[0]
    for screen in screens[1:]:
        if whole is None or screen is None or not whole.join(screen):
            return None
    return whole if whole is not None and whole.settled() else None


def screen_portion(
    store: Store,
    conversation: Conversation,
    parts: Sequence[tuple[int, int]],
    begin: Place,
    end: Place | None,
    settings: Settings,
) -> Screen | None:
    """The screen of one portion; None when it is odd, or when the conversation is no longer made of these parts."""
    try:
        with store.open(conversation) as snapshot:
            if [identity(part) for part in snapshot.parts] != list(parts):
                return None
            return screened(snapshot, settings, begin=begin, end=end)
    except OpsError:
        return None


def identity(part: OpenPart) -> tuple[int, int]:
    """What tells one file from another."""
    return part.device, part.inode


def places(snapshot: Snapshot, wanted: int) -> list[Place]:
    """Where portions of about equal size begin: the first at the beginning, the others at prompts."""
    total = sum(part.size for part in snapshot.parts)
    number = max(1, min(wanted, total // SMALLEST))
    found = [Place(0, 0)]
    for portion in range(1, number):
        place = next_prompt(snapshot, total * portion // number)
        if place is not None and place > found[-1]:
            found.append(place)
    return found


def next_prompt(snapshot: Snapshot, distance: int) -> Place | None:
    """The first line behind so many bytes of the conversation that is a prompt of the user's."""
    number = 0
    for number, part in enumerate(snapshot.parts):  # noqa: B007 - the number at the end is the place
        if distance < part.size:
            break
        distance -= part.size
    dialect, searched, begun = Jarvis(), 0, distance == 0
    for chunk in snapshot.chunks(Place(number, distance), Place(number + 1, 0)):
        offset = chunk.first_offset
        for line in chunk.lines:
            value = strict(line) if begun else None
            if isinstance(value, dict) and dialect.decode(value).typed:
                return Place(number, offset)
            begun = True  # the line in which the search began is no whole one
            offset += len(line)
            searched += len(line)
        if searched > SEARCHED:
            break
    return None
