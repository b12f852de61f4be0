"""Samples of damaged segments, compaction marks, metadata and files that nobody reads."""

from __future__ import annotations

import hashlib

from builders.dialog import Dialog, call
from builders.folder import Folder, line, sample, seal


def chapter(first: int, *pairs: tuple[str, str]) -> Dialog:
    """Questions and answers, each a turn of two lines; the first id is `m<first>`."""
    talk = Dialog(first_id=first, time=1_768_467_600_000 + first * 60_000)
    for question, answer in pairs:
        talk.user(question, turn_id=f"t{talk.next_id}")
        talk.answer(answer, turn_id=f"t{talk.next_id - 1}")
    return talk


def tea() -> Dialog:
    return chapter(1, ("Which tea keeps me calm?", "Chamomile."), ("그럼 아침에는?", "아침에는 녹차가 좋아요."))


def bread() -> Dialog:
    return chapter(5, ("How long does dough rest?", "A night in the cool."), ("And the oven?", "Hot: 240 degrees."))


def garden() -> Dialog:
    return chapter(9, ("When do I sow peas?", "As soon as the ground thaws."))


def sealed(folder: Folder, *numbers: int) -> Folder:
    """Write the healthy conversation `kitchen` of two segments and a live file; only the segments `numbers`."""
    first = b"".join(tea().lines)
    second = seal("kitchen", 1, first) + b"".join(bread().lines)
    if 1 in numbers:
        folder.put("kitchen.segments/000001.jsonl", first)
    if 2 in numbers:
        folder.put("kitchen.segments/000002.jsonl", second)
    folder.log("kitchen", seal("kitchen", 2, second), *garden().lines)
    return folder


@sample("segment-gap")
def segment_gap(folder: Folder) -> None:
    first = b"".join(tea().lines)
    folder.put("kitchen.segments/000001.jsonl", first)
    third = seal("kitchen", 2, first) + b"".join(bread().lines)
    folder.put("kitchen.segments/000003.jsonl", third)
    folder.log("kitchen", seal("kitchen", 3, third), *garden().lines)
    folder.expect("segment-gap", "error", "kitchen.segments/000002.jsonl")


@sample("segment-changed")
def segment_changed(folder: Folder) -> None:
    sealed(folder, 1, 2)
    changed = b"".join(tea().lines).replace(b"Chamomile.", b"Peppermint")
    folder.put("kitchen.segments/000001.jsonl", changed)
    folder.expect("segment-changed", "error", "kitchen.segments/000001.jsonl")


@sample("late-lines")
def late_lines(folder: Folder) -> None:
    sealed(folder, 1, 2)
    more = Dialog(first_id=30)
    more.answer("One more word on tea: let it cool a little.")
    folder.put("kitchen.segments/000001.jsonl", *tea().lines, *more.lines)
    folder.expect("late-lines", "warning", "kitchen.segments/000001.jsonl")


@sample("healed-segment")
def healed_segment(folder: Folder) -> None:
    """A segment differs from its marker, and the note of its repair says so: nothing is wrong."""
    first = b"".join(tea().lines)
    new = first.replace(b"Chamomile.", b"Chamomile tea.")
    live = seal("kitchen", 1, first) + b"".join(bread().lines)
    hashes = {"old": hashlib.sha256(first).hexdigest(), "new": hashlib.sha256(new).hexdigest()}
    note = {"type": "pippa_segment_healed", "segment": "000001.jsonl", **hashes, "run": "20260116T080000Z-3fa9"}
    folder.put("kitchen.segments/000001.jsonl", new)
    folder.log("kitchen", live, line(note))


@sample("orphan-file")
def orphan_file(folder: Folder) -> None:
    sealed(folder, 1, 2)
    folder.put("kitchen.segments/3.jsonl", *garden().lines)
    folder.expect("orphan-file", "warning", "kitchen.segments/3.jsonl")


@sample("leftover-file")
def leftover_file(folder: Folder) -> None:
    folder.log("kitchen", *tea().lines)
    folder.put("kitchen.jsonl.bak", *tea().lines[:2])
    folder.expect("leftover-file", "info", "kitchen.jsonl.bak")


@sample("segment-marker-missing")
def segment_marker_missing(folder: Folder) -> None:
    folder.put("kitchen.segments/000001.jsonl", *tea().lines)
    folder.log("kitchen", *bread().lines)
    folder.expect("segment-marker-missing", "warning", "kitchen.jsonl", 1)


@sample("live-missing")
def live_missing(folder: Folder) -> None:
    folder.put("kitchen.segments/000001.jsonl", *tea().lines)
    folder.metadata("kitchen")
    folder.expect("live-missing", "warning", "kitchen.segments/000001.jsonl")


@sample("turn-split")
def turn_split(folder: Folder) -> None:
    talk = bread()
    talk.user("Bake it now.", turn_id="t9")
    talk.answer("", call("call_1", "oven", degrees=240), turn_id="t9")
    talk.result("call_1", "240 degrees in nine minutes", turn_id="t9")
    first = b"".join(talk.lines)
    rest = Dialog(first_id=12, time=talk.time)
    rest.answer("The oven is on.", turn_id="t9")
    folder.put("kitchen.segments/000001.jsonl", first)
    folder.log("kitchen", seal("kitchen", 1, first), *rest.lines)
    folder.expect("turn-split", "warning", "kitchen.jsonl", 2, id="m12")


@sample("compaction-dangling")
def compaction_dangling(folder: Folder) -> None:
    talk = tea()
    fields = {"type": "pippa_compaction", "id": "m90", "summary": "We spoke of tea."}
    at = talk.raw(line({**fields, "from_id": "m1", "through_id": "m77", "count": 77, "compacted_at": talk.time}))
    folder.log("kitchen", *talk.lines, *bread().lines)
    folder.expect("compaction-dangling", "error", "kitchen.jsonl", at, id="m90")


@sample("meta-missing")
def meta_missing(folder: Folder) -> None:
    folder.log("kitchen", *tea().lines)
    folder.put("garden.jsonl", *garden().lines)
    folder.expect("meta-missing", "warning", "garden.jsonl")


@sample("meta-invalid")
def meta_invalid(folder: Folder) -> None:
    folder.put("kitchen.jsonl", *tea().lines)
    folder.put("kitchen.meta.json", b'{"id":"kitchen","title":"Tea an')
    folder.expect("meta-invalid", "warning", "kitchen.meta.json")


@sample("stale-running")
def stale_running(folder: Folder) -> None:
    running = {"state": "running", "turn_id": "t3", "turn_started_at": 1_768_467_600_000}
    folder.log("kitchen", *tea().lines, **running)
    folder.expect("stale-running", "warning", "kitchen.meta.json")


@sample("empty-file")
def empty_file(folder: Folder) -> None:
    folder.log("kitchen")
    folder.expect("empty-file", "info", "kitchen.jsonl")


@sample("unreadable")
def unreadable(folder: Folder) -> None:
    folder.log("kitchen", *tea().lines)
    folder.text("garden.jsonl/README", "A folder that bears the name of a log: its conversation cannot be read.\n")
    folder.expect("unreadable", "error", "garden.jsonl")
    folder.unreadable = True
