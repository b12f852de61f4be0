"""The report of `migrate-seq`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from jarvis_ops.model.report import MigrateOutcome, Outcome, Report
from jarvis_ops.render.form import Form
from jarvis_ops.render.phrases import count, size, where
from jarvis_ops.render.tables import Line, add_row, new_table
from jarvis_ops.render.tally import Tally
from jarvis_ops.render.visible import visible

if TYPE_CHECKING:
    from rich.table import Table

LISTED = 50


def migrate_lines(outcome: Outcome, form: Form) -> Iterator[Line]:
    """What is to be done to a table, or was, what is known of it, and what could not be decided."""
    if not isinstance(outcome, MigrateOutcome):
        return
    for step in outcome.steps:
        yield visible(step), outcome.status
    yield from ((fact, "") for fact in facts(outcome))
    for note in outcome.notes:
        yield f"note: {visible(note)}", ""
    shown = outcome.undecided if form.verbose else outcome.undecided[:LISTED]
    for one in shown:
        yield f"not certain: {visible(one.conversation)} at {visible(one.time)}, {one.rows} rows: {one.why}", "warning"
    if len(shown) < len(outcome.undecided):
        yield f"not certain: {len(outcome.undecided) - len(shown):,} more; -v lists them", "warning"


def facts(outcome: MigrateOutcome) -> Iterator[str]:
    """What was found out about the table."""
    if outcome.moments:
        yield (
            f"{count(outcome.records, 'row')}, {count(outcome.moments, 'group')} of them with one time: "
            f"{outcome.changed:,} put in order by pairs, {len(outcome.undecided):,} not certain"
        )
    if outcome.updated or outcome.traceless:
        yield f"{count(outcome.updated, 'row')} updated since, {outcome.traceless:,} without a trace of their writing"
    if outcome.disk_bytes:
        yield (
            f"takes about {outcome.seconds:.0f} s, up to {size(outcome.disk_bytes)} of disk for tables and "
            f"{size(outcome.wal_bytes)} of log; how much is free cannot be seen from here"
        )
    if outcome.roles:
        yield f"may add rows, and will be allowed to number them: {visible(', '.join(outcome.roles))}"
    if outcome.waited_ms is not None:
        yield f"others were kept from the table for {outcome.waited_ms} ms at most"


def migrate_tables(outcomes: Sequence[Outcome], form: Form, _: int) -> Iterator[Table]:
    """The same for a terminal."""
    table = new_table("what")
    for outcome in outcomes:
        for text, word in migrate_lines(outcome, form):
            add_row(table, (text,), word)
    table.show_header = False
    yield table


def migrate_summary(report: Report, tally: Tally) -> list[str]:
    """The summary of `migrate-seq`."""
    if report.status == "planned":
        return [f"Nothing was changed in {where(report)}. To carry it out:", f"  {visible(tally.go_on)}"]
    if report.status == "applied":
        return [f"Done in {where(report)}."]
    if report.status == "clean":
        return [f"Nothing to do in {where(report)}."]
    return []
