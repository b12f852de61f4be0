"""What the last sentences of a report need to know beyond its counts."""

from __future__ import annotations

from collections import Counter

from jarvis_ops.model.finding import SEVERITIES
from jarvis_ops.model.report import GcOutcome, HealOutcome, Outcome


class Tally:
    """Sums over the outcomes of a run. `severities` has the gravest severity with which each rule was found.

    `errors` counts findings that are errors, `steps` those that are planned or were taken, `planned` and `changed` the
    conversations in which they are, or were, `stores` of which are none but the store itself. `asked` are the rules
    whose repairs wait to be named. `undoes` is the run that is taken back. `files` and `freeable` (bytes) are what our
    own folders hold from `before` an instant, by kind. `go_on` is the command that carries a plan out, `take_back` the
    one that undoes what was done.
    """

    def __init__(self) -> None:
        self.severities: dict[str, str] = {}
        self.errors = 0
        self.steps = 0
        self.planned = 0
        self.changed = 0
        self.stores = 0
        self.asked: set[str] = set()
        self.undoes = ""
        self.files: Counter[str] = Counter()
        self.freeable: Counter[str] = Counter()
        self.before = ""
        self.go_on = ""
        self.take_back = ""

    def add(self, outcome: Outcome) -> None:
        """Take an outcome in."""
        for finding in outcome.findings:
            self.errors += finding.severity == "error"
            known = self.severities.get(finding.rule, finding.severity)
            self.severities[finding.rule] = max(known, finding.severity, key=SEVERITIES.index)
        if isinstance(outcome, HealOutcome):
            self._add_change(outcome)
        elif isinstance(outcome, GcOutcome):
            self.before = outcome.before
            for file in outcome.files:
                self.files[file.kind] += 1
                self.freeable[file.kind] += file.bytes

    def _add_change(self, outcome: HealOutcome) -> None:
        self.stores += outcome.conversation is None and (outcome.run is not None or outcome.status == "planned")
        self.changed += outcome.run is not None
        self.planned += outcome.status == "planned"
        self.asked |= {step.rule for step in outcome.steps if step.held == "asked"}
        if outcome.run is not None or outcome.status == "planned":
            self.steps += sum(step.held is None for step in outcome.steps)
