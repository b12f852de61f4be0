"""What a planner is given: the lines of a conversation wherever it wants to look, and what is known around it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

import msgspec

from jarvis_ops.dialects.base import Dialect
from jarvis_ops.model.finding import Finding
from jarvis_ops.model.plan import Refusal, Repair
from jarvis_ops.model.record import Position, Record


class Pages(Protocol):
    """A conversation as it is, or as it would be after earlier repairs. All offsets count in that view.

    Records come with their raw bytes, line feed included, and without a line number.
    """

    @property
    def files(self) -> tuple[str, ...]:
        """The names of all parts in reading order, the live file last."""

    def size(self, file: str) -> int:
        """The number of bytes of a part."""

    def sealed(self, file: str) -> bool:
        """Whether a part is a sealed segment."""

    def line(self, file: str, offset: int) -> Record:
        """The line that holds the byte at `offset`; its own offset is where it begins."""

    def forward(self, file: str, offset: int) -> Iterator[Record]:
        """The lines from the one that begins at `offset` on, also in the parts behind."""

    def backward(self, file: str, offset: int) -> Iterator[Record]:
        """The lines before the one that begins at `offset`, nearest first, also in the parts before."""


class Ground(msgspec.Struct, frozen=True, kw_only=True):
    """What planners need to know beyond the lines.

    `elsewhere` are records of another store that hold the result of a call which has none here, by call id.
    `homes` say of records of other sessions, by id, behind which place of the files of their own they stand, or will;
    or, in a sentence, why they can stand in none.
    `asked` are the rules that a person has named. `sealed` says whether sealed segments may be replaced.
    """

    dialect: Dialect
    conversation: str
    elsewhere: Mapping[str, bytes] = {}
    homes: Mapping[str, Position | str] = {}
    asked: frozenset[str] = frozenset()
    sealed: bool = False


class Planner(Protocol):
    """Mends findings of one conversation, one at a time, each as if it were the only one."""

    def repair(self, finding: Finding) -> Repair | Refusal | None:
        """How to mend a finding; None when another finding's repair will take care of it, or nothing is to be done."""
