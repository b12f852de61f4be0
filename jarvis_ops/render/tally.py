"""What the last sentences of a report need to know beyond its counts."""

from __future__ import annotations

from collections import Counter

from jarvis_ops.model.finding import SEVERITIES, Finding
from jarvis_ops.model.report import GcOutcome, HealOutcome, Outcome


class Tally:
    """Sums over the outcomes of a run. `severities` has the gravest severity with which each rule was found.

    `steps` counts those that are planned or were done, `errors` findings that are errors; `runs` names what changed
    something. `files` and `freeable` (bytes) are what our own folders hold from before an instant, by kind.
    `next_command` is what a person may want to type next.
    """

    def __init__(self) -> None:
        self.severities: dict[str, str] = {}
        self.steps = 0
        self.errors = 0
        self.runs: set[str] = set()
        self.files: Counter[str] = Counter()
        self.freeable: Counter[str] = Counter()
        self.before = ""
        self.next_command = ""

    def add(self, outcome: Outcome) -> None:
        """Take an outcome in."""
        for finding in outcome.findings:
            self._find(finding)
        if isinstance(outcome, HealOutcome):
            self.steps += sum(step.held is None for step in outcome.steps)
            if outcome.run is not None:
                self.runs.add(outcome.run)
        elif isinstance(outcome, GcOutcome):
            self.before = outcome.before
            for file in outcome.files:
                self.files[file.kind] += 1
                self.freeable[file.kind] += file.bytes

    def _find(self, finding: Finding) -> None:
        self.errors += finding.severity == "error"
        known = self.severities.get(finding.rule, finding.severity)
        self.severities[finding.rule] = max(known, finding.severity, key=SEVERITIES.index)
