"""What is remembered of our own runs: what they did, what an interruption left, and what can be freed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from jarvis_ops.model.plan import Step
from jarvis_ops.model.report import GcOutcome, Outcome, RecoverOutcome, Report, RunOutcome
from jarvis_ops.model.run import Freed
from jarvis_ops.render.form import Form
from jarvis_ops.render.phrases import count, left_over, size, where
from jarvis_ops.render.tables import GROUP_ABOVE, Line, add_row, name_of, new_table
from jarvis_ops.render.tally import Tally
from jarvis_ops.render.visible import visible

if TYPE_CHECKING:
    from rich.table import Table


def recover_lines(outcome: Outcome, form: Form) -> Iterator[Line]:
    """What interrupted runs left of a conversation, or what was done about it."""
    if not isinstance(outcome, RecoverOutcome):
        return
    name = name_of(outcome)
    if outcome.status == "planned":
        for run in outcome.unfinished:
            yield f"{name}: run {visible(run)} was interrupted here", "unfinished"
    for done in outcome.recovered:
        yield f"{name}: run {visible(done.run)}: {visible(done.what)}", ""
    if outcome.status in {"skipped", "failed"} or (form.verbose and outcome.status == "clean"):
        yield f"{name}: {outcome.status}", outcome.status


def recover_tables(outcomes: Sequence[Outcome], form: Form, _: int) -> Iterator[Table]:
    """The same for a terminal."""
    table = new_table("what")
    for outcome in outcomes:
        for text, word in recover_lines(outcome, form):
            add_row(table, (text,), word)
    table.show_header = False
    yield table


def recover_summary(report: Report, tally: Tally) -> list[str]:
    """The summary of `recover`."""
    verdict = "nothing was interrupted"
    if report.counts.planned:
        verdict = f"{count(report.counts.planned, 'conversation')} to recover"
    elif report.counts.applied:
        verdict = f"{count(report.counts.applied, 'conversation')} recovered"
    looked = f"{count(report.counts.conversations, 'conversation')} in {where(report)}"
    return [f"{looked}: {verdict}.", *left_over(report.counts, "failed", "left alone"), *_to_carry_out(report, tally)]


def what_was_done(steps: Iterable[Step]) -> str:
    """The steps of a run in a few words: `2 insert (unanswered-call)`."""
    kinds = Counter((step.step, step.rule) for step in steps)
    return visible(", ".join(f"{number} {kind} ({rule})" for (kind, rule), number in kinds.items())) or "-"


def run_cells(row: RunOutcome) -> tuple[str, ...]:
    """One conversation of a run in columns."""
    command = f"{row.command} of {row.undoes}" if row.undoes is not None else row.command
    cells = (row.run, command, name_of(row), row.state, what_was_done(row.steps), str(row.bytes_held))
    return tuple(map(visible, cells))


def run_lines(outcome: Outcome, _: Form) -> Iterator[Line]:
    """The columns of a run with tabs between them."""
    if isinstance(outcome, RunOutcome):
        yield "\t".join(run_cells(outcome)), outcome.state


def run_tables(outcomes: Sequence[Outcome], _: Form, __: int) -> Iterator[Table]:
    """The same for a terminal."""
    table = new_table("run", "command", "conversation", "state", "what", "bytes")
    for row in outcomes:
        if isinstance(row, RunOutcome):
            add_row(table, run_cells(row), row.state)
    yield table


def runs_summary(report: Report, tally: Tally) -> list[str]:
    """The summary of `runs`."""
    if not report.outcomes and not report.counts.conversations:
        return [f"No run is remembered in {where(report)}."]
    lines = [f"{count(report.counts.conversations, 'change')} remembered in {where(report)}."]
    lines += left_over(report.counts)
    return [*lines, f"To take one back: {visible(tally.take_back)}"]


def gc_lines(outcome: Outcome, _: Form) -> Iterator[Line]:
    """One line a file."""
    if isinstance(outcome, GcOutcome):
        for file in outcome.files:
            yield f"{visible(file.path)}: {file.kind} of run {visible(file.run)}, {size(file.bytes)}", ""


def gc_tables(outcomes: Sequence[Outcome], form: Form, _: int) -> Iterator[Table]:
    """One row a file, or one for those of a kind and run when there are many."""
    files = [file for outcome in outcomes if isinstance(outcome, GcOutcome) for file in outcome.files]
    if len(files) > GROUP_ABOVE and not form.verbose:
        yield _by_run(files)
        return
    table = new_table("kind", "run", "bytes", "file")
    for file in files:
        add_row(table, (file.kind, visible(file.run), str(file.bytes), visible(file.path)), "")
    yield table


def _by_run(files: Sequence[Freed]) -> Table:
    table = new_table("kind", "run", "files", "bytes")
    held: dict[tuple[str, str], list[int]] = defaultdict(list)
    for file in files:
        held[file.kind, file.run].append(file.bytes)
    for (kind, run), sizes in held.items():
        add_row(table, (kind, visible(run), str(len(sizes)), str(sum(sizes))), "")
    return table


def gc_summary(report: Report, tally: Tally) -> list[str]:
    """The summary of `gc`."""
    kinds = [f"{kind} {size(tally.freeable[kind])} in {count(tally.files[kind], 'file')}" for kind in tally.files]
    before = f"older than {tally.before}" if tally.before else "old enough"
    if not kinds:
        return [f"Nothing {before} to free in {where(report)}."]
    word = "freed" if report.status == "applied" else "can be freed"
    return [f"{', '.join(kinds)}, {before}, {word} in {where(report)}.", *_to_carry_out(report, tally)]


def _to_carry_out(report: Report, tally: Tally) -> Iterator[str]:
    if report.status == "planned":
        yield "Nothing was changed. To carry it out:"
        yield f"  {visible(tally.go_on)}"
