"""What the tables of a database show as a whole: how their rows are numbered, and what is unfinished."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from jarvis_ops.model.finding import Finding
from jarvis_ops.model.record import Position
from jarvis_ops.rules.findings import found
from jarvis_ops.rules.order import UNITS
from jarvis_ops.rules.words import counted


class Numbering(msgspec.Struct, frozen=True, kw_only=True):
    """How the rows of a table are numbered.

    `ties` are groups of rows that nothing orders, `tied` the first conversation with one. `units` counts conversations
    by what their times count. `sequence` gives out the numbers, the last of which was `last`; `highest` is the highest
    in use. None is what is not there, or not known.
    """

    table: str
    has_seq: bool
    ties: int
    tied: str | None
    units: Mapping[str, int]
    sequence: str | None
    owned: bool
    last: int | None
    highest: int | None
    invalid: tuple[str, ...]
    missing: tuple[str, ...]


def judge_schema(facts: Numbering, *, whole: bool) -> Iterator[Finding]:
    """All findings about a table; what only the whole store can show is said only if `whole`."""
    at = Position(table=facts.table)
    if facts.ties and not facts.has_seq:
        detail = f"rows share a time in {counted(facts.ties, 'group')}, and no column orders them"
        yield found("missing-seq", at, detail, facts={"groups": facts.ties, "conversation": facts.tied})
    if not whole:
        return
    if len(facts.units) > 1:
        said = ", ".join(f"{number:,} in {UNITS.get(unit, unit)}" for unit, number in sorted(facts.units.items()))
        yield found("mixed-units", at, f"conversations count time in several units: {said}", facts={**facts.units})
    if facts.sequence is not None:
        yield from judge_sequence(facts)
    for index in facts.invalid:
        yield found("invalid-index", Position(table=index), f"index {index} was not built to its end")
    for column in facts.missing:
        yield found("missing-column", at, f"column {column} is missing, and others need it", facts={"column": column})


def judge_sequence(facts: Numbering) -> Iterator[Finding]:
    """Whether the next number is a new one, and whether the sequence goes where its column goes."""
    at = Position(table=facts.sequence)
    if facts.last is not None and facts.highest is not None and facts.last < facts.highest:
        detail = f"it stands at {facts.last}, and {facts.table} has numbers up to {facts.highest}"
        yield found("sequence-behind", at, detail, facts={"stored": facts.last, "actual": facts.highest})
    if not facts.owned:
        yield found("sequence-not-owned", at, f"no column of {facts.table} owns it")
