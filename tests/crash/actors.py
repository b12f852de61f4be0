"""Programs that append to a log while we are at work on it."""

from __future__ import annotations

from typing import Self

from tests.crash.model import MemoryDisk, Node


class Writer:
    """Appends lines to the file at `path`, the first one before step `at` of ours.

    `written` are the lines that went out, in order, and `sure` those of them that were flushed as well. An opening
    waits as long as we have a lease on the file that was found.
    """

    def __init__(self, disk: MemoryDisk, path: str, at: int) -> None:
        self.disk = disk
        self.path = path
        self.at = at
        self.now = -1
        self.written: list[bytes] = []
        self.sure: list[bytes] = []
        self.waiting: int | None = None

    def step(self) -> None:
        self.now += 1
        self.act()

    def act(self) -> None:
        """What it does before this step."""

    def open(self, node: Node) -> None:
        if node.leased:
            self.waiting = node.number
            node.queue.append(self.opened_at_last)
        else:
            self.opened(node)

    def opened_at_last(self, node: Node) -> None:
        self.waiting = None
        self.opened(node)

    def opened(self, node: Node) -> None:
        self.line(node)

    def line(self, node: Node) -> None:
        line = b'{"id":"w%02d"}\n' % len(self.written)
        self.disk.append(node, line)
        self.written.append(line)
        self.disk.flush_node(node)
        self.sure.append(line)

    def end(self) -> None:
        """The program ends."""

    def survivor(self, disk: MemoryDisk) -> Self:
        """The same program after we were killed: what it waited for is there."""
        twin = type(self)(disk, self.path, self.at)
        twin.now, twin.written, twin.sure = self.now, [*self.written], [*self.sure]
        self.hand_on(twin)
        if self.waiting is not None:
            twin.opened(disk.nodes[self.waiting])
        return twin

    def hand_on(self, twin: Self) -> None:
        """Give a survivor what is known besides."""


class Reopener(Writer):
    """Opens, appends a line and closes; and again some steps later."""

    again = 4

    def act(self) -> None:
        if self.now in {self.at, self.at + self.again}:
            self.open(self.disk.node_at(self.path))


class Visitor(Reopener):
    """Opens, appends a line and closes, once."""

    again = 1 << 30


class Hasty(Reopener):
    """The same without flushing."""

    def line(self, node: Node) -> None:
        line = b'{"id":"w%02d"}\n' % len(self.written)
        self.disk.append(node, line)
        self.written.append(line)


class Dawdler(Writer):
    """Finds the file, and opens it only some steps later, or when we pause."""

    late = 3

    def __init__(self, disk: MemoryDisk, path: str, at: int) -> None:
        super().__init__(disk, path, at)
        self.found: int | None = None
        disk.at_pause.append(self.go_on)

    def act(self) -> None:
        if self.now == self.at:
            self.found = self.disk.node_at(self.path).number
        if self.now == self.at + self.late:
            self.go_on()

    def go_on(self) -> None:
        if self.found is not None:
            number, self.found = self.found, None
            self.open(self.disk.nodes[number])

    def end(self) -> None:
        self.go_on()

    def hand_on(self, twin: Self) -> None:
        twin.found = self.found
        twin.go_on()


class Slowpoke(Dawdler):
    """Opens it much later."""

    late = 14


class Holder(Writer):
    """Opens the file and keeps it open: a line at once, and one every few steps."""

    def __init__(self, disk: MemoryDisk, path: str, at: int) -> None:
        super().__init__(disk, path, at)
        self.node: Node | None = None

    def act(self) -> None:
        if self.now == self.at:
            self.open(self.disk.node_at(self.path))
        elif self.node is not None and (self.now - self.at) % 5 == 0:
            self.line(self.node)

    def opened(self, node: Node) -> None:
        self.node = node
        node.writers += 1
        self.line(node)

    def end(self) -> None:
        if self.node is not None:
            self.node.writers -= 1
            self.node = None

    def hand_on(self, twin: Self) -> None:
        if self.node is not None:
            twin.node = twin.disk.nodes[self.node.number]
            twin.node.writers += 1


KINDS: tuple[type[Writer], ...] = (Reopener, Visitor, Hasty, Dawdler, Slowpoke, Holder)
