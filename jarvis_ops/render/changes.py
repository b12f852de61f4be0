"""What a repair, or taking one back, will do or has done: steps, remarks on each conversation, and a last word."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from jarvis_ops.model.finding import Finding
from jarvis_ops.model.plan import Step
from jarvis_ops.model.report import Counts, HealOutcome, Outcome, Report
from jarvis_ops.model.run import Level
from jarvis_ops.render.form import Form
from jarvis_ops.render.phrases import count, left_over, looked_at, where
from jarvis_ops.render.tables import (
    GROUP_ABOVE,
    Line,
    add_row,
    finding_lines,
    findings_table,
    name_of,
    new_table,
    place,
    sentence,
)
from jarvis_ops.render.tally import Tally
from jarvis_ops.render.visible import visible

if TYPE_CHECKING:
    from rich.table import Table

HELD = "held back"
HELD_BECAUSE = {
    "lossy": "takes something out of the replay, and keeps it aside",
    "asked": "is made only when its rule is named",
    "sealed": "needs a sealed segment to be replaced",
}
HELD_OPTION = {"lossy": "--lossy", "sealed": "--include-sealed"}
LEVELS: dict[Level, str] = {
    "lease": "by the system itself",
    "open-files": "by a look at the files that are open, which may miss those of other users",
    "quiet": "only by its not having been touched for a while",
}
LINES = {"kept": "kept", "moved": "moved", "added": "added", "quarantined": "set aside", "changed": "changed"}


def change_lines(outcome: Outcome, form: Form) -> Iterator[Line]:
    """The lines of one conversation: its steps, what is left wrong, and remarks."""
    if not isinstance(outcome, HealOutcome):
        return
    for step in outcome.steps:
        yield f"{place(step.position)}: {step.safety} {step.step} {step.rule} {step_text(step)}", word_of(step)
        if form.verbose and step.bytes is not None:
            yield f"  {visible(step.bytes)}", ""
    yield from finding_lines(left_findings(outcome, form))
    for text, word in remarks(outcome, form):
        yield f"{name_of(outcome)}: {text}", word


def step_text(step: Step) -> str:
    """Why a step is taken, where a record goes, and whether it waits for an option."""
    text = sentence(step.why, step.call_id, step.record_id)
    to = f"; it goes behind {place(step.to)}" if step.to is not None else ""
    return f"{text}{to} ({HELD})" if step.held is not None else f"{text}{to}"


def word_of(step: Step) -> str:
    """The word whose colour a step takes."""
    return HELD if step.held is not None else step.safety


def left_findings(outcome: HealOutcome, form: Form) -> list[Finding]:
    """What no step is about and a person must know: errors, or everything when asked for."""
    if form.verbose or outcome.status in {"skipped", "failed"}:
        return outcome.findings if form.verbose else []
    about = {step.rule for step in outcome.steps if step.held is not None or outcome.run is None}
    return [one for one in outcome.findings if one.severity == "error" and one.rule not in about]


def remarks(outcome: HealOutcome, form: Form) -> Iterator[Line]:
    """Sentences on one conversation as a whole."""
    for text in outcome.recovered:
        yield f"an earlier run was interrupted; {visible(text)}", ""
    if outcome.reachable is not None and (outcome.reachable[0] != outcome.reachable[1] or form.verbose):
        before, after = outcome.reachable
        yield f"reachable from its last message: {count(before, 'message')} before, {after:,} after", ""
    if outcome.unbinds:
        yield f"a changed history stands before {count(outcome.unbinds, 'signed thinking block')}", "lossy"
    if outcome.references:
        yield f"a record that is taken away is named in {count(outcome.references, 'place')} outside the log", "lossy"
    for text in outcome.refused:
        yield f"not mended: {visible(text)}", "left"
    if outcome.late_lines:
        yield f"{count(outcome.late_lines, 'line')} written meanwhile by others, and kept", ""
    if outcome.writer_check is not None and (outcome.writer_check != "lease" or form.verbose):
        yield f"that nobody else was writing was told {LEVELS[outcome.writer_check]}", ""
    if outcome.status in {"skipped", "failed"} or (form.verbose and not outcome.steps):
        yield outcome.status, outcome.status


def change_tables(outcomes: Sequence[Outcome], form: Form, _: int) -> Iterator[Table]:
    """What a terminal shows: all steps, then what is left wrong, then the remarks."""
    changes = [one for one in outcomes if isinstance(one, HealOutcome)]
    yield steps_table([(one, step) for one in changes for step in one.steps], everything=form.verbose)
    left: list[tuple[Outcome, Finding]] = [(one, finding) for one in changes for finding in left_findings(one, form)]
    yield findings_table(left, everything=form.verbose)
    yield remarks_table((one, line) for one in changes for line in remarks(one, form))


def steps_table(taken: Sequence[tuple[HealOutcome, Step]], *, everything: bool) -> Table:
    """Steps, or one row for those of a kind when there are many and not everything is asked for."""
    if len(taken) > GROUP_ABOVE and not everything:
        return _by_kind(taken)
    table = new_table("where", "step", "safety", "rule", "what")
    for _, step in taken:
        cells = (place(step.position), step.step, step.safety, step.rule, step_text(step))
        add_row(table, cells, step.safety)
        if everything and step.bytes is not None:
            add_row(table, ("", "", "", "", visible(step.bytes)), "")
    return table


def _by_kind(taken: Sequence[tuple[HealOutcome, Step]]) -> Table:
    table = new_table("rule", "step", "safety", "steps", "conversations", "first")
    groups: dict[tuple[str, str, str], list[tuple[HealOutcome, Step]]] = defaultdict(list)
    for outcome, step in taken:
        groups[step.rule, step.step, HELD if step.held is not None else step.safety].append((outcome, step))
    for (rule, kind, word), members in sorted(groups.items(), key=lambda group: -len(group[1])):
        conversations = len({outcome.conversation for outcome, _ in members})
        cells = (rule, kind, word, str(len(members)), str(conversations), place(members[0][1].position))
        add_row(table, cells, word)
    return table


def remarks_table(told: Iterable[tuple[HealOutcome, Line]]) -> Table:
    """One row a remark."""
    table = new_table("conversation", "remark")
    for outcome, (text, word) in told:
        add_row(table, (name_of(outcome), text), word)
    return table


def heal_summary(report: Report, tally: Tally) -> list[str]:
    """The summary of a repair or of its plan."""
    counts = report.counts
    nothing = "nothing that may be mended" if counts.held else f"nothing to mend{_among(counts)}"
    lines = [f"{looked_at(report)}: {_verdict(tally) or nothing}."]
    if tally.steps and counts.lines_kept:
        lines.append(f"Lines: {', '.join(_line_counts(counts))}.")
    for reason, number in sorted(counts.held.items()):
        option = _option(reason, tally)
        lines.append(f"{count(number, 'repair')} {HELD}: it {HELD_BECAUSE[reason]}; add {option}.")
    return [*lines, *left_over(counts, "failed", "left alone"), *_last_words(counts, tally)]


def undo_summary(report: Report, tally: Tally) -> list[str]:
    """The summary of taking a run back."""
    counts = report.counts
    what = f"{count(counts.conversations, 'conversation')} of run {visible(tally.undoes)} in {where(report)}"
    lines = [f"{what}: {_verdict(tally) or f'nothing to take back{_among(counts)}'}."]
    return [*lines, *left_over(counts, "failed", "left alone"), *_last_words(counts, tally)]


def _option(reason: str, tally: Tally) -> str:
    """What must be typed for a repair that is held back."""
    if reason == "asked":
        return " ".join(f"--rule {rule}" for rule in sorted(tally.asked))
    return HELD_OPTION[reason]


def _verdict(tally: Tally) -> str:
    """What is planned, or was done; "" for nothing."""
    if tally.planned:
        return f"{count(tally.steps, 'step')} planned in {_places(tally.planned, tally)}"
    parts = [f"{count(tally.steps, 'step')} taken in {_places(tally.changed, tally)}"] if tally.changed else []
    if tally.errors:
        parts.append(f"{count(tally.errors, 'error')} left")
    return ", ".join(parts)


def _places(number: int, tally: Tally) -> str:
    """Where steps are planned, or were taken."""
    conversations = count(number - tally.stores, "conversation")
    if not tally.stores:
        return conversations
    return f"{conversations} and in the store itself" if number > tally.stores else "the store itself"


def _among(counts: Counts) -> str:
    """What a sentence about all must not claim of those that failed or were left alone."""
    return " in what was looked at" if counts.failed or counts.skipped else ""


def _line_counts(counts: Counts) -> Iterator[str]:
    for name, word in LINES.items():
        number = getattr(counts, f"lines_{name}")
        if number:
            yield f"{number:,} {word}"
    # Where lines changed, the old bytes of a field are among these, which is no news.
    if counts.bytes_quarantined and not counts.lines_quarantined and not counts.lines_changed:
        yield f"{count(counts.bytes_quarantined, 'byte')} of no whole line set aside"


def _last_words(counts: Counts, tally: Tally) -> Iterator[str]:
    """What to type next."""
    if tally.changed:
        if tally.take_back:
            yield "To take it back:"
            yield f"  {visible(tally.take_back)}"
        yield "An agent that has it in memory must reopen it."
    elif tally.planned:
        yield "Nothing was changed. To carry it out:"
        yield f"  {visible(tally.go_on)}"
    elif counts.held:
        yield "Nothing was changed. To go on:"
        # A rule that is named keeps all others out, so it is the last resort.
        reasons = sorted(set(counts.held) - {"asked"}) or ["asked"]
        yield f"  {visible(tally.go_on)} {' '.join(_option(reason, tally) for reason in reasons)}"
