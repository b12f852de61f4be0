"""Outcomes made by hand: everything that a report can say of a change, with text that would act on a terminal."""

from __future__ import annotations

from jarvis_ops.model.finding import Finding
from jarvis_ops.model.plan import Step
from jarvis_ops.model.record import Position
from jarvis_ops.model.report import GcOutcome, HealOutcome, Outcome, Problem, RecoverOutcome, RunOutcome, Status
from jarvis_ops.model.run import Freed, Recovered

RUN = "20261130T221500Z-3fa9"
HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202eevil\u009b31m"


def at(line: int, file: str = "picnic.jsonl") -> Position:
    return Position(file, line, 100 * line)


INSERT = Step(
    step="insert", position=at(6), why="no result was recorded", rule="unanswered-call", safety="safe",
    call_id="call_3", bytes='{"id":"new"}',
)  # fmt: skip
MOVE = Step(
    step="move", position=at(9), to=at(4), why="the result goes to its call", rule="misplaced-result", safety="safe"
)
ASIDE = Step(
    step="set-aside", position=at(12), why="no call asked for it", rule="orphan-result", safety="lossy", held="lossy"
)
RELINK = Step(
    step="replace", position=at(3), why="its parent is gone", rule="dangling-parent", safety="asked", held="asked"
)
TWICE = Finding(rule="duplicate-id", severity="error", position=at(3), detail="id m3 stands twice")
CROSSED = Finding(rule="file-mode", severity="info", position=Position("."), detail="others may read it")


def planned(name: str = "picnic", **fields: object) -> HealOutcome:
    """A plan with a step of each kind."""
    known: dict[str, object] = {
        "status": "planned", "records": 12, "bytes": 1200, "steps": [INSERT, MOVE, ASIDE, RELINK],
        "held": {"lossy": 1, "asked": 1},
        "lines_kept": 10, "lines_added": 1, "lines_moved": 1, "findings": [TWICE, CROSSED],
    }  # fmt: skip
    return HealOutcome(conversation=name, **{**known, **fields})  # type: ignore[arg-type]


def healed(status: Status, name: str = "picnic", **fields: object) -> HealOutcome:
    return HealOutcome(conversation=name, status=status, **fields)  # type: ignore[arg-type]


def applied(**fields: object) -> HealOutcome:
    """The same, carried out: the rest is left."""
    known: dict[str, object] = {
        "run": RUN, "status": "left", "writer_check": "quiet", "late_lines": 2, "reachable": (9, 10), "unbinds": 1,
        "references": 2, "refused": ["bad-call-id: no result belongs to it"], "recovered": ["it was put back"],
    }  # fmt: skip
    outcome = planned()
    for name, value in {**known, **fields}.items():
        setattr(outcome, name, value)
    return outcome


def hostile() -> list[Outcome]:
    """One outcome of each kind with such a text wherever there can be text."""
    step = Step(
        step="insert", position=at(1, HOSTILE), to=at(2, HOSTILE), why=HOSTILE, rule="torn-tail", safety="safe",
        record_id=HOSTILE, call_id=HOSTILE, bytes=HOSTILE,
    )  # fmt: skip
    problem = Problem("refused", HOSTILE, HOSTILE)
    return [
        healed(
            "failed", HOSTILE, steps=[step], recovered=[HOSTILE], refused=[HOSTILE], errors=[problem], undoes=HOSTILE
        ),
        RecoverOutcome(
            conversation=HOSTILE,
            status="planned",
            unfinished=[HOSTILE],
            recovered=[Recovered(HOSTILE, HOSTILE, HOSTILE)],
        ),
        RunOutcome(
            conversation=HOSTILE,
            status="clean",
            run=HOSTILE,
            command=HOSTILE,
            state="done",
            steps=[step],
            backups=[HOSTILE],
            undoes=HOSTILE,
        ),
        GcOutcome(
            conversation=None,
            status="planned",
            before="2026-11-23T22:15:00.000Z",
            files=[Freed("trash", HOSTILE, 12, HOSTILE)],
        ),
    ]
