"""Carries out `verify-pairs`: opens, chooses, judges and remembers."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import NamedTuple

from jarvis_ops.cli.asking import Asked, ordered, selection_of, span
from jarvis_ops.cli.conduct import conduct
from jarvis_ops.cli.errand import Errand
from jarvis_ops.cli.manner import Manner, check_rules, settings_of
from jarvis_ops.cli.near import known
from jarvis_ops.cli.place import other_store
from jarvis_ops.cli.progress import progress
from jarvis_ops.cli.remembering import Remembering
from jarvis_ops.errors import UsageError
from jarvis_ops.model.conversation import Conversation, Inventory
from jarvis_ops.model.report import Outcome
from jarvis_ops.model.settings import Settings
from jarvis_ops.operations.executor import open_executor, processes
from jarvis_ops.operations.footprint import log_bytes
from jarvis_ops.operations.select import select
from jarvis_ops.operations.verify import verify
from jarvis_ops.render import metrics
from jarvis_ops.rules.catalog import RULES, explain
from jarvis_ops.stores.base import Store


class Way(NamedTuple):
    """How to work, as it was typed."""

    rules: tuple[str, ...]
    changed_only: bool
    metrics_file: str | None
    executor: str | None
    stop_after: str | None
    sort: str
    against: str | None = None


class Judging:
    """One run of `verify-pairs`."""

    def __init__(self, errand: Errand, asked: Asked, manner: Manner, way: Way) -> None:
        self._errand = errand
        self._asked = asked
        self._manner = manner
        self._way = way
        self._remembering: Remembering | None = None
        self._other: Store | None = None

    def run(self) -> int:
        """Judge and report; the exit code."""
        stop_after = span("--stop-after", self._way.stop_after)
        return conduct(self._errand.reporting, self._prepare, stop_after, self._afterwards)

    def _prepare(self) -> Generator[Outcome, None, None]:
        """All that can go wrong before the first conversation is judged; then the outcomes to take."""
        config = self._errand.config()
        place = self._errand.place()
        settings = settings_of(config, self._manner)
        selection = selection_of(self._asked, settings.now)
        check_rules(config, self._way.rules)
        if self._way.metrics_file is not None:
            metrics.check(self._way.metrics_file)
        processes(self._way.executor, [])
        if self._way.against is not None and self._way.changed_only:
            raise UsageError("--against compares every conversation, and --changed-only leaves some out; drop one")
        self._other = other_store("--against", self._way.against, config)
        store = self._errand.open_to_read(place)
        inventory = store.inventory()
        if self._way.changed_only and inventory.layout == "rows":
            raise UsageError("--changed-only knows files by their time and size, and this store is a database; drop it")
        chosen = ordered(store, select(store, inventory, selection, settings), self._way.sort, settings)
        if self._way.changed_only:
            chosen = self._changed(inventory, chosen, settings)
        self._errand.reporting.expected = len(chosen)
        return self._judge(store, inventory, chosen, settings, whole=selection.whole)

    def _changed(self, inventory: Inventory, chosen: list[Conversation], settings: Settings) -> list[Conversation]:
        """Those that must be judged again; the others are counted."""
        self._remembering = Remembering(self._errand.report.store, settings)
        changed = self._remembering.memory.changed(inventory, chosen)
        self._errand.reporting.unchanged(len(chosen) - len(changed))
        return changed

    def _judge(
        self, store: Store, inventory: Inventory, chosen: list[Conversation], settings: Settings, *, whole: bool
    ) -> Generator[Outcome, None, None]:
        if inventory.layout == "rows":
            yield from self._judge_rows(store, inventory, chosen, settings, whole=whole)
            return
        sizes = [log_bytes(one) for one in chosen]
        workers = processes(self._way.executor, sizes)
        with open_executor(workers) as executor, progress(self._errand.form, sum(sizes)) as advance:
            outcomes = verify(
                store,
                inventory,
                chosen,
                settings,
                whole=whole,
                executor=executor,
                workers=workers,
                advance=advance,
                memory=self._remembering.memory if self._remembering is not None else None,
            )
            for outcome in self._compared(store, inventory, chosen, settings, outcomes, whole=whole):
                if self._remembering is not None:
                    self._remembering.memory.judged(outcome)
                yield _narrowed(outcome, self._way.rules)

    def _judge_rows(
        self, store: Store, inventory: Inventory, chosen: list[Conversation], settings: Settings, *, whole: bool
    ) -> Generator[Outcome, None, None]:
        """The same for a database, which is read in one go by one process."""
        from jarvis_ops.operations.rows import verify_rows

        with progress(self._errand.form, 0, unit=" rows") as advance:
            outcomes = verify_rows(store, inventory, chosen, settings, whole=whole, advance=advance)
            for outcome in self._compared(store, inventory, chosen, settings, outcomes, whole=whole):
                yield _narrowed(outcome, self._way.rules)

    def _compared(
        self,
        store: Store,
        inventory: Inventory,
        chosen: list[Conversation],
        settings: Settings,
        outcomes: Iterator[Outcome],
        *,
        whole: bool,
    ) -> Iterator[Outcome]:
        """The outcomes, with what a comparison with another store adds."""
        if self._other is None:
            return outcomes
        from jarvis_ops.operations.against import against, compared

        return compared(outcomes, against(store, inventory, chosen, self._other, settings, whole=whole), settings)

    def _afterwards(self) -> None:
        """Write what outlives the run."""
        if self._remembering is not None:
            self._remembering.keep()
        self._errand.measure(self._way.metrics_file)


def _narrowed(outcome: Outcome, rules: tuple[str, ...]) -> Outcome:
    """The outcome with findings of these rules alone; all of them when none is named."""
    if not rules:
        return outcome
    outcome.findings = [finding for finding in outcome.findings if finding.rule in rules]
    if outcome.status == "found" and not outcome.findings:
        outcome.status = "clean"
    return outcome


def explained(rule: str) -> str:
    """The text of `--explain`. UsageError, with the nearest names, for a rule that there is not."""
    return explain(known("rule", rule, RULES))
