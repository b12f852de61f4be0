"""What every store of conversations can do for a reading command."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol, runtime_checkable

from jarvis_ops.model.conversation import Conversation, Inventory, PartFile
from jarvis_ops.model.pieces import PieceTable
from jarvis_ops.model.plan import Change
from jarvis_ops.model.record import Record, Row
from jarvis_ops.model.run import Applied, Freed, Recovered, Run


class OpenPart(NamedTuple):
    """A part of a conversation while it is held open: what it was when it was opened.

    `size` is the bytes that will be read (more only to finish the line at that place); `mode` is
    the permission bits.
    """

    file: PartFile
    size: int
    device: int
    inode: int
    mtime_ns: int
    mode: int


class Place(NamedTuple):
    """The beginning of a line in a whole conversation: the number of the part, from 0, and the offset in it."""

    part: int
    offset: int


BEGINNING = Place(0, 0)


class Chunk(NamedTuple):
    """Whole lines of one part, in order: `first_line` counts from 1, `first_offset` from 0.

    `first_line` is 0 where reading began in the middle of a part, so that lines are not counted.

    Each line ends in its line feed, save perhaps the last of the part.
    """

    part: OpenPart
    first_line: int
    first_offset: int
    lines: list[bytes]


class Snapshot(Protocol):
    """A conversation held open: every line that was in it when it was opened is read exactly once."""

    @property
    def parts(self) -> tuple[OpenPart, ...]:
        """All parts in reading order, the live file last; no inode twice."""

    def chunks(self, begin: Place = BEGINNING, end: Place | None = None) -> Iterator[Chunk]:
        """The record from one place to another, forward, about 128 KiB at a time; all of it when none is named."""

    def records(self) -> Iterator[Record]:
        """The whole record, forward, one line at a time."""

    def newest_first(self, before: Place | None = None) -> Iterator[Record]:
        """The whole record from its last line back to its first; lines are not counted (`line` is None).

        With `before`, the beginning of a line, only what stands before it.
        """

    def read(self, file: str, start: int, end: int) -> bytes:
        """The bytes [start, end) of the part `file`. KeyError if it is no part, UnreadableError if it lost bytes."""

    def size(self, file: str) -> int:
        """How many bytes of the part `file` are read. KeyError if it is no part."""

    def lines_at(self, file: str, offsets: Collection[int]) -> Iterator[tuple[int, int]]:
        """(offset, line) for each offset of the part `file`: the number, from 1, of the line that begins there."""

    def digest(self, part: OpenPart, length: int | None = None) -> str:
        """The sha256 (hex) of the first `length` bytes of a part; of all of it when None."""

    def writer(self) -> bool | None:
        """Whether somebody has the live file open for writing now; None where the system cannot tell."""


class Store(Protocol):
    """A place of conversations."""

    @property
    def name(self) -> str:
        """The store as reports name it; never holds a password."""

    def inventory(self) -> Inventory:
        """All conversations, sorted by id, and the oddities that lie between them. StoreError if it cannot be read."""

    def open(self, conversation: Conversation) -> AbstractContextManager[Snapshot]:
        """Hold a conversation open for reading. UnreadableError if any part of it cannot be opened whole."""

    def companion(self, file: PartFile, limit: int = 16 << 20) -> bytes:
        """The bytes of a companion file (metadata, index, settings). UnreadableError if it cannot be read."""

    def locked(self, conversation: Conversation) -> bool:
        """Whether another process holds the agent's own lock file of this conversation."""

    def unfinished(self, conversation: Conversation) -> list[str]:
        """The runs that were interrupted while they changed this conversation; a cheap look that writes nothing.

        UnreadableError if what they wrote down cannot be read.
        """


class Measure(NamedTuple):
    """A conversation of a database: its records, their bytes as they are stored, and the time of the last (ms)."""

    records: int
    bytes: int
    last: int | None


@runtime_checkable
class Database(Store, Protocol):
    """A store that answers at once what would else take a look at each conversation."""

    def measured(self) -> Mapping[str, Measure]:
        """All conversations that have records, by id. StoreError if the database fails."""

    def holding(self, ids: Sequence[str]) -> set[str]:
        """The conversations in whose records one of these ids may stand; the others hold none. StoreError as above."""


@runtime_checkable
class Keyed(Protocol):
    """A snapshot whose lines are rows."""

    def row_at(self, offset: int) -> Row | None:
        """The row in whose line a byte stands; the last one for the end of the lines; None without rows."""


class WritableStore(Store, Protocol):
    """A store whose conversations can be repaired. Every change is planned first, and can be taken back."""

    def edited(self, snapshot: Snapshot, tables: Mapping[str, PieceTable]) -> Snapshot:
        """The conversation of a snapshot of this store with other content for some parts; nothing is written."""

    def hold(self, conversation: Conversation, run: str, *, wait: float = 0) -> AbstractContextManager[None]:
        """Hold a conversation against other runs of ours, and against its agent where that knows a lock.

        Waits at most `wait` seconds. BusyError, saying who holds it; UnreadableError where no lock can be made.
        """

    def apply(self, change: Change, run: str) -> Applied:
        """Carry a change out, for a conversation that is held; when this returns, it survives a power cut.

        Raises:
            BusyError: somebody has a file open for writing, or came meanwhile; nothing was changed.
            StaleError: a file is no longer what the change was planned from; nothing was changed.
            RefusedError: a file has further hard links, the disk is too full, or this is no place to write.
            UnreadableError: the system refused a step; what was begun was put back, or `recover` will.
        """

    def recover(self, conversation: Conversation) -> list[Recovered]:
        """Finish or put back what an interrupted run left of a held conversation; what was done, if anything."""

    def runs(self, inventory: Inventory) -> list[Run]:
        """What runs of ours did and are still remembered, oldest first; one entry for each conversation of a run."""

    def undoing(self, run: Run, conversation: Conversation) -> Change:
        """The change that takes a run back; what an agent has added since stays behind.

        Raises:
            RefusedError: the conversation was changed otherwise since, what was added refers to a record that the run
                put in, or the backup is gone.
        """

    def freeable(self, inventory: Inventory, kinds: Collection[str], before: int) -> list[Freed]:
        """What our own folders hold of `kinds` (backups, trash, quarantine) from before an instant (ms)."""

    def free(self, items: Collection[Freed]) -> None:
        """Remove such files, and journals of runs of which nothing is left."""
