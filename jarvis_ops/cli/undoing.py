"""Carries out `undo`: finds the run, and takes it back."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import NamedTuple

from jarvis_ops.cli.asking import span
from jarvis_ops.cli.changing import check_apply
from jarvis_ops.cli.conduct import conduct
from jarvis_ops.cli.errand import Errand
from jarvis_ops.cli.manner import Manner, settings_of
from jarvis_ops.cli.near import known
from jarvis_ops.cli.progress import progress
from jarvis_ops.errors import UsageError
from jarvis_ops.model.conversation import Inventory
from jarvis_ops.model.report import Outcome
from jarvis_ops.model.run import Run
from jarvis_ops.operations import driver
from jarvis_ops.operations.footprint import log_bytes
from jarvis_ops.operations.index import changeable
from jarvis_ops.operations.runs import run_id
from jarvis_ops.operations.undo import undo
from jarvis_ops.stores.base import WritableStore
from jarvis_ops.stores.find import resolve


class Wanted(NamedTuple):
    """What is to be taken back, as it was typed; all conversations of the run when none is named."""

    run: str
    conversations: tuple[str, ...]
    apply: bool
    dry_run: bool
    wait: str
    lock_wait: str


class Undoing:
    """One run of `undo`."""

    def __init__(self, errand: Errand, wanted: Wanted) -> None:
        self._errand = errand
        self._wanted = wanted

    def run(self) -> int:
        """Take the run back and report; the exit code."""
        return conduct(self._errand.reporting, self._prepare)

    def _prepare(self) -> Generator[Outcome, None, None]:
        """All that can go wrong before the first conversation is looked at; then the outcomes to take."""
        wanted = self._wanted
        place = self._errand.place()
        settings = settings_of(self._errand.config(), Manner())
        check_apply(self._errand, apply=wanted.apply, dry_run=wanted.dry_run)
        manner = driver.Manner(
            run=run_id(settings.now),
            apply=wanted.apply,
            wait=(span("--wait", wanted.wait, zero=True) or 0) / 1000,
            lock_wait=(span("--lock-wait", wanted.lock_wait, zero=True) or 0) / 1000,
        )
        store = self._errand.open(place)
        inventory = changeable(store.inventory())
        entries = self._entries(store, inventory)
        self._errand.reporting.expected = len(entries)
        tally = self._errand.reporting.tally
        tally.undoes = wanted.run
        tally.take_back = self._errand.on_this_store("undo", manner.run, "--apply")
        return self._undo(store, inventory, entries, manner)

    def _entries(self, store: WritableStore, inventory: Inventory) -> list[Run]:
        """What the run did. UsageError for a run, or a conversation of it, that is not known."""
        entries = store.runs(inventory)
        names = {entry.run: None for entry in reversed(entries)}
        if not names:
            raise UsageError(f"there is no run {self._wanted.run!r}, and none at all is remembered in this store")
        known("run", self._wanted.run, list(names))
        mine = [entry for entry in entries if entry.run == self._wanted.run]
        if not self._wanted.conversations:
            return mine
        ids = {entry.conversation for entry in mine}
        chosen = {name if name in ids else resolve(inventory, name).id for name in self._wanted.conversations}
        for name in chosen - ids:
            raise UsageError(f"run {self._wanted.run} did not change {name!r}")
        return [entry for entry in mine if entry.conversation in chosen]

    def _undo(
        self, store: WritableStore, inventory: Inventory, entries: Sequence[Run], manner: driver.Manner
    ) -> Generator[Outcome, None, None]:
        names = {entry.conversation for entry in entries}
        total = sum(log_bytes(one) for one in inventory.conversations if one.id in names)
        with progress(self._errand.form, total) as advance:
            yield from undo(store, inventory, entries, manner, advance=advance)
