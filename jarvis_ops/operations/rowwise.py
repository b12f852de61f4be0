"""Judging a conversation whose records are rows: by the same rules as lines, and by what rows alone can show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from jarvis_ops.dialects.base import Dialect
from jarvis_ops.dialects.items import Items
from jarvis_ops.model.finding import Finding
from jarvis_ops.model.message import Message, ToolResult
from jarvis_ops.model.record import Position, Record, Row
from jarvis_ops.operations.linear import Known, Linear
from jarvis_ops.rules.findings import found
from jarvis_ops.rules.order import Order
from jarvis_ops.rules.pairing import Pairing


class RowReading:
    """Iterates over (row, message); rows have none of the faults that bytes have. `size` counts bytes."""

    def __init__(self, messages: Iterator[tuple[Row, Message]]) -> None:
        self.findings: list[Finding] = []
        self.size = 0
        self._messages = messages

    def __iter__(self) -> Iterator[tuple[Record, Message]]:
        for row, message in self._messages:
            self.size += len(row.raw)
            yield row, message


class RowPairing(Pairing):
    """Pairs rows of which each says itself whether it is out of the replay.

    With `full` that makes no difference. `items` are results that may come any time after their calls, and calls that
    the agent itself closes when it reads them.
    """

    full = False
    items = False

    def feed(self, message: Message, record: Record) -> None:
        """Take the next row."""
        if isinstance(record, Row) and not self.full:
            if record.compacted is not None:
                self.compacted = True
            elif self.compacted:
                self.split(record.position())
        super().feed(message, record)
        if self.items:
            self.between = None

    def report(self, rule: str, at: Position, call_id: str | None, detail: str, **places: Position) -> None:
        """Add a finding."""
        super().report(rule, at, call_id, detail, **places)
        if self.items and rule == "unanswered-call" and self.findings[-1].severity == "error":
            self.findings[-1] = msgspec.structs.replace(self.findings[-1], severity="warning")

    def result(self, result: ToolResult, at: Position) -> None:
        """A result; one that is out of the replay while its call is in it leaves that call without."""
        call = self.open.get(result.id or "")
        if call is not None and self.compacted and not call.compacted:
            self.open.pop(call.id)
            self.done[call.id] = at
            self.compacted = False
            self.cut_apart(call, at, at)
            self.compacted = True
            return
        super().result(result, at)


class RowLinear(Linear):
    """One pass over the rows of a conversation."""

    def __init__(self, reading: RowReading, dialect: Dialect, known: Known, *, full: bool) -> None:
        super().__init__(reading, dialect, known, compacts=False)
        self.pairing = RowPairing(dialect.good_id, dialect.unique_id, known.calls)
        self.pairing.full = full
        self.pairing.items = isinstance(dialect, Items)
        self.full = full

    def state(self) -> tuple[object, ...]:
        """What calls and results are left unpaired, whatever their places."""
        pairing = self.pairing
        faults = Counter((one.rule, one.call_id) for one in pairing.findings if one.severity != "info")
        return faults, {*pairing.open}, {call.id for call in pairing.unanswered}, {one.id for one in pairing.stray}

    def settle(self, frontier: str, order: Order, *, partial: bool, depends: bool) -> None:
        """The record is over; `order` is what it showed about its order."""
        self.finish(frontier, gap=False, partial=partial)
        self.findings += order.findings(depends=depends, full=self.full)
        if not partial:
            self.findings += self.lost_summaries(order.summaries)

    def lost_summaries(self, summaries: Mapping[int, Row]) -> Iterator[Finding]:
        """Rows that say that they are summed up in a row which is not there."""
        there = {key for key in self.keys if key in summaries} if summaries else set[int]()
        for key in summaries.keys() - there:
            row = summaries[key]
            detail = f"it is compacted into row {row.compacted}, which is not in the record"
            facts: dict[str, Any] = {"names": row.compacted}
            yield found("compaction-dangling", row.position(), detail, record_id=row.key, facts=facts)
