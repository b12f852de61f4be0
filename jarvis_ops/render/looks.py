"""How the report of each command looks to a person."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from jarvis_ops.model.report import (
    GcReport,
    HealReport,
    MigrateReport,
    Outcome,
    RecoverReport,
    Report,
    RunsReport,
    SessionsReport,
)
from jarvis_ops.render import summary, tables
from jarvis_ops.render.form import Form
from jarvis_ops.render.tally import Tally

if TYPE_CHECKING:
    from rich.table import Table


class Look(NamedTuple):
    """A report and what is shown of it: `tables` of all outcomes on a terminal of some columns, `lines` elsewhere.

    `rows` says that every outcome is one row: clean ones are shown, and without a terminal the summary goes to
    standard error, so that standard output is rows alone.
    """

    report: type[Report]
    lines: Callable[[Outcome, Form], Iterable[tables.Line]]
    tables: Callable[[Sequence[Outcome], Form, int], Iterable[Table]]
    summary: Callable[[Report, Tally], list[str]]
    rows: bool = False


def look_of(command: str) -> Look:
    """How a command's report looks. Only what that needs is loaded, since every start pays for it."""
    if command in {"heal", "undo"}:
        from jarvis_ops.render import changes

        last_words = changes.heal_summary if command == "heal" else changes.undo_summary
        return Look(HealReport, changes.change_lines, changes.change_tables, last_words)
    if command in {"recover", "gc", "runs"}:
        from jarvis_ops.render import upkeep

        return {
            "recover": Look(RecoverReport, upkeep.recover_lines, upkeep.recover_tables, upkeep.recover_summary),
            "gc": Look(GcReport, upkeep.gc_lines, upkeep.gc_tables, upkeep.gc_summary),
            "runs": Look(RunsReport, upkeep.run_lines, upkeep.run_tables, upkeep.runs_summary, rows=True),
        }[command]
    if command == "migrate-seq":
        from jarvis_ops.render import numbering

        return Look(MigrateReport, numbering.migrate_lines, numbering.migrate_tables, numbering.migrate_summary)
    return {
        "verify-pairs": Look(Report, tables.outcome_lines, tables.verify_tables, summary.verify_summary),
        "sessions": Look(
            SessionsReport, tables.session_lines, tables.sessions_tables, summary.sessions_summary, rows=True
        ),
    }[command]
