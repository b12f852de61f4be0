"""Runs an operation on the disk in memory, stops it everywhere, and looks whether anything was lost."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from jarvis_ops.errors import BusyError, OpsError, StaleError
from jarvis_ops.model.conversation import Conversation
from jarvis_ops.stores.jsonl.ours import FOLDER, Files, ours
from jarvis_ops.stores.jsonl.recovery import recover, unfinished
from tests.crash.actors import Writer
from tests.crash.model import Kind, MemoryDisk

LIVE = "/s/a.jsonl"
Operate = Callable[[MemoryDisk], None]


class Stopped(BaseException):
    """The power is cut, or the process is killed, here."""


@dataclass(frozen=True, slots=True)
class Story:
    """An operation: the disk before it, how it is done, and what the files may hold afterwards, one or the other.

    `before` and `after` map the places of all files of the conversation to their bytes. `aside` is what leaves them,
    `late` are lines that a writer has put into the old file already. `keeps` says that the old bytes are kept.
    """

    name: str
    disk: MemoryDisk
    operate: Operate
    conversation: Conversation
    before: dict[str, bytes]
    after: dict[str, bytes]
    aside: bytes = b""
    late: tuple[bytes, ...] = ()
    keeps: bool = True


@dataclass(slots=True)
class Findings:
    """What came of it: how many different states were looked at, and what was wrong with some."""

    states: int = 0
    wrong: list[str] = field(default_factory=list)


class Explorer:
    """Explores one story. `limit` is how many states of one power cut are looked at.

    The recovery from every `deep`-th of them is itself stopped everywhere; from none if it is 0.
    """

    def __init__(self, story: Story, findings: Findings, *, limit: int = 40, deep: int = 0, seed: int = 1) -> None:
        self.story = story
        self.findings = findings
        self.limit = limit
        self.deep = deep
        self.seed = seed
        self.seen: set[object] = set()
        self.deaf: int | None = None
        self.done = False
        self.ordered = True

    def run(
        self, kind: Kind, writer: type[Writer] | None, at: int, *, leases: bool = True, exchanges: bool = True
    ) -> int:
        """One run with a writer that begins at a step; how many steps there were."""
        disk = self.story.disk.killed()
        disk.settle()
        disk.kind, disk.leases, disk.exchanges, disk.deaf = kind, leases, exchanges, self.deaf
        actor = writer(disk, LIVE, at) if writer is not None else Writer(disk, LIVE, -1)
        actor.written, actor.sure = [*self.story.late], [*self.story.late]
        # Without leases a writer may add to the old file at any time: such lines come late.
        self.ordered = leases and not self.story.late
        what = f"{self.story.name} {kind} {type(actor).__name__}@{at} leases={leases} exchanges={exchanges}"
        steps = 0

        def step(name: str) -> None:
            nonlocal steps
            self.crash(disk, actor, f"{what} before {steps}:{name}")
            steps += 1
            actor.step()

        disk.step = step
        done = self.done = False
        try:
            self.story.operate(disk)
            done = self.done = True
        except (BusyError, StaleError):
            pass
        disk.step = lambda _: None
        self.crash(disk, actor, f"{what} at the end", done=done)
        actor.end()
        self.finish(disk, actor, f"{what} without a crash", done=done)
        return steps

    def crash(self, disk: MemoryDisk, actor: Writer, where: str, *, done: bool = False) -> None:
        """All that a kill or a power cut may leave here, each followed by a recovery."""
        twin = disk.killed()
        survivor = actor.survivor(twin)
        if self.is_new(twin, survivor.written, survivor.written, done=done):
            self.after_kill(twin, survivor, f"{where}, killed", self.depth(), done=done)
        for cut in disk.cut(self.limit, self.seed):
            if self.is_new(cut, actor.written, actor.sure, done=done):
                dead = Writer(cut, LIVE, -1)
                dead.written, dead.sure = [*actor.written], [*actor.sure]
                self.recovered(cut, dead, f"{where}, power cut", self.depth(), power=True, done=done)

    def depth(self) -> int:
        return int(self.deep > 0 and self.findings.states % self.deep == 0)

    def is_new(self, disk: MemoryDisk, written: list[bytes], sure: list[bytes], *, done: bool = False) -> bool:
        safe = tuple((node.number, node.safe, tuple(node.safe_names.items())) for node in disk.nodes.values())
        state = (tuple(disk.tree().items()), safe, tuple(written), tuple(sure), done, disk.leases, disk.exchanges)
        if (hashed := hash(state)) in self.seen:
            return False
        self.seen.add(hashed)
        self.findings.states += 1
        return True

    def after_kill(self, disk: MemoryDisk, actor: Writer, where: str, deep: int, *, done: bool) -> None:
        """A writer may still be there: then the recovery gives way, and the next one does its work."""
        if any(node.writers for node in disk.nodes.values()):
            with contextlib.suppress(BusyError):
                self.recovery(disk, actor, where, 0)
            self.line_check(disk, actor, where)
        actor.end()
        self.recovered(disk, actor, where, deep, power=False, done=done)

    def recovery(self, disk: MemoryDisk, actor: Writer, where: str, deep: int, *, power: bool = False) -> None:
        steps = 0

        def step(name: str) -> None:
            nonlocal steps
            if deep:
                inner = f"{where}, in recovery before {steps}:{name}"
                sure = actor.sure if power else actor.written
                twin = disk.killed()
                if self.is_new(twin, actor.written, sure):
                    self.recovered(twin, same(actor, twin, sure), f"{inner}, killed", deep - 1, power=power)
                for cut in disk.cut(max(self.limit // 4, 4), self.seed):
                    if self.is_new(cut, actor.written, actor.sure):
                        self.recovered(cut, same(actor, cut, actor.sure), f"{inner}, power cut", deep - 1, power=True)
            steps += 1

        disk.step = step
        try:
            recover(disk, ours(disk, self.story.conversation), self.story.conversation.id)
        finally:
            disk.step = lambda _: None

    def recovered(
        self, disk: MemoryDisk, actor: Writer, where: str, deep: int, *, power: bool, done: bool = False
    ) -> None:
        """Recover, and look at what is there."""
        try:
            self.recovery(disk, actor, where, deep, power=power)
        except (OpsError, OSError) as error:
            self.findings.wrong.append(f"{where}: recovery failed: {error!r}")
            return
        self.finish(disk, actor, where, done=done, power=power)

    def finish(self, disk: MemoryDisk, actor: Writer, where: str, *, done: bool, power: bool = False) -> None:
        """P1 to P5, P7 and P10, after a recovery."""
        try:
            recover(disk, ours(disk, self.story.conversation), self.story.conversation.id)
        except (OpsError, OSError) as error:
            self.findings.wrong.append(f"{where}: recovery failed: {error!r}")
            return
        wrong = [*self.problems(disk, actor, done=done, power=power), *self.rests(disk)]
        self.findings.wrong += [f"{where}: {each}" for each in wrong]

    def line_check(self, disk: MemoryDisk, actor: Writer, where: str) -> None:
        """While a writer is there, each line is in the log, or in a file that a recovery will read."""
        there = b"".join(data for path, (_, data) in disk.tree().items() if path.startswith("/s/"))
        self.findings.wrong += [f"{where}: {line!r} is nowhere" for line in actor.written if line not in there]

    def problems(self, disk: MemoryDisk, actor: Writer, *, done: bool, power: bool) -> Iterator[str]:
        tree = disk.tree()
        missing = [path for path in self.story.before if path not in tree]
        if missing:
            yield f"{missing} is gone"
            return
        now = {path: tree[path][1] for path in self.story.before}
        for state, expected in (("after", self.story.after), ("before", self.story.before)):
            if all(now[path].startswith(data) for path, data in expected.items()):
                if state == "before" and done:
                    yield "it is not durable"
                yield from self.late_problems(now, expected, actor, power=power)
                if state == "after" and self.story.keeps:
                    yield from self.kept_problems(tree)
                return
        yield f"neither the old nor the new bytes are there: {now}"

    def late_problems(
        self, now: dict[str, bytes], expected: dict[str, bytes], actor: Writer, *, power: bool
    ) -> Iterator[str]:
        rest = [line for path in now for line in split(now[path][len(expected[path]) :])]
        lines = [line for line in rest if line in actor.written]
        torn = [line for line in rest if line not in actor.written and line.strip(b"\n")]
        if torn and not power:
            yield f"what is {torn}?"
        if any(not is_torn(line, actor.written) for line in torn):
            yield f"what is {torn}?"
        counts = Counter(lines)
        sure = actor.sure if power else actor.written
        yield from (f"{line!r} is lost" for line in sure if not counts[line])
        yield from (f"{line!r} is there twice" for line in counts if counts[line] > 1)
        if self.ordered and lines != sorted(lines):
            yield f"out of order: {lines}"

    def kept_problems(self, tree: dict[str, tuple[int, bytes]]) -> Iterator[str]:
        kept = [data for path, (_, data) in tree.items() if f"/{FOLDER}/" in path]
        if self.story.aside and self.story.aside not in kept:
            yield "what was taken out is not in quarantine"
        if self.story.aside and not any(b'"raw_offset"' in each for each in kept):
            yield "nothing says where it stood"
        for path, data in self.story.before.items():
            if not any(each.startswith(data) for each in kept):
                yield f"the old bytes of {path} are not in the backups"

    def rests(self, disk: MemoryDisk) -> Iterator[str]:
        mine = ours(disk, self.story.conversation)
        left = [path for path in disk.tree() if path.endswith(".tmp") or "/." in path.replace(f"/{FOLDER}/", "/")]
        if left:
            yield f"left over: {left}"
        for path in self.story.before:
            live = disk.status(path)
            if live is not None and live.links > 1:
                yield f"{path} has a second name"
        if unfinished(disk, mine):
            yield "it is still unfinished"
        before = disk.tree()
        if recover(disk, mine, self.story.conversation.id) or disk.tree() != before:
            yield "a second recovery does something"


def same(actor: Writer, disk: Files, sure: list[bytes]) -> Writer:
    assert isinstance(disk, MemoryDisk)
    twin = Writer(disk, LIVE, -1)
    twin.written, twin.sure = [*actor.written], [*sure]
    return twin


def split(data: bytes) -> list[bytes]:
    *lines, rest = data.split(b"\n")
    return [line + b"\n" for line in lines] + ([rest] if rest else [])


def is_torn(line: bytes, written: list[bytes]) -> bool:
    """Whether it may be what a power cut left of the end of a file."""
    bare = line.strip(b"\n").strip(b"\0")
    return not bare or any(each.startswith(bare) or each.rstrip(b"\n") == bare for each in written)
