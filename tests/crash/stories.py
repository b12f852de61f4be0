"""Operations to be interrupted: a heal, an undo, a heal of a segment and the live file together."""

from __future__ import annotations

import os

from jarvis_ops.model.conversation import Conversation, PartFile
from jarvis_ops.model.pieces import Span
from jarvis_ops.model.plan import Change
from jarvis_ops.stores.jsonl.journal import load
from jarvis_ops.stores.jsonl.ours import Files, ours
from jarvis_ops.stores.jsonl.recovery import recover
from jarvis_ops.stores.jsonl.rewrite import Rewrite
from jarvis_ops.stores.jsonl.undo import undoing
from tests.crash.explore import Story
from tests.crash.model import MemoryDisk
from tests.stores.changes import LATER, NEW, OLD, RUN, change_of, healed, lines

LIVE, SEGMENT = "a.jsonl", "a.segments/000001.jsonl"
TAKEN_OUT = OLD[24:38]


def conversation_in(folder: str, *, sealed: bool = False) -> Conversation:
    live = PartFile(LIVE, os.path.join(folder, LIVE))
    segment = PartFile(SEGMENT, os.path.join(folder, SEGMENT), 1)
    return Conversation(id="a", session_id="a", folder="", parts=(segment, live) if sealed else (live,), live=live)


def disk_with(files: dict[str, bytes]) -> MemoryDisk:
    disk = MemoryDisk()
    for file, data in files.items():
        path = os.path.join("/s", file)
        for folder in ("/s", os.path.dirname(path)):
            if disk.status(folder) is None:
                disk.make_folder(folder)
        descriptor = disk.create(path)
        disk.write(descriptor, data)
        disk.close(descriptor)
    disk.settle()
    return disk


def healing(folder: str) -> Change:
    """The change of OLD into NEW."""
    return change_of(conversation_in(folder), {LIVE: OLD}, {LIVE: healed()}, inserted=("made",))


def heal(disk: Files, folder: str) -> None:
    """Heal OLD into NEW."""
    change = healing(folder)
    Rewrite(disk, ours(disk, change.conversation), change, RUN).run()


def undo(disk: Files, folder: str) -> None:
    """Take that back."""
    conversation = conversation_in(folder)
    mine = ours(disk, conversation)
    change = undoing(disk, mine, load(disk, mine.journal(RUN)), conversation)
    Rewrite(disk, mine, change, LATER).run()


SEALED = {SEGMENT: lines("s1", "s2"), LIVE: lines("m1", "r1", "m2")}
OPENED = {SEGMENT: lines("s1", "r1", "s2"), LIVE: lines("m1", "m2", "note")}


def healing_sealed(folder: str) -> Change:
    """The change that moves a line from the live file into a segment, and leaves a note."""
    segment: list[Span | bytes] = [Span(SEGMENT, 0, 12), Span(LIVE, 12, 24), Span(SEGMENT, 12, 24)]
    live: list[Span | bytes] = [Span(LIVE, 0, 12), Span(LIVE, 24, 36), lines("note")]
    return change_of(conversation_in(folder, sealed=True), SEALED, {SEGMENT: segment, LIVE: live})


def heal_sealed(disk: Files, folder: str) -> None:
    """Heal SEALED into OPENED."""
    change = healing_sealed(folder)
    Rewrite(disk, ours(disk, change.conversation), change, RUN).run()


def recovered(disk: Files) -> None:
    conversation = conversation_in("/s")
    recover(disk, ours(disk, conversation), conversation.id)


def stopped_at(name: str) -> MemoryDisk:
    """What a kill leaves of a heal, before its first call of this name after the journal said that all is ready."""
    disk = disk_with({LIVE: OLD})
    kept: list[MemoryDisk] = []

    def step(called: str) -> None:
        if called == name and not kept and b'"ready"' in b"".join(data for _, data in disk.tree().values()):
            kept.append(disk.killed())

    disk.step = step
    heal(disk, "/s")
    kept[0].settle()
    return kept[0]


def with_late_lines(disk: MemoryDisk, late: tuple[bytes, ...]) -> MemoryDisk:
    """A disk whose only backup has got further lines."""
    (path,) = [path for path in disk.tree() if path.endswith(".bak")]
    disk.append(disk.node_at(path), b"".join(late))
    disk.settle()
    return disk


def placed(files: dict[str, bytes]) -> dict[str, bytes]:
    return {f"/s/{file}": data for file, data in files.items()}


def stories() -> dict[str, Story]:
    healed_disk = disk_with({LIVE: OLD})
    heal(healed_disk, "/s")
    healed_disk.settle()
    late = (b'{"id":"late0"}\n', b'{"id":"late1"}\n')
    return {
        "put-back": Story(
            "put-back",
            stopped_at("waiting"),
            recovered,
            conversation_in("/s"),
            placed({LIVE: OLD}),
            placed({LIVE: OLD}),
            keeps=False,
        ),
        "carry": Story(
            "carry",
            with_late_lines(healed_disk.killed(), late),
            recovered,
            conversation_in("/s"),
            placed({LIVE: NEW}),
            placed({LIVE: NEW}),
            late=late,
            keeps=False,
        ),
        "heal": Story(
            "heal",
            disk_with({LIVE: OLD}),
            lambda disk: heal(disk, "/s"),
            conversation_in("/s"),
            placed({LIVE: OLD}),
            placed({LIVE: NEW}),
            TAKEN_OUT,
        ),
        "undo": Story(
            "undo",
            healed_disk,
            lambda disk: undo(disk, "/s"),
            conversation_in("/s"),
            placed({LIVE: NEW}),
            placed({LIVE: OLD}),
        ),
        "heal-sealed": Story(
            "heal-sealed",
            disk_with(SEALED),
            lambda disk: heal_sealed(disk, "/s"),
            conversation_in("/s", sealed=True),
            placed(SEALED),
            placed(OPENED),
        ),
    }
