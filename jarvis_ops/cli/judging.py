"""Carries out `verify-pairs`: opens, chooses, judges and remembers."""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from typing import NamedTuple

import msgspec
import typer

from jarvis_ops.cli.asking import Asked, ordered, selection_of, span
from jarvis_ops.cli.conduct import conduct
from jarvis_ops.cli.defaults import config_of
from jarvis_ops.cli.near import known
from jarvis_ops.cli.place import path_of, place_of, shown
from jarvis_ops.cli.progress import progress
from jarvis_ops.cli.remembering import Remembering
from jarvis_ops.cli.reporting import Reporting
from jarvis_ops.config import Config, limits
from jarvis_ops.dialects.registry import DIALECTS
from jarvis_ops.errors import StoreError
from jarvis_ops.model.conversation import Conversation, Inventory
from jarvis_ops.model.report import Outcome, Report
from jarvis_ops.model.settings import Scope, Settings
from jarvis_ops.operations.executor import open_executor, processes
from jarvis_ops.operations.footprint import log_bytes
from jarvis_ops.operations.select import select
from jarvis_ops.operations.verify import verify
from jarvis_ops.render import metrics
from jarvis_ops.render.views import Form
from jarvis_ops.rules.catalog import RULES, explain
from jarvis_ops.stores.base import Store
from jarvis_ops.stores.disk import replace_file
from jarvis_ops.stores.open import open_store


class Manner(NamedTuple):
    """How to judge and to work, as it was typed."""

    scope: Scope
    turn_timeout: str
    assume_idle: bool
    dialect: str | None
    profile: str | None
    rules: tuple[str, ...]
    fail_on: str
    changed_only: bool
    metrics_file: str | None
    executor: str | None
    stop_after: str | None
    sort: str


class Judging:
    """One run of `verify-pairs`."""

    def __init__(self, ctx: typer.Context, store: str | None, asked: Asked, manner: Manner, form: Form) -> None:
        self._ctx = ctx
        self._store = store
        self._asked = asked
        self._manner = manner
        self._form = form
        self._report = Report(command="verify-pairs", store="", store_from="")
        self._reporting = Reporting(self._report, form, manner.fail_on)
        self._remembering: Remembering | None = None
        self._begun = time.monotonic()

    def run(self) -> int:
        """Judge and report; the exit code."""
        stop_after = span("--stop-after", self._manner.stop_after)
        return conduct(self._reporting, self._prepare, stop_after, self._afterwards)

    def _prepare(self) -> Generator[Outcome, None, None]:
        """All that can go wrong before the first conversation is judged; then the outcomes to take."""
        config = config_of(self._ctx)
        place = place_of(self._ctx, self._store, config)
        self._report.store, self._report.store_from = shown(place.where), place.source
        settings = self._settings(config)
        selection = selection_of(self._asked, settings.now)
        for rule in (*self._manner.rules, *(one.rule for one in config.accept if one.rule is not None)):
            known("rule", rule, RULES)
        if self._manner.metrics_file is not None:
            metrics.check(self._manner.metrics_file)
        processes(self._manner.executor, [])
        store = open_store(path_of(place))
        self._report.store = store.name
        inventory = store.inventory()
        chosen = ordered(store, select(store, inventory, selection, settings), self._manner.sort, settings)
        if self._manner.changed_only:
            chosen = self._changed(inventory, chosen, settings)
        self._reporting.expected = len(chosen)
        return self._judge(store, inventory, chosen, settings, whole=selection.whole)

    def _settings(self, config: Config) -> Settings:
        manner, dialect = self._manner, self._manner.dialect
        settings = Settings(
            now=time.time_ns() // 1_000_000,
            scope=manner.scope,
            dialect=known("dialect", dialect.replace("-", "_"), DIALECTS) if dialect is not None else None,
            profile=manner.profile,
            turn_timeout=span("--turn-timeout", manner.turn_timeout, zero=True) or 0,
            assume_idle=manner.assume_idle,
            limits=limits(config, os.environ),
            accept=config.accept,
        )
        if config.test_prefixes is not None:
            settings = msgspec.structs.replace(settings, test_prefixes=config.test_prefixes)
        if config.open_call_timeout is not None:
            settings = msgspec.structs.replace(settings, open_call_timeout=config.open_call_timeout)
        return settings

    def _changed(self, inventory: Inventory, chosen: list[Conversation], settings: Settings) -> list[Conversation]:
        """Those that must be judged again; the others are counted."""
        self._remembering = Remembering(self._report.store, settings)
        changed = self._remembering.memory.changed(inventory, chosen)
        self._reporting.unchanged(len(chosen) - len(changed))
        return changed

    def _judge(
        self, store: Store, inventory: Inventory, chosen: list[Conversation], settings: Settings, *, whole: bool
    ) -> Generator[Outcome, None, None]:
        sizes = [log_bytes(one) for one in chosen]
        workers = processes(self._manner.executor, sizes)
        with open_executor(workers) as executor, progress(self._form, sum(sizes)) as advance:
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
            for outcome in outcomes:
                if self._remembering is not None:
                    self._remembering.memory.judged(outcome)
                yield _narrowed(outcome, self._manner.rules)

    def _afterwards(self) -> None:
        """Write what outlives the run. StoreError when the metrics cannot be written."""
        if self._remembering is not None:
            self._remembering.keep()
        path = self._manner.metrics_file
        if path is None or self._report.exit_code == 2:
            return
        try:
            data = metrics.text(path, self._report, ended=time.time(), seconds=time.monotonic() - self._begun)
            # The collector runs as somebody else.
            replace_file(path, data, mode=0o644)
        except OSError as error:
            raise StoreError(f"the metrics file {path!r} cannot be written: {error.strerror}") from error


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
