"""Carries out `migrate-seq`."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple, Self

from jarvis_ops.cli.asking import span
from jarvis_ops.cli.changing import check_apply
from jarvis_ops.cli.conduct import conduct
from jarvis_ops.cli.errand import Errand
from jarvis_ops.cli.place import path_of
from jarvis_ops.cli.progress import progress
from jarvis_ops.cli.retyping import retyped
from jarvis_ops.errors import UsageError
from jarvis_ops.model.report import MigrateOutcome, Outcome
from jarvis_ops.render.form import Form
from jarvis_ops.stores.open import names_database, open_to_read

if TYPE_CHECKING:
    from jarvis_ops.operations.migrate_seq import Wishes

LINE_ORDER = "nothing to do, line order is the order"
LEAST_WAIT = 10


class Asked(NamedTuple):
    """What was typed."""

    apply: bool
    dry_run: bool
    finish: bool
    undo: bool
    max_wait: str
    sleep: str
    max_replica_lag: str | None
    space_checked: bool
    allow_triggers: bool
    save_evidence: str | None
    evidence: str | None


def number_as_asked(errand: Errand, asked: Asked) -> int:
    """Number and report; the exit code. An interruption ends it at once: the next run goes on from there."""

    def work() -> Generator[Outcome, None, None]:
        place = errand.place()
        check(errand, asked)
        wishes = wishes_of(asked)
        where = path_of(place)
        if not names_database(where):
            errand.open(place)
            return iter_of(MigrateOutcome(conversation=None, status="clean", steps=[LINE_ORDER]))
        profile = errand.config().schema
        if where.lower().startswith("sqlite"):
            open_to_read(where, profile)
        with Bar(errand.form) as bar:
            return iter_of(number(errand, asked, wishes, where, bar))

    return conduct(errand.reporting, work)


def number(errand: Errand, asked: Asked, wishes: Wishes, where: str, bar: Bar) -> MigrateOutcome:
    """Number the rows of a database, or do what else was asked for."""
    from jarvis_ops.operations.migrate_seq import Numbering
    from jarvis_ops.stores.postgres.connect import name_of
    from jarvis_ops.stores.postgres.profiles import JARVIS
    from jarvis_ops.stores.postgres.seq.hearing import Hearing

    errand.report.store = name_of(where)
    run = Numbering(where, errand.config().schema or JARVIS, wishes, Hearing(bar.say, bar.begin, bar.advance))
    if asked.undo:
        return run.undo()
    if asked.finish:
        return run.finish()
    return run.apply(time.time_ns() // 1_000_000) if asked.apply else run.plan()


def check(errand: Errand, asked: Asked) -> None:
    """UsageError for options that contradict each other."""
    check_apply(errand, apply=asked.apply, dry_run=asked.dry_run)
    errand.reporting.tally.go_on = retyped(errand.ctx, "--apply", without={"save_evidence"})
    acts = {"--apply": asked.apply, "--finish": asked.finish, "--undo": asked.undo, "--dry-run": asked.dry_run}
    chosen = [name for name, given in acts.items() if given]
    if len(chosen) > 1:
        raise UsageError(f"{' and '.join(chosen)} contradict each other; give one of them")
    if asked.save_evidence is not None and chosen not in ([], ["--dry-run"]):
        raise UsageError(f"--save-evidence only looks, so it does not go with {chosen[0]}")
    if asked.evidence is not None and asked.save_evidence is not None:
        raise UsageError("--evidence and --save-evidence contradict each other; give one of them")
    if asked.evidence is not None and (asked.finish or asked.undo):
        raise UsageError(f"--evidence does not go with {chosen[0]}")


def wishes_of(asked: Asked) -> Wishes:
    """What the operation is to know. UsageError for a duration that is none."""
    from jarvis_ops.operations.migrate_seq import Wishes
    from jarvis_ops.stores.postgres.seq.backfill import Pace

    pace = Pace(
        max(LEAST_WAIT, span("--max-wait", asked.max_wait) or 0),
        span("--sleep", asked.sleep, zero=True) or 0,
        span("--max-replica-lag", asked.max_replica_lag),
    )
    return Wishes(pace, asked.space_checked, asked.allow_triggers, asked.evidence, asked.save_evidence)


def iter_of(outcome: Outcome) -> Generator[Outcome, None, None]:
    """One outcome as what can be closed."""
    yield outcome


class Bar:
    """A progress bar that begins anew with each part of the work."""

    def __init__(self, form: Form) -> None:
        self._form = form
        self._stack = ExitStack()
        self._advance: Callable[[int], None] = lambda _: None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def begin(self, total: int, what: str) -> None:
        """A new part, of so many rows."""
        self._stack.close()
        self._advance = self._stack.enter_context(progress(self._form, total, f" rows ({what})"))

    def advance(self, rows: int) -> None:
        """So many rows more are done."""
        self._advance(rows)

    def say(self, step: str) -> None:
        """A step is done; the report tells them all at the end."""
