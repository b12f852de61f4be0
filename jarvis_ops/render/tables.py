"""Findings and conversations for a person: a table on a terminal, one plain line for each elsewhere."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from jarvis_ops.model.finding import SEVERITIES, Finding
from jarvis_ops.model.record import Position
from jarvis_ops.model.report import Outcome, SessionOutcome
from jarvis_ops.render.form import Form
from jarvis_ops.render.visible import visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

# A line of text, and the word whose colour it takes.
Line = tuple[str, str]

# More findings than this are shown by rule, unless everything is asked for.
GROUP_ABOVE = 40
STYLES = {
    "error": "bold red", "warning": "yellow", "info": "cyan", "failed": "bold red", "skipped": "yellow",
    "lossy": "yellow", "asked": "yellow", "held back": "yellow", "left": "bold red", "unfinished": "bold red",
}  # fmt: skip
SESSION_COLUMNS = (
    "conversation",
    "kind",
    "state",
    "last record (UTC)",
    "records",
    "bytes",
    "parts",
    "dialect",
    "parent",
)
NUMBERS = frozenset({"records", "bytes", "parts", "findings", "conversations", "steps", "files"})
LONG = frozenset({"conversation", "parent", "where", "what", "first", "file"})
# On a terminal that is narrower than this the last two would squeeze the rest.
WIDE = 130
# So long is an instant in UTC to the second.
SECONDS = len("2026-11-30T22:15:00")


def place(position: Position) -> str:
    """A place: `file`, `file:line`, or `file@offset` where lines were not counted; a row is `table:key`."""
    if position.table is not None:
        return visible(position.table if position.key is None else f"{position.table}:{position.key}")
    if position.line is not None:
        return visible(f"{position.file}:{position.line}")
    return visible(position.file if position.offset is None else f"{position.file}@{position.offset}")


def finding_text(finding: Finding) -> str:
    """The sentence of a finding, with the ids that it is about where neither it nor the place names them."""
    record_id = finding.record_id if finding.record_id != finding.position.key else None
    return sentence(finding.detail, finding.call_id, record_id)


def sentence(text: str, call_id: str | None, record_id: str | None) -> str:
    """A sentence, with the ids that it is about where it does not name them."""
    names = [("call", call_id), ("record", record_id)]
    added = [f"{what} {name}" for what, name in names if name is not None and name not in text]
    return visible(f"{text} ({', '.join(added)})" if added else text)


def name_of(outcome: Outcome) -> str:
    """The conversation of an outcome, or that it is about the store."""
    return visible(outcome.conversation or "store")


def finding_lines(findings: Iterable[Finding]) -> Iterator[Line]:
    """One line a finding."""
    for finding in findings:
        text = f"{place(finding.position)}: {finding.severity} {finding.rule} {finding_text(finding)}"
        yield text, finding.severity


def outcome_lines(outcome: Outcome, _: Form) -> Iterator[Line]:
    """The lines of a judged conversation."""
    if outcome.findings:
        return finding_lines(outcome.findings)
    return iter([(f"{name_of(outcome)}: {outcome.status}", outcome.status)])


def session_lines(outcome: Outcome, _: Form) -> Iterator[Line]:
    """The columns of a listed conversation with tabs between them."""
    if isinstance(outcome, SessionOutcome):
        yield "\t".join(session_cells(outcome)), ""


def session_cells(row: SessionOutcome) -> tuple[str, ...]:
    """One conversation in the columns of SESSION_COLUMNS."""
    state = f"{row.state}, archived" if row.archived_at else row.state
    numbers = (str(row.records), str(row.bytes), str(row.parts))
    cells = (row.conversation or "", row.kind, state, row.last_record_at or "-", *numbers, row.dialect or "-")
    return tuple(visible(cell) for cell in (*cells, row.parent or "-"))


def findings_table(found: Sequence[tuple[Outcome, Finding]], *, everything: bool) -> Table:
    """Findings, or one row a rule when there are many and not everything is asked for."""
    if len(found) > GROUP_ABOVE and not everything:
        return _by_rule(found)
    table = new_table("where", "severity", "rule", "what")
    for _, one in found:
        add_row(table, (place(one.position), one.severity, one.rule, finding_text(one)), one.severity)
    return table


def _by_rule(found: Sequence[tuple[Outcome, Finding]]) -> Table:
    table = new_table("rule", "severity", "findings", "conversations", "first")
    groups: dict[tuple[str, str], list[tuple[Outcome, Finding]]] = defaultdict(list)
    for outcome, finding in found:
        groups[finding.severity, finding.rule].append((outcome, finding))
    for (severity, rule), members in sorted(groups.items(), key=_gravest_first):
        conversations = len({outcome.conversation for outcome, _ in members})
        cells = (rule, severity, str(len(members)), str(conversations), place(members[0][1].position))
        add_row(table, cells, severity)
    return table


def _gravest_first(group: tuple[tuple[str, str], list[tuple[Outcome, Finding]]]) -> tuple[int, int]:
    (severity, _), members = group
    return -SEVERITIES.index(severity), -len(members)


def outcomes_table(outcomes: Iterable[Outcome]) -> Table:
    """One row a conversation with its status."""
    table = new_table("conversation", "status", "dialect", "records", "findings")
    for outcome in outcomes:
        numbers = (str(outcome.records), str(len(outcome.findings)))
        add_row(table, (name_of(outcome), outcome.status, visible(outcome.dialect or "-"), *numbers), outcome.status)
    return table


def verify_tables(outcomes: Sequence[Outcome], form: Form, _: int) -> Iterator[Table]:
    """What a judgement shows: the findings, then the conversations that have none to show."""
    found = [(outcome, finding) for outcome in outcomes for finding in outcome.findings]
    yield findings_table(found, everything=form.verbose)
    yield outcomes_table(one for one in outcomes if form.verbose or not one.findings)


def sessions_tables(outcomes: Sequence[Outcome], form: Form, width: int) -> Iterator[Table]:
    """What a listing shows, on a terminal of so many columns."""
    rows = [one for one in outcomes if isinstance(one, SessionOutcome)]
    yield sessions_table(rows, wide=form.verbose or width >= WIDE)


def sessions_table(rows: Iterable[SessionOutcome], *, wide: bool) -> Table:
    """One row a conversation with what a look at it tells; dialect and parent only when it may be `wide`."""
    columns = SESSION_COLUMNS if wide else SESSION_COLUMNS[:-2]
    table = new_table(*columns)
    for row in rows:
        cells = session_cells(row)[: len(columns)]
        add_row(table, (*cells[:3], cells[3][:SECONDS].replace("T", " "), *cells[4:]), row.status)
    return table


def new_table(*columns: str) -> Table:
    """An empty table; numbers stand on the right, and what may be long is folded."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        right, folds = name in NUMBERS, name in LONG
        table.add_column(name, justify="right" if right else "left", overflow="fold", no_wrap=not folds)
    return table


def add_row(table: Table, cells: Sequence[str], word: str) -> None:
    """Add a row; the cell that holds the word takes its colour."""
    from rich.text import Text

    table.add_row(*(Text(cell, STYLES.get(word, "") if cell == word else "") for cell in cells))


def console(*, soft_wrap: bool = False) -> Console:
    """Standard output as rich writes to it, with nothing in a text taken for markup."""
    from rich.console import Console

    return Console(markup=False, highlight=False, emoji=False, soft_wrap=soft_wrap)
