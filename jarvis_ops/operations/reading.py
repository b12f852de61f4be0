"""The lines of a conversation as records: damaged ones are named, and what is whole in them is read all the same."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from jarvis_ops.dialects.base import Dialect
from jarvis_ops.model.finding import Finding
from jarvis_ops.model.message import Message
from jarvis_ops.model.record import Position, Record
from jarvis_ops.model.settings import Limits
from jarvis_ops.rules import damage
from jarvis_ops.rules.findings import found
from jarvis_ops.rules.seams import parse, strict
from jarvis_ops.rules.text import BYTE_ORDER_MARK, has_risky_escape, nul_characters, separators
from jarvis_ops.rules.words import counted
from jarvis_ops.stores.base import Snapshot

BLANK = b" \t\r\n"
# What files in UTF-16 and UTF-32 begin with; no UTF-8 does.
OTHER_ENCODINGS = (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")
LINE_FEED = 10


class Tally(NamedTuple):
    """What is counted over a file: the first place, the offsets of all lines, and what was met."""

    at: Position
    lines: set[int]
    what: set[str]


class Reading:
    """Iterates over (record, message) of a conversation, forward; a line may hold none, one or several.

    `findings` grows with what is wrong with the bytes; `size` counts bytes. `damaged` is True once a line has lost
    something that can no longer be read. A last line without an end is left alone, and `growing` set, while a writer
    holds the file.
    """

    def __init__(
        self, snapshot: Snapshot, dialect: Dialect, limits: Limits, records: Iterator[Record] | None = None
    ) -> None:
        self.snapshot = snapshot
        self.dialect = dialect
        self.limits = limits
        self.findings: list[Finding] = []
        self.size = 0
        self.damaged = False
        self.growing = False
        self.tallies: dict[tuple[str, str], Tally] = {}
        self.unreadable: set[str] = set()
        self.ahead: deque[Record] = deque()
        self.source = records if records is not None else snapshot.records()

    def __iter__(self) -> Iterator[tuple[Record, Message]]:
        while (record := self.next_line()) is not None:
            raw = record.raw
            self.size += len(raw)
            message = self.plain(raw)
            if message is not None:
                # A plain line has odd text only if it is very long or has one of these bytes.
                if b"\xe2" in raw or b"\xc2" in raw or b"\r" in raw or len(raw) > self.limits.long_line:
                    self.judge_text(record)
                yield record, message
            elif raw.strip(BLANK):
                yield from self.full(record)
        self.summarise()

    def next_line(self) -> Record | None:
        """The next line, from those already looked at or from the store."""
        return self.ahead.popleft() if self.ahead else next(self.source, None)

    def plain(self, raw: bytes) -> Message | None:
        """The message of a line of the most usual form; None when it wants to be looked at more closely."""
        if raw[-1] != LINE_FEED or (b"\\" in raw and has_risky_escape(raw)):
            return None
        try:
            if not raw.isascii():
                raw.decode()
            return self.dialect.quick(raw)
        except (msgspec.DecodeError, ValueError, RecursionError):
            return None

    def full(self, record: Record) -> Iterator[tuple[Record, Message]]:
        """A line of any form."""
        if self.is_foreign(record):
            return
        if record.offset == 0 and record.raw.startswith(BYTE_ORDER_MARK):
            self.findings.append(found("byte-order-mark", record.position(), "the file begins with a byte order mark"))
            record = Record(record.file, record.line, len(BYTE_ORDER_MARK), record.raw[len(BYTE_ORDER_MARK) :])
        final = not record.raw.endswith(b"\n")
        if final and self.snapshot.writer():
            self.growing = True
            return
        value = strict(record.raw)
        if not isinstance(value, dict):
            yield from self.odd(record, final=final)
            return
        self.judge_text(record)
        if final:
            detail = "the last line has no end, so the next record would be glued to it"
            self.findings.append(found("no-final-newline", record.position(), detail))
        yield record, self.dialect.decode(value)

    def is_foreign(self, record: Record) -> bool:
        """Whether a line stands in a file of another encoding, which is said once and not read any further."""
        if record.offset == 0 and record.raw.startswith(OTHER_ENCODINGS):
            self.unreadable.add(record.file)
            detail = "it is in UTF-16 or UTF-32, and a log is in UTF-8"
            self.findings.append(found("unreadable", Position(record.file), detail))
        return record.file in self.unreadable

    def judge_text(self, record: Record) -> None:
        """A line that is one object may still have odd text."""
        raw = record.raw
        nuls = nul_characters(raw)
        if nuls:
            detail = f"U+0000 {counted(nuls, 'time')} in its text, which Postgres refuses"
            self.findings.append(found("nul-char", record.position(), detail, facts={"count": nuls}))
        for name in separators(raw):
            self.tally("line-separator-char", record, name)
        if raw.endswith(b"\r\n"):
            self.tally("crlf", record, "CR LF")
        if len(raw) > self.limits.long_line:
            detail = f"the line has {len(raw):,} bytes"
            self.findings.append(found("long-line", record.position(), detail, facts={"bytes": len(raw)}))

    def tally(self, rule: str, record: Record, what: str) -> None:
        """Count what is said once a file, at the first line that has it."""
        tally = self.tallies.setdefault((rule, record.file), Tally(record.position(), set(), set()))
        tally.lines.add(record.offset)
        tally.what.add(what)

    def odd(self, record: Record, *, final: bool) -> Iterator[tuple[Record, Message]]:
        """A line that is not one strict object."""
        verdict = damage.examine(
            record.raw,
            final=final,
            following=lambda: self.following(record.file),
            is_record=self.dialect.is_record,
        )
        if verdict is not None:
            yield from self.broken(record, verdict)
            return
        parsed = parse(record.raw)
        if parsed is not None:
            yield record, self.dialect.decode(parsed)

    def broken(self, record: Record, verdict: damage.Damage) -> Iterator[tuple[Record, Message]]:
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
            message = self.dialect.decode(piece.value)
            message.fault = ""  # a damaged line has its finding already
            raw = record.raw[piece.start : piece.end]
            yield Record(record.file, record.line, record.offset + piece.start, raw), message

    def following(self, file: str) -> Iterator[bytes]:
        """The raw lines behind the present one in its file; each is kept until its turn comes."""
        number = 0
        while True:
            if number == len(self.ahead):
                record = next(self.source, None)
                if record is None:
                    return
                self.ahead.append(record)
            if self.ahead[number].file != file:
                return
            yield self.ahead[number].raw
            number += 1

    def summarise(self) -> None:
        """At the end of the record: what is said once a file."""
        for (rule, _), tally in self.tallies.items():
            count = len(tally.lines)
            what = ", ".join(sorted(tally.what))
            detail = f"{what} {'ends' if rule == 'crlf' else 'stands in'} {counted(count, 'line')} of this file"
            self.findings.append(found(rule, tally.at, detail, facts={"count": count}))
        for part in self.snapshot.parts:
            if part.size == 0:
                self.findings.append(found("empty-file", Position(part.file.file), "the file is empty"))
