"""Folds outcomes into a report, hands them to a view, and answers with an exit code."""

from __future__ import annotations

import msgspec

from jarvis_ops.errors import OpsError
from jarvis_ops.model.finding import Finding
from jarvis_ops.model.report import STATUSES, HealOutcome, Outcome, Problem, Report, Status
from jarvis_ops.render.form import Form
from jarvis_ops.render.looks import look_of
from jarvis_ops.render.tally import Tally
from jarvis_ops.render.views import View, complain, view_of
from jarvis_ops.rules.catalog import RULES

FAILING: dict[str, tuple[str, ...]] = {"error": ("error",), "warning": ("error", "warning"), "never": ()}
BUSY = "busy"
# Something waits for --apply, or was not mended.
UNDONE = ("planned", "left")
LINES = ("lines_kept", "lines_moved", "lines_added", "lines_quarantined", "lines_changed", "bytes_quarantined")


class Reporting:
    """One run of one command. `expected` is how many conversations it means to look at."""

    def __init__(self, report: Report, form: Form, fail_on: str = "error") -> None:
        self.report = report
        self.expected = 0
        self._form = form
        self._failing = FAILING[fail_on]
        self._fails = False
        self._codes: set[int] = set()
        self._listed = 0
        self.tally = Tally()
        self._look = look_of(report.command)
        self._view: View = view_of(form, self._look)

    def add(self, outcome: Outcome) -> None:
        """Count an outcome, and list it where it says something."""
        self._count(outcome)
        for problem in outcome.errors:
            self._note(problem)
        if outcome.status in UNDONE:
            self._codes.add(1)
        elif outcome.status == "skipped":
            self._codes.add(4)
        elif outcome.status == "failed" and not outcome.errors:
            self._codes.add(3)
        self._list(outcome)

    def unchanged(self, number: int) -> None:
        """Count conversations that an earlier run found clean and nobody has touched."""
        counts = self.report.counts
        counts.unchanged += number
        counts.clean += number
        counts.conversations += number

    def fail(self, error: OpsError) -> None:
        """Note what ended the run."""
        self.report.status = "failed"
        self._note(Problem(error.code, error.message, error.conversation), code=error.exit_code)

    def settle(self, interrupted: int = 0) -> None:
        """Count what was not looked at, and settle the exit code. May be called again after a later failure."""
        report = self.report
        rest = self.expected - self._done()
        if rest > 0 and not self._codes & {2, 3}:
            self.expected -= rest
            report.counts.skipped += rest
            report.status = _graver(report.status, "skipped")
            self._codes.add(4)
        report.exit_code = interrupted or self._exit_code()

    def show(self) -> int:
        """Show the rest of the report; the exit code."""
        self._view.close(self.report, self._summary)
        return self.report.exit_code

    def _done(self) -> int:
        counts = self.report.counts
        return counts.conversations - counts.unchanged

    def _exit_code(self) -> int:
        """The gravest cause: what could not be done, before what was found, before what was left alone."""
        if self._fails:
            self._codes.add(1)
        return next((code for code in (2, 3, 1, 4) if code in self._codes), 0)

    def _count(self, outcome: Outcome) -> None:
        report, counts = self.report, self.report.counts
        report.status = _graver(report.status, outcome.status)
        if outcome.conversation is not None:
            counts.conversations += 1
            setattr(counts, outcome.status, getattr(counts, outcome.status) + 1)
        counts.records += outcome.records
        counts.bytes += outcome.bytes
        counts.accepted += outcome.accepted
        for finding in outcome.findings:
            counts.findings[finding.rule] = counts.findings.get(finding.rule, 0) + 1
        # What is wrong with a conversation that was left alone is for another run to mend.
        left_alone = isinstance(outcome, HealOutcome) and outcome.status in ("skipped", "failed")
        if not left_alone:
            self._fails = self._fails or any(one.severity in self._failing for one in outcome.findings)
            self.tally.add(outcome)
        if isinstance(outcome, HealOutcome) and not left_alone:
            for name in LINES:
                setattr(counts, name, getattr(counts, name) + getattr(outcome, name))
            for reason, number in outcome.held.items():
                counts.held[reason] = counts.held.get(reason, 0) + number

    def _note(self, problem: Problem, code: int | None = None) -> None:
        self.report.errors.append(problem)
        self._codes.add(code if code is not None else 4 if problem.code == BUSY else 3)
        self._view.problem(problem)
        complain(f"{problem.conversation}: {problem.message}" if problem.conversation else problem.message)

    def _list(self, outcome: Outcome) -> None:
        says_nothing = outcome.status == "clean" and not (outcome.findings or outcome.errors)
        if says_nothing and not self._form.verbose and not self._look.rows:
            return
        listed = self._within_limit(outcome)
        if listed is not None:
            self._view.show(listed)

    def _within_limit(self, outcome: Outcome) -> Outcome | None:
        """The outcome with as many findings, or steps, as may still be listed; None when it would say nothing more."""
        outcome.findings = [_with_provider_rules(finding) for finding in outcome.findings]
        limit = self._form.limit
        if limit is None:
            return outcome
        steps = isinstance(outcome, HealOutcome) and outcome.steps
        name, entries = ("steps", steps) if steps else ("findings", outcome.findings)
        weight = len(entries) or 1
        room = max(0, limit - self._listed)
        self._listed += min(weight, room)
        self.report.counts.unlisted += max(0, weight - room)
        if not room:
            return None
        return msgspec.structs.replace(outcome, **{name: entries[:room]})

    def _summary(self) -> list[str]:
        """Nothing when nothing was looked at for a reason that standard error has told already."""
        if self._codes & {2, 3} and not self.report.counts.conversations:
            return []
        return self._look.summary(self.report, self.tally)


def _graver(one: Status, other: Status) -> Status:
    return max(one, other, key=STATUSES.index)


def _with_provider_rules(finding: Finding) -> Finding:
    rule = RULES.get(finding.rule)
    if rule is None or not rule.provider_rules or finding.provider_rules:
        return finding
    return msgspec.structs.replace(finding, provider_rules=tuple(rule.provider_rules))
