"""What the rows of one conversation show about their order: ties, numbers that are missing, orders that disagree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime

import msgspec

from jarvis_ops.model.finding import Finding, Severity
from jarvis_ops.model.message import Message
from jarvis_ops.model.record import Row
from jarvis_ops.rules.findings import found
from jarvis_ops.rules.tied import Read, in_pairs
from jarvis_ops.rules.words import counted

UNITS = {"s": "seconds", "ms": "milliseconds", "us": "microseconds"}


class Orders(msgspec.Struct, frozen=True):
    """What rows are read by: a time first or not at all, and a number where there is one."""

    by_time: bool
    by_seq: bool


class Tie(msgspec.Struct, frozen=True):
    """A group of rows that nothing orders: its first row in the order in which they pair, and how many they are."""

    row: Row
    rows: int
    depends: bool
    compacted: bool


class Order:
    """Follows the rows of one conversation in reading order; `arrange` them, then ask for `findings`.

    `conflict` is the first row at which its number and its time disagree.
    """

    def __init__(self, orders: Orders, unit: Callable[[int | str], str]) -> None:
        self.orders = orders
        self.unit = unit
        self.tie: Tie | None = None
        self.ties = 0
        self.tied_rows = 0
        self.unnumbered: Row | None = None
        self.unnumbered_rows = 0
        self.conflict: Row | None = None
        self.conflicts = 0
        self.units: Counter[str] = Counter()
        self.first_of_unit: dict[str, Row] = {}
        self.highest: int | None = None
        self.latest: int | str | None = None
        self.summaries: dict[int, Row] = {}

    def arrange(self, rows: Iterator[Row], decode: Callable[[Row], Message]) -> Iterator[Read]:
        """The rows, each with its message, in the order in which they are to be judged."""
        reads = ((self.notice(row), decode(row)) for row in rows)
        return in_pairs(reads, tied=self.are_tied, meet=self.meet)

    def notice(self, row: Row) -> Row:
        """Take note of a row as it was read."""
        if row.time is not None:
            unit = self.unit(row.time)
            self.units[unit] += 1
            self.first_of_unit.setdefault(unit, row)
        if self.orders.by_seq:
            self.number(row)
        if row.compacted:
            self.summaries.setdefault(hash(row.compacted), row)
        return row

    def number(self, row: Row) -> None:
        """Compare the number of a row with those before it."""
        if row.seq is None:
            self.unnumbered = self.unnumbered or row
            self.unnumbered_rows += 1
            return
        if self.orders.by_time:
            disagrees = self.highest is not None and row.seq < self.highest
            self.highest = row.seq if self.highest is None else max(self.highest, row.seq)
        else:
            disagrees = isinstance(row.time, int) and isinstance(self.latest, int) and row.time < self.latest
            self.latest = row.time
            self.highest = row.seq if self.highest is None else max(self.highest, row.seq)
        if disagrees:
            self.conflict = self.conflict or row
            self.conflicts += 1

    def are_tied(self, one: Row, other: Row) -> bool:
        """Whether nothing says which of two neighbours comes first."""
        same_time = not self.orders.by_time or one.time == other.time
        return same_time and (not self.orders.by_seq or one.seq == other.seq)

    def meet(self, group: Sequence[Read], depends: bool) -> None:  # noqa: FBT001 - the form of a callback
        """Take note of a group of tied rows; the gravest is kept."""
        self.ties += 1
        self.tied_rows += len(group)
        compacted = all(row.compacted is not None for row, _ in group)
        tie = Tie(group[0][0], len(group), depends, compacted)
        if self.tie is None or self._weight(tie) > self._weight(self.tie):
            self.tie = tie

    @staticmethod
    def _weight(tie: Tie) -> tuple[bool, bool]:
        return not tie.compacted, tie.depends

    def findings(self, *, depends: bool, full: bool) -> Iterator[Finding]:
        """All that is to be said. `depends` says that a pair depends on the conflict, `full` that all is judged."""
        if self.tie is not None:
            yield self.tied(self.tie, full=full)
        if self.unnumbered is not None:
            rows = self.unnumbered_rows
            detail = f"{counted(rows, 'row')} {'has' if rows == 1 else 'have'} no number"
            yield found(
                "seq-null", self.unnumbered.position(), detail, record_id=self.unnumbered.key, facts={"rows": rows}
            )
        if self.conflict is not None:
            first = "a later time" if self.orders.by_time else "an earlier time"
            than = "a lower number" if self.orders.by_time else "a higher number"
            detail = f"{counted(self.conflicts, 'row')} with {first} and {than} than the row before"
            yield found(
                "order-conflict",
                self.conflict.position(),
                detail,
                severity="error" if depends else "warning",
                record_id=self.conflict.key,
                facts={"rows": self.conflicts},
            )
        if len(self.units) > 1:
            yield self.mixed()

    def tied(self, tie: Tie, *, full: bool) -> Finding:
        """Rows that nothing orders."""
        severity: Severity = "error" if tie.depends else "warning"
        if tie.compacted and not full:
            severity = "info"
        depending = ", and a pair depends on which comes first" if tie.depends else ""
        more = f"; {counted(self.tied_rows, 'row')} in {counted(self.ties, 'group')}" if self.ties > 1 else ""
        detail = f"{tie.rows} rows share {said(tie.row.time, self.unit)}{depending}{more}"
        facts = {"rows": tie.rows, "groups": self.ties, "tied_rows": self.tied_rows, "time": tie.row.time}
        return found("order-tie", tie.row.position(), detail, severity=severity, record_id=tie.row.key, facts=facts)

    def mixed(self) -> Finding:
        """Times in several units; the place is the first row of the rarest."""
        rarest = min(self.units, key=lambda unit: self.units[unit])
        row = self.first_of_unit[rarest]
        most = max(self.units, key=lambda unit: self.units[unit])
        detail = f"{counted(self.units[rarest], 'time')} in {UNITS[rarest]} among {self.units[most]:,} in {UNITS[most]}"
        facts = {"rows": self.units[rarest], "units": dict(self.units)}
        return found("mixed-units", row.position(), detail, record_id=row.key, facts=facts)


def said(time: int | str | None, unit: Callable[[int | str], str]) -> str:
    """A stored time for a person."""
    if not isinstance(time, int):
        return f"the time {time}" if time is not None else "the lack of a time"
    per_second = {"s": 1, "ms": 1000}.get(unit(time), 1_000_000)
    try:
        moment = datetime.fromtimestamp(time / per_second, UTC)
    except (OverflowError, ValueError, OSError):
        return f"the time {time}"
    return f"the time {moment.isoformat(sep=' ', timespec='milliseconds')}"
