"""Judging a conversation whose order is that of its lines: JARVIS's and Pippa's."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from jarvis_ops.dialects.base import Dialect
from jarvis_ops.dialects.jarvis import COMPACTION, HEALED, SEALED
from jarvis_ops.model.finding import Finding
from jarvis_ops.model.message import Message
from jarvis_ops.model.record import Position, Record
from jarvis_ops.rules.findings import found
from jarvis_ops.rules.pairing import Pairing
from jarvis_ops.rules.repeats import repeats
from jarvis_ops.rules.turns import Turns


class Known(NamedTuple):
    """What an earlier pass over the same conversation found out, so that the next can be exact.

    `records` and `calls` are hashes of record keys and call ids that stand more than once; `through` is the
    message up to which the newest compaction reaches, `boundary` where that compaction stands.
    """

    records: frozenset[int] = frozenset()
    calls: frozenset[int] = frozenset()
    through: str | None = None
    boundary: Position | None = None


class Read(Protocol):
    """Iterates over the records of a conversation, each with its message; `findings` grows with what is odd in them."""

    findings: list[Finding]
    size: int

    def __iter__(self) -> Iterator[tuple[Record, Message]]:
        """The records, forward."""


class Linear:
    """One pass over a conversation. `run` it, then `finish` it; `findings` is the verdict."""

    def __init__(self, reading: Read, dialect: Dialect, known: Known, *, compacts: bool) -> None:
        self.reading = reading
        self.dialect = dialect
        self.known = known
        self.compacts = compacts
        self.pairing = Pairing(dialect.good_id, dialect.unique_id, known.calls)
        self.pairing.compacted = known.through is not None
        self.turns = Turns()
        self.keys = array("q")
        self.first: dict[int, tuple[Position, int, bool]] = {}
        self.findings: list[Finding] = []
        self.compactions: list[tuple[Mapping[str, Any], Position]] = []
        self.sealed: dict[str, Mapping[str, Any]] = {}
        self.healed: dict[str, tuple[Mapping[str, Any], Position]] = {}
        self.records = 0
        self.last_time: int | None = None

    def run(self) -> None:
        """Read and judge every line."""
        file = ""
        for record, message in self.reading:
            self.records += 1
            if record.file != file:
                file = record.file
                self.turns.file_begins()
            if message.type:
                self.marker(message, record)
            if message.fault:
                self.findings.append(found("bad-shape", record.position(), message.fault, record_id=message.id))
            if message.time is not None:
                self.last_time = message.time
            if self.repeated(message, record):
                continue
            self.pairing.feed(message, record)
            self.turns.feed(message, record)
            if message.id is not None and message.id == self.known.through and self.known.boundary is not None:
                self.pairing.split(self.known.boundary)

    def marker(self, message: Message, record: Record) -> None:
        """Remember what a marker says."""
        fields = message.marker or {}
        if message.type == COMPACTION:
            self.compactions.append((fields, record.position()))
        elif message.type == SEALED and record.line == 1:
            self.sealed[record.file] = fields
        elif message.type == HEALED and isinstance(fields.get("segment"), str):
            self.healed[fields["segment"]] = (fields, record.position())

    def repeated(self, message: Message, record: Record) -> bool:
        """Whether this record stood before, byte for byte; a record of the same id with other content is named too."""
        if message.id is None and message.time is None:
            return False
        key = hash(message.id) if message.id is not None else hash(record.raw.strip())
        self.keys.append(key)
        if key not in self.known.records:
            return False
        content = hash(record.raw.strip())
        if key not in self.first:
            self.first[key] = record.position(), content, message.proactive
            return False
        earlier, first_content, proactive = self.first[key]
        if proactive and message.proactive:
            return True
        facts = {"first_line": earlier.line, "first_file": earlier.file}
        same = first_content == content
        rule = "repeated-record" if same else "duplicate-id"
        words = "the same record, byte for byte, stands" if same else "another record with this id stands"
        where = f"row {earlier.key}" if earlier.table is not None else f"line {earlier.line} of {earlier.file}"
        detail = f"{words} in {where}"
        self.findings.append(found(rule, record.position(), detail, record_id=message.id, facts=facts))
        return same

    @property
    def cut(self) -> set[str]:
        """Files whose last line has no line feed."""
        return {one.position.file for one in self.reading.findings if one.rule in {"torn-tail", "no-final-newline"}}

    def learned(self) -> Known:
        """What the next pass must know."""
        through, boundary = None, None
        if self.compacts and self.compactions:
            fields, at = self.compactions[-1]
            named = fields.get("through_id")
            if isinstance(named, str) and hash(named) in self.keys:
                through, boundary = named, at
        return Known(repeats(self.keys), repeats(self.pairing.ids), through, boundary)

    def finish(self, frontier: str, *, gap: bool, partial: bool) -> None:
        """The record is over. There may be a `gap` in it, or only its end was read (`partial`)."""
        whole = not gap and not partial
        self.pairing.finish(frontier, calls_known=whole, results_known=not gap)
        self.turns.finish(frontier)
        if whole and self.compacts:
            self.dangling_compactions()
        self.findings += self.reading.findings + self.pairing.findings + self.turns.findings

    def dangling_compactions(self) -> None:
        """Compactions that name messages which are not there."""
        named = {
            (number, field): fields[field]
            for number, (fields, _) in enumerate(self.compactions)
            for field in ("from_id", "through_id")
            if isinstance(fields.get(field), str)
        }
        if not named:
            return
        there = {hash(name) for name in named.values()}.intersection(self.keys)
        for (number, field), name in named.items():
            if hash(name) not in there:
                fields, at = self.compactions[number]
                detail = f"the compaction names message {name} ({field}), which is not in the record"
                record_id = fields.get("id") if isinstance(fields.get("id"), str) else None
                self.findings.append(
                    found("compaction-dangling", at, detail, record_id=record_id, facts={"names": name})
                )
