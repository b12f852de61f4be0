"""Carries out `heal`: opens, chooses, plans, and changes what it was told to."""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from typing import NamedTuple

from jarvis_ops.cli.asking import Asked, ordered, selection_of, span
from jarvis_ops.cli.changing import check_apply, check_chosen, check_store_rules
from jarvis_ops.cli.conduct import conduct
from jarvis_ops.cli.errand import Errand
from jarvis_ops.cli.manner import Manner, check_rules, settings_of
from jarvis_ops.cli.place import other_store, path_of
from jarvis_ops.cli.progress import progress
from jarvis_ops.errors import OpsError, StoreError, UsageError
from jarvis_ops.model.conversation import Conversation, Inventory
from jarvis_ops.model.plan import Change
from jarvis_ops.model.report import Outcome
from jarvis_ops.model.settings import Settings
from jarvis_ops.operations import planfile
from jarvis_ops.operations.footprint import log_bytes
from jarvis_ops.operations.heal import heal
from jarvis_ops.operations.index import changeable, indexes
from jarvis_ops.operations.mending import Wish
from jarvis_ops.operations.reviewed import carry_out
from jarvis_ops.operations.runs import run_id
from jarvis_ops.operations.select import select
from jarvis_ops.render import metrics
from jarvis_ops.stores.base import WritableStore
from jarvis_ops.stores.disk import replace_file


class Way(NamedTuple):
    """What may be done, and how to work, as it was typed."""

    apply: bool
    dry_run: bool
    lossy: bool
    rules: Sequence[str]
    include_sealed: bool
    wait: str
    quiet_time: str
    lock_wait: str
    plan_out: str | None
    plan: str | None
    elsewhere: str | None
    stop_after: str | None
    sort: str
    metrics_file: str | None
    spread: bool = False

    def wish(self) -> Wish:
        """What may be done. UsageError for a duration that is none."""
        return Wish(
            apply=self.apply,
            lossy=self.lossy,
            rules=frozenset(self.rules),
            include_sealed=self.include_sealed,
            spread=self.spread,
            wait=span("--wait", self.wait, zero=True) or 0,
            quiet_time=span("--quiet-time", self.quiet_time, zero=True) or 0,
            lock_wait=span("--lock-wait", self.lock_wait, zero=True) or 0,
        )

    def check(self) -> None:
        """UsageError for options that contradict each other."""
        if self.plan_out is not None and self.apply:
            raise UsageError("--plan-out saves a plan to be looked at first; leave out --apply")
        if self.plan is None:
            return
        if not self.apply:
            raise UsageError("--plan carries a saved plan out, so it needs --apply")
        if self.lossy or self.rules or self.include_sealed or self.spread or self.elsewhere is not None:
            raise UsageError("--plan carries a saved plan out as it is; leave out what would make another one")


