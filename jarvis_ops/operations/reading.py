"""The lines of a conversation as records: damaged ones are named, and what is whole in them is read all the same."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import orjson

from jarvis_ops.dialects.base import Dialect
from jarvis_ops.model.finding import Finding
from jarvis_ops.model.record import Position, Record
from jarvis_ops.model.settings import Limits
from jarvis_ops.rules import damage
from jarvis_ops.rules.findings import found
from jarvis_ops.rules.text import BYTE_ORDER_MARK, judge_text
from jarvis_ops.stores.base import Snapshot


class Reading:
    """Iterates over (record, object) of a conversation, forward; a line may hold none, one or several.

    `findings` grows with what is wrong with the bytes; `lines` counts lines that are not blank, `size` bytes.
    `damaged` is True once a line has lost something that can no longer be read. A last line without an end is
    left alone, and `growing` set, while a writer holds the file.
    """

    def __init__(
        self, snapshot: Snapshot, dialect: Dialect, limits: Limits, records: Iterator[Record] | None = None
    ) -> None:
        self.snapshot = snapshot
        self.dialect = dialect
        self.limits = limits
        self.findings: list[Finding] = []
        self.lines = 0
        self.size = 0
        self.damaged = False
        self.growing = False
        self.returns: dict[str, tuple[Position, int]] = {}
        self.ahead: deque[Record] = deque()
        self.source = records if records is not None else snapshot.records()

    def __iter__(self) -> Iterator[tuple[Record, dict[str, Any]]]:
        while (record := self.next_line()) is not None:
            raw = record.raw
            self.size += len(raw)
            try:
                value = orjson.loads(raw)
            except (orjson.JSONDecodeError, RecursionError):
                value = None
            if raw.endswith(b"\r\n"):
                self.carriage_return(record)
            if type(value) is dict and raw.endswith(b"\n"):
                self.whole(record)
                yield record, value
            elif raw.strip(b" \t\r\n"):
                self.lines += 1
                yield from self.odd(record, value)
        self.summarise()

    def next_line(self) -> Record | None:
        """The next line, from those already looked at or from the store."""
        return self.ahead.popleft() if self.ahead else next(self.source, None)

    def whole(self, record: Record) -> None:
        """A line that is one object; its text may still be odd."""
        self.lines += 1
        for rule, detail, facts in judge_text(record.raw, self.limits.long_line):
            self.findings.append(found(rule, record.position(), detail, facts=facts))

    def odd(self, record: Record, value: object) -> Iterator[tuple[Record, dict[str, Any]]]:
        """A line that is not one strict object with a line feed behind it."""
        if record.offset == 0 and record.raw.startswith(BYTE_ORDER_MARK):
            self.findings.append(found("byte-order-mark", record.position(), "the file begins with a byte order mark"))
            record = Record(record.file, record.line, len(BYTE_ORDER_MARK), record.raw[len(BYTE_ORDER_MARK) :])
            value = damage.strict(record.raw)
        final = not record.raw.endswith(b"\n")
        if final and self.snapshot.writer():
            self.growing = True
            return
        if type(value) is dict:
            self.lines -= 1
            self.whole(record)
            if final:
                detail = "the last line has no end, so the next record would be glued to it"
                self.findings.append(found("no-final-newline", record.position(), detail))
            yield record, value
            return
        verdict = damage.examine(
            record.raw, final=final, following=lambda: self.following(record.file), is_record=self.dialect.is_record
        )
        if verdict is None:
            parsed = damage.parse(record.raw)
            if parsed is not None:
                yield record, parsed
            return
        yield from self.broken(record, verdict)

    def broken(self, record: Record, verdict: damage.Damage) -> Iterator[tuple[Record, dict[str, Any]]]:
        """Report a damaged line and read what is whole in it."""
        facts = dict(verdict.facts)
        if verdict.lines > 1:
            consumed = [self.ahead.popleft() for _ in range(verdict.lines - 1)]
            self.size += sum(len(line.raw) for line in consumed)
            if record.line is not None:
                facts["lines"] = [record.line + number for number in range(verdict.lines)]
        self.damaged = self.damaged or not verdict.pieces or bool(facts.get("torn_bytes"))
        self.findings.append(
            found(verdict.rule, record.position(), verdict.detail, record_id=verdict.record_id, facts=facts)
        )
        for piece in verdict.pieces:
            yield (
                Record(record.file, record.line, record.offset + piece.start, record.raw[piece.start : piece.end]),
                piece.value,
            )

    def following(self, file: str) -> Sequence[bytes]:
        """The raw lines behind the present one in its file, as far as a broken record may reach."""
        missing = damage.JOINED_LINES - len(self.ahead)
        size = 0
        for record in islice(self.source, max(missing, 0)):
            self.ahead.append(record)
            size += len(record.raw)
            if record.file != file or size > damage.JOINED_BYTES:
                break
        lines = []
        for record in self.ahead:
            if record.file != file:
                break
            lines.append(record.raw)
        return lines

    def carriage_return(self, record: Record) -> None:
        """Count lines that end in CR LF; the file is named once."""
        at, count = self.returns.get(record.file, (record.position(), 0))
        self.returns[record.file] = (at, count + 1)

    def summarise(self) -> None:
        """At the end of the record: what is said once a file."""
        for at, count in self.returns.values():
            self.findings.append(found("crlf", at, f"{count} lines of this file end in CR LF", facts={"count": count}))
        for part in self.snapshot.parts:
            if part.size == 0:
                self.findings.append(found("empty-file", Position(part.file.file), "the file is empty"))
