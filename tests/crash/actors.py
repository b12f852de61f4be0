"""Programs that append to a log while we are at work on it."""

from __future__ import annotations

from collections.abc import Callable

from tests.crash.model import MemoryDisk, Node

Mark = Callable[[bytes], None]


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

    def step(self) -> None:
        self.now += 1
        self.act()

    def act(self) -> None:
        """What it does before this step."""

    def find(self) -> Node:
        return self.disk.node_at(self.path)

    def open(self, node: Node, then: Callable[[Node], None]) -> None:
        if node.leased:
            node.queue.append(then)
        else:
            then(node)

    def line(self, node: Node) -> None:
        line = b'{"id":"w%d"}\n' % len(self.written)
        self.disk.append(node, line)
        self.written.append(line)
        self.disk.flush_node(node)
        self.sure.append(line)

    def end(self) -> None:
        """The program ends."""


class Reopener(Writer):
    """Opens, appends a line and closes; and again some steps later."""

    again = 4

    def act(self) -> None:
        if self.now in {self.at, self.at + self.again}:
            self.open(self.find(), self.line)


class Hasty(Reopener):
    """The same without flushing."""

    def line(self, node: Node) -> None:
        line = b'{"id":"w%d"}\n' % len(self.written)
        self.disk.append(node, line)
        self.written.append(line)


class Dawdler(Writer):
    """Finds the file, and opens it only some steps later, or when we pause."""

    late = 3

    def __init__(self, disk: MemoryDisk, path: str, at: int) -> None:
        super().__init__(disk, path, at)
        self.found: Node | None = None
        disk.at_pause.append(self.go_on)

    def act(self) -> None:
        if self.now == self.at:
            self.found = self.find()
        if self.now == self.at + self.late:
            self.go_on()

    def go_on(self) -> None:
        if self.found is not None:
            node, self.found = self.found, None
            self.open(node, self.line)

    def end(self) -> None:
        self.go_on()


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
            self.open(self.find(), self.opened)
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


KINDS: tuple[type[Writer], ...] = (Reopener, Hasty, Dawdler, Slowpoke, Holder)
