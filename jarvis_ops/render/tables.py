"""Outcomes for a person: a table on a terminal, one plain line for each finding elsewhere."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from jarvis_ops.model.finding import SEVERITIES, Finding
from jarvis_ops.model.report import Outcome, SessionOutcome
from jarvis_ops.render.visible import visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

# More findings than this are shown by rule, unless everything is asked for.
GROUP_ABOVE = 40
STYLES = {"error": "bold red", "warning": "yellow", "info": "cyan", "failed": "bold red", "skipped": "yellow"}
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
# On a terminal that is narrower than this the last two would squeeze the rest.
WIDE = 130
# So long is an instant in UTC to the second.
SECONDS = len("2026-11-30T22:15:00")


def place(finding: Finding) -> str:
    """Where a finding stands: `file`, `file:line`, or `file@offset` where lines were not counted."""
    position = finding.position
    if position.line is not None:
        return visible(f"{position.file}:{position.line}")
    return visible(position.file if position.offset is None else f"{position.file}@{position.offset}")


def finding_text(finding: Finding) -> str:
    """The sentence of a finding, with the ids that it is about where the sentence does not name them."""
    names = [("call", finding.call_id), ("record", finding.record_id)]
    added = [f"{what} {name}" for what, name in names if name is not None and name not in finding.detail]
    return visible(f"{finding.detail} ({', '.join(added)})" if added else finding.detail)


def plain_lines(outcome: Outcome) -> list[tuple[str, str]]:
    """The lines of one outcome and the word whose colour each takes."""
    if not outcome.findings:
        return [(f"{visible(outcome.conversation or 'store')}: {outcome.status}", outcome.status)]
    return [
        (f"{place(finding)}: {finding.severity} {finding.rule} {finding_text(finding)}", finding.severity)
        for finding in outcome.findings
    ]


def session_cells(row: SessionOutcome) -> tuple[str, ...]:
    """One conversation in the columns of SESSION_COLUMNS."""
    state = f"{row.state}, archived" if row.archived_at else row.state
    numbers = (str(row.records), str(row.bytes), str(row.parts))
    cells = (row.conversation or "", row.kind, state, row.last_record_at or "-", *numbers, row.dialect or "-")
    return tuple(visible(cell) for cell in (*cells, row.parent or "-"))


def findings_table(outcomes: Iterable[Outcome], *, everything: bool) -> Table:
    """All findings, or one row a rule when there are many and not everything is asked for."""
    found = [(outcome, finding) for outcome in outcomes for finding in outcome.findings]
    if len(found) > GROUP_ABOVE and not everything:
        return _by_rule(found)
    table = _table("where", "severity", "rule", "what")
    for _, finding in found:
        _add(table, (place(finding), finding.severity, finding.rule, finding_text(finding)), finding.severity)
    return table


def _by_rule(found: Sequence[tuple[Outcome, Finding]]) -> Table:
    table = _table("rule", "severity", "findings", "conversations", "first")
    groups: dict[tuple[str, str], list[tuple[Outcome, Finding]]] = defaultdict(list)
    for outcome, finding in found:
        groups[finding.severity, finding.rule].append((outcome, finding))
    for (severity, rule), members in sorted(groups.items(), key=_gravest_first):
        conversations = len({outcome.conversation for outcome, _ in members})
        cells = (rule, severity, str(len(members)), str(conversations), place(members[0][1]))
        _add(table, cells, severity)
    return table


def _gravest_first(group: tuple[tuple[str, str], list[tuple[Outcome, Finding]]]) -> tuple[int, int]:
    (severity, _), members = group
    return -SEVERITIES.index(severity), -len(members)


def outcomes_table(outcomes: Iterable[Outcome]) -> Table:
    """One row a conversation with its status."""
    table = _table("conversation", "status", "dialect", "records", "findings")
    for outcome in outcomes:
        numbers = (str(outcome.records), str(len(outcome.findings)))
        name = visible(outcome.conversation or "store")
        _add(table, (name, outcome.status, visible(outcome.dialect or "-"), *numbers), outcome.status)
    return table


def sessions_table(rows: Iterable[SessionOutcome], *, wide: bool) -> Table:
    """One row a conversation with what a look at it tells; dialect and parent only when it may be `wide`."""
    columns = SESSION_COLUMNS if wide else SESSION_COLUMNS[:-2]
    table = _table(*columns)
    for row in rows:
        cells = session_cells(row)[: len(columns)]
        _add(table, (*cells[:3], cells[3][:SECONDS].replace("T", " "), *cells[4:]), row.status)
    return table


def _table(*columns: str) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        right = name in ("records", "bytes", "parts", "findings", "conversations")
        folds = name in ("conversation", "parent", "where", "what", "first")
        table.add_column(name, justify="right" if right else "left", overflow="fold", no_wrap=not folds)
    return table


def _add(table: Table, cells: Sequence[str], word: str) -> None:
    """Add a row; the cell that holds the word takes its colour."""
    from rich.text import Text

    table.add_row(*(Text(cell, STYLES.get(word, "") if cell == word else "") for cell in cells))


def console(*, soft_wrap: bool = False) -> Console:
    """Standard output as rich writes to it, with nothing in a text taken for markup."""
    from rich.console import Console

    return Console(markup=False, highlight=False, emoji=False, soft_wrap=soft_wrap)
