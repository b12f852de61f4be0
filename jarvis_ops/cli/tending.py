"""Carries out `recover`, `gc` and `runs`: what our own runs have left in a store."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable

from jarvis_ops.cli.asking import Asked, selection_of, span
from jarvis_ops.cli.changing import check_apply, check_chosen
from jarvis_ops.cli.conduct import conduct
from jarvis_ops.cli.errand import Errand
from jarvis_ops.cli.manner import Manner, settings_of
from jarvis_ops.model.report import Outcome
from jarvis_ops.operations.gc import gc
from jarvis_ops.operations.index import changeable
from jarvis_ops.operations.recover import recover
from jarvis_ops.operations.runs import run_id, runs
from jarvis_ops.operations.select import select


def recover_as_asked(errand: Errand, asked: Asked, lock_wait: str, *, apply: bool, dry_run: bool) -> int:
    """Recover and report; the exit code."""

    def work() -> Generator[Outcome, None, None]:
        place = errand.place()
        settings = settings_of(errand.config(), Manner())
        selection = selection_of(asked, settings.now)
        check_apply(errand, apply=apply, dry_run=dry_run)
        check_chosen(asked, selection)
        wait = span("--lock-wait", lock_wait, zero=True) or 0
        store = errand.open(place)
        chosen = select(store, changeable(store.inventory()), selection, settings)
        errand.reporting.expected = len(chosen)
        return _all(recover(store, chosen, apply=apply, run=run_id(settings.now), lock_wait=wait / 1000))

    return conduct(errand.reporting, work)


def free(errand: Errand, kinds: Collection[str], older_than: str, *, apply: bool, dry_run: bool) -> int:
    """Free what is old enough, and report; the exit code."""

    def work() -> Generator[Outcome, None, None]:
        place = errand.place()
        settings = settings_of(errand.config(), Manner())
        check_apply(errand, apply=apply, dry_run=dry_run)
        before = settings.now - (span("--older-than", older_than) or 0)
        store = errand.open(place)
        return _all(gc(store, changeable(store.inventory()), kinds, before, apply=apply))

    return conduct(errand.reporting, work)


def list_runs(errand: Errand) -> int:
    """List what is remembered; the exit code."""

    def work() -> Generator[Outcome, None, None]:
        place = errand.place()
        errand.reporting.tally.take_back = errand.on_this_store("undo", "RUN")
        store = errand.open(place)
        return _all(runs(store, changeable(store.inventory())))

    return conduct(errand.reporting, work)


def _all(outcomes: Iterable[Outcome]) -> Generator[Outcome, None, None]:
    """The outcomes as what can be closed."""
    yield from outcomes
