"""No line is lost, doubled or displaced, wherever a change is stopped, and whoever writes meanwhile."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import pytest

from jarvis_ops.stores.jsonl.ours import ours
from jarvis_ops.stores.jsonl.recovery import recover
from tests.crash import naive
from tests.crash.actors import KINDS, Holder, Reopener, Slowpoke, Visitor, Writer
from tests.crash.explore import LIVE, Explorer, Findings, Story
from tests.crash.model import Kind, MemoryDisk
from tests.crash.stories import conversation_in, disk_with, heal, stories, with_late_lines
from tests.stores.changes import NEW, OLD, lines

STORIES = stories()
MEANS = [(True, True), (True, False), (False, True), (False, False)]
# In a full run; heal and undo alone make up more than 20,000.
LEAST = {"heal": 2000, "undo": 1500, "heal-sealed": 1500, "put-back": 300, "carry": 400}


def explored(story: Story, kind: Kind, *, leases: bool, exchanges: bool, full: bool) -> Findings:
    findings = Findings()
    explorer = Explorer(story, findings, limit=60 if full else 16, deep=8 if full else 60)
    steps = explorer.run(kind, None, -1, leases=leases, exchanges=exchanges)
    for writer in KINDS:
        for at in range(0, steps, 1 if full else 12):
            explorer.run(kind, writer, at, leases=leases, exchanges=exchanges)
    return findings


@pytest.mark.parametrize(("leases", "exchanges"), MEANS)
@pytest.mark.parametrize("kind", ["ordered", "weakest"])
@pytest.mark.parametrize("name", LEAST)
def test_nothing_is_lost(name: str, kind: Kind, leases: bool, exchanges: bool, full: bool) -> None:
    findings = explored(STORIES[name], kind, leases=leases, exchanges=exchanges, full=full)
    assert findings.wrong == []
    assert findings.states >= (LEAST[name] if full else 100)


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="it loses what a writer appends")
@pytest.mark.parametrize("flushed", [True, False])
def test_a_naive_heal(flushed: bool, full: bool) -> None:
    story = dataclasses.replace(
        STORIES["heal"], operate=lambda disk: naive.heal(disk, "/s", flushed=flushed), aside=b"", keeps=False
    )
    findings = explored(story, "ordered", leases=True, exchanges=True, full=full)
    assert not any("is lost" in each for each in findings.wrong)


def test_a_naive_heal_loses_lines_to_every_writer() -> None:
    story = dataclasses.replace(STORIES["heal"], operate=lambda disk: naive.heal(disk, "/s"), aside=b"", keeps=False)
    for writer in (Reopener, Visitor, Holder):
        findings = Findings()
        explorer = Explorer(story, findings)
        for at in range(6):
            explorer.run("ordered", writer, at)
        assert any("is lost" in each for each in findings.wrong), writer


def stop_when(disk: MemoryDisk, previous: str, name: str) -> list[MemoryDisk]:
    """Filled, while a heal of this disk runs, with the disk before its first call `name` after a call `previous`."""
    called: list[str] = []
    found: list[MemoryDisk] = []

    def step(now: str) -> None:
        called.append(now)
        if now == name and previous in called and not found:
            found.append(disk.killed())

    disk.step = step
    return found


def check(disk: MemoryDisk, expected: bytes) -> None:
    conversation = conversation_in("/s")
    recover(disk, ours(disk, conversation), "a")
    assert disk.node_at(LIVE).data == expected
    assert recover(disk, ours(disk, conversation), "a") == []


def test_a_line_that_was_added_to_a_new_file_whose_name_did_not_survive() -> None:
    """The swap is undone by the power cut, but a writer has flushed a line into the file that had been put in place."""
    disk = disk_with({"a.jsonl": OLD})
    disk.kind = "weakest"
    found = stop_when(disk, "exchange", "flush_folder")
    heal(disk, "/s")
    disk = found[0]
    line = lines("w")
    node = disk.node_at(LIVE)
    disk.append(node, line)
    disk.flush_node(node)
    back = [cut for cut in disk.cut(1000, 1) if cut.node_at(LIVE).data == OLD]
    assert any(data == NEW + line for cut in back for _, data in cut.tree().values())
    for cut in [*disk.cut(1000, 1)]:
        check(cut, NEW + line)


def test_a_line_that_was_torn_while_it_was_carried_over() -> None:
    """The second start does not glue the line to what the power cut has left of it."""
    disk = disk_with({"a.jsonl": OLD})
    heal(disk, "/s")
    late = lines("late0", "late1")
    disk = with_late_lines(disk, (late,))
    stops: list[MemoryDisk] = []

    def step(name: str) -> None:
        if name == "flush" and disk.node_at(LIVE).data != NEW:
            stops.append(disk.killed())

    disk.step = step
    recover(disk, ours(disk, conversation_in("/s")), "a")
    tails = set()
    for stop in stops:
        for cut in stop.cut(1000, 1):
            tails.add(cut.node_at(LIVE).data)
            recover(cut, ours(cut, conversation_in("/s")), "a")
            whole = cut.node_at(LIVE).data.replace(b"\0", b"").split(b"\n")
            assert [line + b"\n" for line in whole if line + b"\n" in late.splitlines(keepends=True)] == [
                lines("late0"),
                lines("late1"),
            ]
    assert any(not tail.endswith(b"\n") for tail in tails)


def test_a_line_that_was_added_to_the_old_file_when_all_was_over() -> None:
    disk = disk_with({"a.jsonl": OLD})
    heal(disk, "/s")
    check(disk, NEW)
    check(with_late_lines(disk, (lines("late"),)), NEW + lines("late"))


# Flushes that none of the stories misses, each with why it stays. The numbers count the flushes of a story.
EXPLAINED = {
    ("heal", 0): "one way to make folders serves all: where the new file lies elsewhere, it is needed (heal-sealed 0)",
    ("heal", 5): "as heal 0",
    ("undo", 11): "the last flush of a journal: lines that come late after it would be carried over twice (heal 17)",
    ("put-back", 1): "needed as soon as there are two folders: see below",
    ("put-back", 5): "as undo 11, by the way that all journals are written",
    ("put-back", 0): "what is read may not be safe yet: see below",
    ("carry", 0): "as put-back 0",
    ("carry", 5): "as undo 11",
}
# The first flush of a heal of a segment that gives way to a writer.
GAVE_WAY = 12
WRITERS: tuple[type[Writer] | None, ...] = (None, Reopener, Slowpoke, Visitor)


def flushes(name: str) -> list[str]:
    disk = STORIES[name].disk.killed()
    disk.settle()
    STORIES[name].operate(disk)
    return disk.flushed


def missed(name: str, number: int) -> bool:
    """Whether anything goes wrong without one flush."""
    findings = Findings()
    for kind in ("ordered", "weakest"):
        explorer = Explorer(STORIES[name], findings, limit=24)
        explorer.deaf = number
        for writer in WRITERS:
            steps = explorer.run(kind, writer, -1)
            for at in range(max(steps - 24, 0), steps, 2) if writer is not None else ():
                explorer.run(kind, writer, at)
            if findings.wrong:
                return True
    return False


@pytest.mark.parametrize(("name", "number"), [(name, each) for name in LEAST for each in range(len(flushes(name)))])
def test_every_flush_is_needed(name: str, number: int, full: bool) -> None:
    if not full and name == "heal-sealed":
        pytest.skip("the same calls as of heal")
    assert missed(name, number) == ((name, number) not in EXPLAINED), flushes(name)[number]


def test_all_old_files_are_back_before_a_new_one_goes() -> None:
    """A writer comes to the live file after a segment was swapped with it, and the power is cut while we give way."""
    wrong = {}
    story = STORIES["heal-sealed"]
    for deaf in (False, True):
        found: list[str] = []
        for at in range(44, 52):
            explorer = Explorer(story, Findings(), limit=200)
            explorer.deaf = GAVE_WAY if deaf else None
            explorer.run("weakest", Visitor, at)
            found += explorer.findings.wrong if not explorer.done else []
        wrong[deaf] = any("neither" in each for each in found)
    assert wrong == {False: False, True: True}


def test_what_a_recovery_reads_is_made_safe_first() -> None:
    """Killed before the journal's folder was flushed, started again, and then the power is cut."""
    disk = STORIES["carry"].disk.killed()
    disk.settle()
    stops: list[MemoryDisk] = []

    def step(name: str) -> None:
        if name == "flush_folder" and len(disk.flushed) == 2:
            stops.append(disk.killed())

    disk.step = step
    STORIES["carry"].operate(disk)
    (stopped,) = stops
    wrong = {}
    for deaf in (None, 0):
        again = stopped.killed()
        again.kind, again.deaf = "weakest", deaf
        last: list[MemoryDisk] = []

        def late(name: str, disk: MemoryDisk = again, last: list[MemoryDisk] = last) -> None:
            if name == "flush" and disk.node_at(LIVE).data != NEW:
                last.append(disk.killed())

        again.step = late
        recover(again, ours(again, conversation_in("/s")), "a")
        cuts = [cut for each in last for cut in each.cut(1000, 1)]
        for cut in cuts:
            recover(cut, ours(cut, conversation_in("/s")), "a")
        wrong[deaf] = any(cut.node_at(LIVE).data.count(lines("late0")) != 1 for cut in cuts)
    assert wrong == {None: False, 0: True}


def test_the_orders_of_what_is_flushed() -> None:
    """A file is flushed before it gets its name, and the folder after."""
    calls: list[str] = []
    disk = disk_with({"a.jsonl": OLD})
    disk.step = calls.append
    heal(disk, "/s")
    for before, name in pairwise(call for call in calls if call not in {"status_of", "lease", "waiting", "end_lease"}):
        assert name != "rename" or before == "flush"
