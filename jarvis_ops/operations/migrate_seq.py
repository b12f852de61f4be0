"""`migrate-seq`: looks at the order column of a table, says what is to be done about it, and does it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any, NamedTuple

from psycopg import Connection, IsolationLevel, errors

from jarvis_ops.errors import StoreError
from jarvis_ops.model.profile import Profile
from jarvis_ops.model.report import MigrateOutcome, Undecided
from jarvis_ops.model.trace import Decision, Moment
from jarvis_ops.operations.runs import run_id
from jarvis_ops.plans.seq import decide, pairs_hold
from jarvis_ops.rules.words import counted
from jarvis_ops.stores.postgres.connect import connect, explained
from jarvis_ops.stores.postgres.seq import finishing, health, locks, migration, plan_table, preflight, saved
from jarvis_ops.stores.postgres.seq.backfill import Pace
from jarvis_ops.stores.postgres.seq.evidence import Evidence
from jarvis_ops.stores.postgres.seq.hearing import Hearing
from jarvis_ops.stores.postgres.seq.target import Target, exists, find

NOTHING = "nothing to do"


class Wishes(NamedTuple):
    """What was asked for. `evidence` is a file to read the order from, `save` one to write it to."""

    pace: Pace = Pace()
    space_checked: bool = False
    allow_triggers: bool = False
    evidence: str | None = None
    save: str | None = None


class Numbering:
    """One run of `migrate-seq` over the table of a profile. StoreError, in words without a password, if that fails."""

    def __init__(self, dsn: str, profile: Profile, wishes: Wishes, hearing: Hearing) -> None:
        self.dsn = dsn
        self.profile = profile
        self.wishes = wishes
        self.hearing = hearing
        self.outcome = MigrateOutcome(conversation=None, status="clean")

    def plan(self) -> MigrateOutcome:
        """What is to be done. Nothing is created: all is read in one transaction that can do nothing else."""
        return self._with(self._plan)

    def apply(self, now: int) -> MigrateOutcome:
        """Do it. `now` (ms) names the run."""
        return self._with(lambda connection, target: self._apply(connection, target, run_id(now)))

    def undo(self) -> MigrateOutcome:
        """Take back what was done."""
        return self._with(self._undo)

    def finish(self) -> MigrateOutcome:
        """Drop the plan."""
        return self._with(self._finish)

    def _with(self, work: Callable[[Connection[Any], Target], None]) -> MigrateOutcome:
        with explained(self.dsn), closing(connect(self.dsn)) as connection:
            connection.autocommit = True
            target = find(connection, self.profile)
            self.outcome.table = target.label
            try:
                if self._is_ordered(target):
                    self.outcome.steps.append(f"{NOTHING}, rows are read by {self.profile.columns.seq}")
                else:
                    work(connection, target)
            except errors.DiskFull as error:
                raise StoreError(
                    f"the server's disk is full: {error.diag.message_primary}; nothing done is lost"
                ) from None
        return self.outcome

    def _is_ordered(self, target: Target) -> bool:
        columns = self.profile.columns
        return "time" not in self.profile.order or columns.seq == columns.key or not target.shape.has_time

    def _plan(self, connection: Connection[Any], target: Target) -> None:
        evidence = self._evidence(connection, target)
        connection.isolation_level, connection.read_only = IsolationLevel.REPEATABLE_READ, True
        with connection.transaction():
            evidence.prepare()
            found = self._look(evidence)
            if self.wishes.save is not None:
                rows = saved.save(evidence, self._decided(evidence), self.wishes.save)
                self.outcome.notes.append(f"the order of {rows:,} rows was saved; it is read with --evidence")
            if self.outcome.steps:
                self.outcome.status = "planned"
                self._weigh(connection, target)
            elif found.state is not None:
                self.outcome.notes.append("the plan of the last run is still there; --finish drops it")

    def _look(self, evidence: Evidence) -> health.Health:
        """Examine all, and note what is to be done."""
        found = health.examine(evidence.connection, evidence.target)
        outcome, column = self.outcome, found.column
        outcome.records = found.rows
        outcome.roles = list(found.roles)
        outcome.column = "missing" if column is None else "partial" if found.unnumbered else "complete"
        self._read_moments(evidence)
        name = f"{evidence.target.label}.{self.profile.columns.seq}"
        if found.begun:
            outcome.steps.append(f"go on with run {found.state.run if found.state else ''}, which was interrupted")
        elif column is None:
            outcome.steps += [f"add column {name} with a sequence", f"number {counted(found.rows, 'row')}"]
        ailments = list(found.ailments())
        outcome.steps += [f"mend: {one}" for one in ailments]
        if column is not None and outcome.changed:
            outcome.steps.append(
                f"number {counted(outcome.changed, 'group')} of rows with one time again: the numbers break pairs"
            )
        if outcome.steps:
            outcome.steps += ["refuse rows without a number", "build the index to read by"]
        elif column is not None:
            outcome.undecided = []
        return found

    def _read_moments(self, evidence: Evidence) -> None:
        decided = self._noting(self._decision(evidence))
        self.hearing.begin(evidence.target.rows, "reading")
        for moment in evidence.moments():
            decided(moment)

    def _noting(self, decided: Callable[[Moment], Decision | None]) -> Callable[[Moment], Decision | None]:
        """The same decisions, each of them noted."""
        outcome = self.outcome
        outcome.moments = outcome.updated = outcome.traceless = outcome.changed = 0

        def noting(moment: Moment) -> Decision | None:
            decision = decided(moment)
            self.hearing.advance(len(moment.rows))
            outcome.moments += 1
            outcome.updated += sum(row.updated for row in moment.rows)
            outcome.traceless += sum(row.bulk for row in moment.rows)
            if decision is not None:
                outcome.changed += changes(moment, decision)
                if decision.doubt:
                    doubt = Undecided(moment.session, moment.time, len(moment.rows), decision.doubt)
                    outcome.undecided.append(doubt)
            return decision

        return noting

    def _weigh(self, connection: Connection[Any], target: Target) -> None:
        obstacles = preflight.obstacles(connection, target, allow_triggers=self.wishes.allow_triggers)
        self.outcome.notes += [f"in the way: {one}" for one in obstacles]
        needed = preflight.needs(connection, target)
        self.outcome.seconds, self.outcome.disk_bytes, self.outcome.wal_bytes = needed
        self.outcome.notes += preflight.notes(connection, target)

    def _apply(self, connection: Connection[Any], target: Target, run: str) -> None:
        preflight.refuse(connection, target, allow_triggers=self.wishes.allow_triggers)
        with locks.only_one(connection, self.dsn, target):
            evidence = self._evidence(connection, target)
            if self._is_right(evidence):
                return
            preflight.check_space(target, checked=self.wishes.space_checked)
            self._carry_out(evidence, run)

    def _is_right(self, evidence: Evidence) -> bool:
        """Whether there is nothing to do. Only a column that is there already must be looked at for that."""
        if not evidence.target.shape.entries.has(self.profile.columns.seq):
            self.outcome.column = "missing"
            return False
        with evidence.connection.transaction():
            evidence.prepare()
            self._look(evidence)
        right = not self.outcome.steps
        self.outcome.steps, self.outcome.undecided = [], []
        return right

    def _carry_out(self, evidence: Evidence, run: str) -> None:
        connection, outcome = evidence.connection, self.outcome
        decided, heard = self._noting(self._decision(evidence)), self.hearing._replace(say=self._say)
        done = migration.Migration(evidence, decided, self.wishes.pace, heard)
        done.run(run)
        state = plan_table.state_of(connection, evidence.target)
        outcome.status, outcome.run = "applied", state.run if state is not None else run
        outcome.waited_ms = round(done.locker.longest * 1000)
        target = find(connection, self.profile)
        if exists(connection, target.plan):
            outcome.undecided = [Undecided(*doubt) for doubt in plan_table.doubts_of(connection, target)]
        self._prove(Evidence(connection, target))

    def _prove(self, evidence: Evidence) -> None:
        """Look at what came of it, as an agent reads it. StoreError if anything is not right."""
        with evidence.connection.transaction():
            evidence.prepare()
            found = health.examine(evidence.connection, evidence.target)
            broken = sum(not pairs_hold(moment) for moment in finishing.as_read(evidence))
        wrong = [*found.ailments()]
        if broken:
            wrong.append(f"pairs are broken in {broken:,} groups of rows")
        if not finishing.indexed(evidence.connection, evidence.target):
            wrong.append("the index is not valid")
        if wrong:
            raise StoreError(f"{evidence.target.label} was numbered, and yet: {'; '.join(wrong)}; run this again")
        self.outcome.records = found.rows

    def _undo(self, connection: Connection[Any], target: Target) -> None:
        with locks.only_one(connection, self.dsn, target):
            locker = locks.Locker(connection, target, self.wishes.pace.max_wait)
            run = migration.undo(locker)
        self.outcome.status, self.outcome.run = "applied", run
        self._say(f"run {run} was taken back")

    def _finish(self, connection: Connection[Any], target: Target) -> None:
        with locks.only_one(connection, self.dsn, target):
            dropped = migration.finish(connection, target)
        if dropped:
            self.outcome.status = "applied"
            self._say("the plan was dropped; what was done can no longer be taken back")

    def _evidence(self, connection: Connection[Any], target: Target) -> Evidence:
        if self.wishes.evidence is None:
            return Evidence(connection, target)
        saved.load(connection, self.wishes.evidence, target.label)
        return Evidence(connection, target, saved=True)

    def _say(self, step: str) -> None:
        self.outcome.steps.append(step)
        self.hearing.say(step)

    @staticmethod
    def _decided(evidence: Evidence) -> Callable[[Moment], Decision]:
        return lambda moment: decide(moment, sees_updates=evidence.sees_updates)

    def _decision(self, evidence: Evidence) -> Callable[[Moment], Decision | None]:
        """Decides a moment; None for one that is numbered, and pairs, when nothing else tells its order."""
        decided = self._decided(evidence)

        def decision(moment: Moment) -> Decision | None:
            numbers = [row.number for row in moment.rows]
            if not evidence.saved and None not in numbers:
                rows = sorted(moment.rows, key=lambda row: row.number or 0)
                if pairs_hold(moment._replace(rows=tuple(rows))):
                    return None
            return decided(moment)

        return decision


def changes(moment: Moment, decision: Decision) -> bool:
    """Whether a decision puts rows in another order than their numbers, or their traces where none has a number."""
    numbers = [moment.rows[index].number for index in decision.order]
    if None in numbers:
        return numbers.count(None) == len(numbers) and list(decision.order) != sorted(decision.order)
    return numbers != sorted(number for number in numbers if number is not None)
