"""A file system in memory that knows what a kill or a power cut may leave of it, and what leases do to writers.

Every folder remembers which of its changes are sure to survive a power cut, and every file which of its bytes. Two
kinds of file system: `ordered`, where flushing anything makes all names survive that were changed before, as ext4
does; `weakest`, where each folder keeps any number of its first changes, and each file any part of its last bytes.
"""

from __future__ import annotations

import errno
import math
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from jarvis_ops.stores.disk import Status
from jarvis_ops.stores.jsonl.ours import Files
from jarvis_ops.stores.jsonl.processes import Writers

Kind = Literal["ordered", "weakest"]
Opened = Callable[["Node"], None]
ROOT = 1


@dataclass(slots=True)
class Node:
    """A file or a folder. `safe` and `safe_names` are what is sure to survive; `changes` come on top, in order."""

    number: int
    is_folder: bool
    data: bytes = b""
    safe: bytes = b""
    names: dict[str, int] = field(default_factory=dict)
    safe_names: dict[str, int] = field(default_factory=dict)
    changes: list[tuple[int, dict[str, int | None]]] = field(default_factory=list)
    mode: int = 0o600
    time: int = 0
    leased: bool = False
    writers: int = 0
    queue: list[Opened] = field(default_factory=list)

    def copy(self) -> Node:
        return Node(
            self.number, self.is_folder, self.data, self.safe, dict(self.names), dict(self.safe_names),
            list(self.changes), self.mode, self.time,
        )  # fmt: skip


def applied(names: dict[str, int], changes: list[dict[str, int | None]]) -> dict[str, int]:
    result = dict(names)
    for change in changes:
        for name, number in change.items():
            if number is None:
                result.pop(name, None)
            else:
                result[name] = number
    return result


