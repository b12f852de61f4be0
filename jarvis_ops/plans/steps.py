"""The words of a plan."""

from __future__ import annotations

from jarvis_ops.model.finding import Finding, Safety
from jarvis_ops.model.pieces import Edit
from jarvis_ops.model.plan import Repair, Step, StepKind
from jarvis_ops.model.record import Position

# Of what is put in, a plan shows so much.
SHOWN = 2_000


class Words:
    """Makes the steps and the repair of one finding."""

    def __init__(self, finding: Finding, safety: Safety = "safe") -> None:
        self.finding = finding
        self.safety = safety

    def step(
        self,
        kind: StepKind,
        at: Position,
        why: str,
        *,
        new: bytes | None = None,
        to: Position | None = None,
        record_id: str | None = None,
    ) -> Step:
        """One step; `new` is what is put in."""
        return Step(
            step=kind,
            position=at,
            why=why,
            rule=self.finding.rule,
            safety=self.safety,
            to=to,
            record_id=record_id or self.finding.record_id,
            call_id=self.finding.call_id,
            bytes=shown(new) if new is not None else None,
        )

    def repair(
        self,
        *steps: Step,
        edits: tuple[Edit, ...],
        removes: int = 0,
        adds: int = 0,
        moves: int = 0,
        inserted: tuple[str, ...] = (),
    ) -> Repair:
        """The repair that these steps and edits make up."""
        return Repair(self.finding, self.safety, steps, edits, removes, adds, moves, inserted)


def shown(new: bytes) -> str:
    """Bytes as a plan shows them."""
    text = new[:SHOWN].decode(errors="backslashreplace").removesuffix("\n")
    return text if len(new) <= SHOWN else f"{text}…"