class Healing:
    """One run of `heal`."""

    def __init__(self, errand: Errand, asked: Asked, manner: Manner, way: Way) -> None:
        self._errand = errand
        self._asked = asked
        self._manner = manner
        self._way = way
        self._changes: list[Change] = []

    def run(self) -> int:
        """Plan or repair, and report; the exit code."""
        stop_after = span("--stop-after", self._way.stop_after)
        return conduct(self._errand.reporting, self._prepare, stop_after, self._afterwards)

    def _prepare(self) -> Generator[Outcome, None, None]:
        """All that can go wrong before the first conversation is looked at; then the outcomes to take."""
        way, config = self._way, self._errand.config()
        place = self._errand.place()
        settings = settings_of(config, self._manner)
        selection = selection_of(self._asked, settings.now)
        check_apply(self._errand, apply=way.apply, dry_run=way.dry_run)
        way.check()
        if way.plan is None:
            check_chosen(self._asked, selection)
        check_rules(config, way.rules)
        check_store_rules(way.rules, selection)
        if way.metrics_file is not None:
            metrics.check(way.metrics_file)
        wish, saved = way.wish(), _saved(way.plan)
        store = self._errand.open(place)
        if way.plan_out is not None:
            _check_free(way.plan_out, path_of(place))
        inventory = store.inventory()
        chosen = ordered(store, select(store, inventory, selection, settings), way.sort, settings)
        if saved is not None:
            return self._carry_out(store, inventory, self._reviewed(saved, inventory, chosen), settings, wish)
        return self._heal(store, inventory, chosen, settings, wish)

    def _heal(
        self,
        store: WritableStore,
        inventory: Inventory,
        chosen: Sequence[Conversation],
        settings: Settings,
        wish: Wish,
    ) -> Generator[Outcome, None, None]:
        elsewhere = other_store("--from", self._way.elsewhere, self._errand.config())
        run = self._begin(settings, len(chosen))
        with progress(self._errand.form, sum(map(log_bytes, chosen))) as advance:
            yield from heal(
                store,
                inventory,
                chosen,
                settings,
                wish,
                run=run,
                advance=advance,
                elsewhere=elsewhere,
                keep_plan=self._changes.append if self._way.plan_out is not None else None,
            )

    def _carry_out(
        self, store: WritableStore, inventory: Inventory, plans: Sequence[Change], settings: Settings, wish: Wish
    ) -> Generator[Outcome, None, None]:
        names = {one.id for one in inventory.conversations}
        run = self._begin(settings, sum(plan.conversation.id in names for plan in plans))
        with progress(self._errand.form, sum(log_bytes(plan.conversation) for plan in plans)) as advance:
            yield from carry_out(store, inventory, plans, settings, wish, run=run, advance=advance)

    def _begin(self, settings: Settings, expected: int) -> str:
        """The name of this run; the report says what to type after it."""
        run = run_id(settings.now)
        self._errand.reporting.expected = expected
        tally = self._errand.reporting.tally
        tally.take_back = self._errand.on_this_store("undo", run, "--apply")
        if self._way.plan_out is not None:
            tally.go_on = self._errand.on_this_store("heal", "--plan", self._way.plan_out, "--apply")
        return run

    def _reviewed(self, saved: bytes, inventory: Inventory, chosen: Sequence[Conversation]) -> list[Change]:
        """The saved plans for the conversations that were chosen."""
        names = {one.id for one in chosen}
        if len(chosen) == len(inventory.conversations):
            names |= {one.id for one in indexes(inventory)}
        try:
            plans = planfile.read(saved, changeable(inventory))
        except OpsError as error:
            raise type(error)(f"--plan {self._way.plan!r}: {error.message}") from error
        kept = [plan for plan in plans if plan.conversation.id in names]
        if plans and not kept:
            raise UsageError(f"--plan {self._way.plan!r} has no plan for what was chosen")
        return kept

    def _afterwards(self) -> None:
        """Write what outlives the run. StoreError when the plan cannot be saved."""
        path = self._way.plan_out
        if path is not None and self._errand.report.exit_code != 2:
            try:
                replace_file(path, planfile.encoded(self._errand.report.store, self._changes))
            except OSError as error:
                raise StoreError(f"the plan cannot be saved as {path!r}: {error.strerror}") from error
        self._errand.measure(self._way.metrics_file)


def _check_free(path: str, store: str) -> None:
    """UsageError for a place of the plan that holds something else, or lies in the store."""
    inside = os.path.realpath(store)
    if os.path.commonpath((inside, os.path.realpath(path))) == inside:
        raise UsageError(f"--plan-out {path!r} lies in the store; name a place outside of it")
    try:
        with open(path, "rb") as file:
            is_plan = planfile.is_plan(file.read(1 << 10))
    except FileNotFoundError:
        return
    except OSError as error:
        raise UsageError(f"--plan-out {path!r} cannot be looked at: {error.strerror}") from error
    if not is_plan:
        raise UsageError(f"--plan-out {path!r} is a file that holds something else; name another, or remove it")


def _saved(path: str | None) -> bytes | None:
    """The content of the file of --plan, if it is given."""
    if path is None:
        return None
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise UsageError(f"--plan {path!r} cannot be read: {error.strerror}") from error