class MemoryDisk(Files):
    """`step` is called before every call that a crash or a writer may come before."""

    def __init__(self, kind: Kind = "ordered", *, leases: bool = True, exchanges: bool = True) -> None:
        self.kind: Kind = kind
        self.leases = leases
        self.exchanges = exchanges
        self.nodes: dict[int, Node] = {ROOT: Node(ROOT, is_folder=True)}
        self.next_number = ROOT + 1
        self.clock = 0
        self.files: dict[int, tuple[int, str]] = {}
        self.next_descriptor = 100
        self.step: Callable[[str], None] = lambda _: None
        self.at_pause: list[Callable[[], None]] = []
        # The flush that does nothing, for whoever wants to see what it is good for; and what was flushed.
        self.deaf: int | None = None
        self.flushed: list[str] = []

    # Reading

    def resolve(self, path: str) -> str:
        return os.path.normpath(path)

    def open(self, path: str) -> int:
        return self._descriptor(self._file(path), "r")

    def close(self, descriptor: int) -> None:
        number, how = self.files.pop(descriptor)
        if how != "r":
            self.nodes[number].writers -= 1

    def status(self, path: str) -> Status | None:
        try:
            node = self._find(path)
        except NotADirectoryError:
            return None
        return self._status(node) if node is not None else None

    def status_of(self, descriptor: int) -> Status:
        self.step("status_of")
        return self._status(self.nodes[self.files[descriptor][0]])

    def read(self, descriptor: int, length: int, offset: int) -> bytes:
        return self.nodes[self.files[descriptor][0]].data[offset : offset + length]

    def names(self, folder: str) -> list[str]:
        node = self._find(folder)
        return sorted(node.names) if node is not None and node.is_folder else []

    def free_space(self, folder: str) -> int:
        del folder
        return 1 << 40

    def writers(self, status: Status) -> Writers:
        del status
        return Writers((), complete=False)

    def is_root(self) -> bool:
        return False

    # Leases

    def lease(self, descriptor: int) -> bool | None:
        self.step("lease")
        node = self.nodes[self.files[descriptor][0]]
        if not self.leases:
            return None
        if node.writers:
            return False
        node.leased = True
        return True

    def waiting(self, descriptor: int) -> bool:
        self.step("waiting")
        return bool(self.nodes[self.files[descriptor][0]].queue)

    def end_lease(self, descriptor: int) -> None:
        self.step("end_lease")
        self._let_in(self.nodes[self.files[descriptor][0]])

    def pause(self, seconds: float) -> None:
        del seconds
        self.step("pause")
        for act in self.at_pause:
            act()

    # Changing

    def make_folder(self, path: str) -> None:
        self.step("make_folder")
        self._put_new(path, is_folder=True)

    def create(self, path: str) -> int:
        self.step("create")
        return self._descriptor(self._put_new(path, is_folder=False), "w")

    def open_to_append(self, path: str) -> int:
        self.step("open_to_append")
        return self._descriptor(self._file(path), "a")

    def give(self, path: str, like: Status) -> None:
        raise NotImplementedError

    def set_mode(self, descriptor: int, mode: int) -> None:
        self.nodes[self.files[descriptor][0]].mode = mode

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        self.step("write")
        self.append(self.nodes[self.files[descriptor][0]], bytes(data))
        return len(data)

    def flush(self, descriptor: int) -> None:
        self.step("flush")
        node = self.nodes[self.files[descriptor][0]]
        if self._hears(next(path for path, (number, _) in self.tree().items() if number == node.number)):
            self.flush_node(node)

    def flush_folder(self, path: str) -> None:
        self.step("flush_folder")
        node = self._find(path)
        if node is None or not node.is_folder:
            raise FileNotFoundError(errno.ENOENT, "no such folder", path)
        if self._hears(path + "/"):
            self.commit(node)

    def link(self, path: str, name: str) -> None:
        self.step("link")
        node = self._file(path)
        folder, last = self._place(name)
        if last in folder.names:
            raise FileExistsError(errno.EEXIST, "it exists", name)
        self._change(folder, {last: node.number})

    def rename(self, path: str, name: str) -> None:
        self.step("rename")
        node = self._file(path)
        source, old = self._place(path)
        target, new = self._place(name)
        if target.names.get(new) == node.number:
            return
        if source is target:
            self._change(source, {old: None, new: node.number})
        else:
            self._change(target, {new: node.number})
            self._change(source, {old: None})

    def exchange(self, path: str, other: str) -> bool:
        self.step("exchange")
        if not self.exchanges:
            return False
        first, second = self._file(path), self._file(other)
        folder, name = self._place(path)
        assert folder is self._place(other)[0]
        self._change(folder, {name: second.number, os.path.basename(other): first.number})
        return True

    def remove(self, path: str) -> None:
        self.step("remove")
        self._file(path)
        folder, name = self._place(path)
        self._change(folder, {name: None})

    def remove_folder(self, path: str) -> None:
        self.step("remove_folder")
        node = self._find(path)
        if node is None:
            raise FileNotFoundError(errno.ENOENT, "no such folder", path)
        if node.names:
            raise OSError(errno.ENOTEMPTY, "it is not empty", path)
        folder, name = self._place(path)
        self._change(folder, {name: None})

    # What writers and crashes do

    def append(self, node: Node, data: bytes) -> None:
        self.clock += 1
        node.data += data
        node.time = self.clock

    def flush_node(self, node: Node) -> None:
        node.safe = node.data
        if self.kind == "ordered":
            self.commit(None)

    def commit(self, node: Node | None) -> None:
        """Let the names of one folder, or of all, survive."""
        folders = self.nodes.values() if node is None or self.kind == "ordered" else [node]
        for folder in folders:
            folder.safe_names = dict(folder.names)
            folder.changes.clear()

    def node_at(self, path: str) -> Node:
        return self._file(path)

    def killed(self) -> MemoryDisk:
        """What is left when the process dies: all of it, but for leases. Who waited is let in by the caller."""
        return self._copy({number: node.copy() for number, node in self.nodes.items()})

    def cut(self, limit: int, seed: int) -> Iterator[MemoryDisk]:
        """What a power cut may leave: all states, or `limit` of them chosen by chance."""
        dirty = [node for node in self.nodes.values() if not node.is_folder and node.data != node.safe]
        changed = [node for node in self.nodes.values() if node.changes]
        stamps = sorted({stamp for node in changed for stamp, _ in node.changes})
        sizes = [len(stamps) + 1] if self.kind == "ordered" else [len(node.changes) + 1 for node in changed]
        choices = [variants(node) for node in dirty]
        sizes += [len(choice) for choice in choices]
        total = math.prod(sizes)
        numbers = range(total)
        chosen = {0, total - 1, *random.Random(seed).sample(numbers, limit - 2)} if total > limit else numbers
        for number in sorted(chosen):
            picks = digits(number, sizes)
            if self.kind == "ordered":
                last = [0, *stamps][picks[0]]
                kept = [[each for stamp, each in node.changes if stamp <= last] for node in changed]
            else:
                kept = [[each for _, each in node.changes[:pick]] for node, pick in zip(changed, picks, strict=False)]
            datas = picks[len(sizes) - len(dirty) :]
            yield self._after_cut(
                {node.number: applied(node.safe_names, each) for node, each in zip(changed, kept, strict=True)},
                {node.number: choice[pick] for node, choice, pick in zip(dirty, choices, datas, strict=True)},
            )

    def tree(self) -> dict[str, tuple[int, bytes]]:
        """All files by their paths: inode and bytes."""
        found: dict[str, tuple[int, bytes]] = {}
        pending = [("", ROOT)]
        while pending:
            path, number = pending.pop()
            node = self.nodes[number]
            if node.is_folder:
                found[path + "/"] = (0, b"")
                pending += [(f"{path}/{name}", each) for name, each in node.names.items()]
            else:
                found[path] = (number, node.data)
        return found

    def settle(self) -> None:
        """Let all that is there survive whatever comes."""
        for node in self.nodes.values():
            node.safe = node.data
        self.kind, kind = "ordered", self.kind
        self.commit(None)
        self.kind = kind

    def _after_cut(self, names: dict[int, dict[str, int]], datas: dict[int, bytes]) -> MemoryDisk:
        nodes = {number: node.copy() for number, node in self.nodes.items()}
        for node in nodes.values():
            node.names = dict(names.get(node.number, node.safe_names))
            node.safe_names = dict(node.names)
            node.changes = []
            node.data = node.safe = datas.get(node.number, node.safe)
        reached, pending = set(), [ROOT]
        while pending:
            number = pending.pop()
            reached.add(number)
            pending += [each for each in nodes[number].names.values() if each not in reached]
        return self._copy({number: node for number, node in nodes.items() if number in reached})

    def _copy(self, nodes: dict[int, Node]) -> MemoryDisk:
        twin = MemoryDisk(self.kind, leases=self.leases, exchanges=self.exchanges)
        twin.nodes = nodes
        twin.next_number = self.next_number
        twin.clock = self.clock
        return twin

    def _hears(self, path: str) -> bool:
        self.flushed.append(path)
        return self.deaf != len(self.flushed) - 1

    def _let_in(self, node: Node) -> None:
        node.leased = False
        queue, node.queue = node.queue, []
        for opened in queue:
            opened(node)

    def _change(self, folder: Node, names: dict[str, int | None]) -> None:
        self.clock += 1
        folder.names = applied(folder.names, [names])
        folder.changes.append((self.clock, names))

    def _find(self, path: str) -> Node | None:
        node = self.nodes[ROOT]
        for name in os.path.normpath(path).split("/")[1:]:
            if name:
                if not node.is_folder:
                    raise NotADirectoryError(errno.ENOTDIR, "it is a file", path)
                if name not in node.names:
                    return None
                node = self.nodes[node.names[name]]
        return node

    def _file(self, path: str) -> Node:
        node = self._find(path)
        if node is None:
            raise FileNotFoundError(errno.ENOENT, "no such file", path)
        if node.is_folder:
            raise IsADirectoryError(errno.EISDIR, "it is a folder", path)
        return node

    def _place(self, path: str) -> tuple[Node, str]:
        folder, name = os.path.split(os.path.normpath(path))
        node = self._find(folder)
        if node is None:
            raise FileNotFoundError(errno.ENOENT, "no such folder", path)
        if not node.is_folder:
            raise NotADirectoryError(errno.ENOTDIR, "it is a file", path)
        return node, name

    def _put_new(self, path: str, *, is_folder: bool) -> Node:
        folder, name = self._place(path)
        if name in folder.names:
            raise FileExistsError(errno.EEXIST, "it exists", path)
        node = Node(self.next_number, is_folder)
        self.nodes[node.number] = node
        self.next_number += 1
        self._change(folder, {name: node.number})
        return node

    def _descriptor(self, node: Node, how: str) -> int:
        self.next_descriptor += 1
        self.files[self.next_descriptor] = (node.number, how)
        if how != "r":
            node.writers += 1
        return self.next_descriptor

    def _status(self, node: Node) -> Status:
        links = sum(number == node.number for each in self.nodes.values() for number in each.names.values())
        return Status(1, node.number, len(node.data), node.time, node.mode, 0, 0, links, not node.is_folder)


def digits(number: int, sizes: list[int]) -> list[int]:
    """A number as one digit for each size."""
    found = []
    for size in sizes:
        number, digit = divmod(number, size)
        found.append(digit)
    return found


def variants(node: Node) -> list[bytes]:
    """What may be left of the bytes of a file: none of the last ones, all, a part, or as many NULs."""
    if node.data == node.safe:
        return [node.data]
    assert node.data.startswith(node.safe)
    tail = node.data[len(node.safe) :]
    kept = [b"", tail, tail[: len(tail) // 2], b"\0" * len(tail)]
    return list(dict.fromkeys(node.safe + each for each in kept))
