"""A plain model of healing a Claude Code transcript: judged for real, one group of faults mended a round."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from jarvis_ops.dialects.claude_code import ClaudeCode
from jarvis_ops.model.finding import Finding
from jarvis_ops.model.pieces import PieceTable, Span, edited, removed
from jarvis_ops.model.plan import Refusal, Repair
from jarvis_ops.model.settings import Settings
from jarvis_ops.operations.claims import Claims
from jarvis_ops.operations.exact import judge_tree
from jarvis_ops.plans.base import Ground
from jarvis_ops.plans.heal import MENDED, planner_of, stage
from jarvis_ops.plans.reach import reachable
from jarvis_ops.rules.chain import Chain
from jarvis_ops.rules.tree import Tree
from jarvis_ops.stores.open import open_store
from tests.generate import NOW
from tests.plans.healing import MemoryPages, check_whole_lines

FOLDER = "projects/-home-mina-garden"
SESSION = "12345678-0000-4000-8000-000000000001"
SETTINGS = Settings(now=NOW)
ROUNDS = 60


class Look(NamedTuple):
    """A transcript after judging it."""

    file: str
    findings: list[Finding]
    tree: Tree
    chain: Chain

    @property
    def reachable(self) -> int:
        return reachable(self.tree, self.chain)


def judged(content: bytes, session: str = SESSION, settings: Settings = SETTINGS) -> Look:
    """The real verdict on a transcript, with its tree and its chain."""
    kept: list[tuple[Tree, Chain]] = []
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, FOLDER, f"{session}.jsonl")
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
        store = open_store(name)
        (conversation,) = store.inventory().conversations
        with store.open(conversation) as snapshot:
            verdict = judge_tree(
                conversation,
                snapshot,
                ClaudeCode(),
                settings,
                lambda: "",
                "",
                lambda tree, chain: kept.append((tree, chain)),
            )
    assert conversation.live is not None
    return Look(conversation.live.file, verdict.findings, *kept[-1])


class Patient:
    """A transcript that is healed round by round; `original` stays as it was. `asked` are rules that are named."""

    def __init__(
        self, content: bytes, *asked: str, session: str = SESSION, elsewhere: dict[str, bytes] | None = None
    ) -> None:
        self.original = content
        self.session = session
        self.ground = Ground(
            dialect=ClaudeCode(), conversation="talk", asked=frozenset(asked), elsewhere=elsewhere or {}
        )
        self.first = self.look = judged(content, session)
        self.file = self.first.file
        self.table = PieceTable.whole(self.file, len(content))
        self.done: list[Repair] = []
        self.refused: list[Refusal] = []

    @property
    def content(self) -> bytes:
        """What the file holds now."""
        return b"".join(
            self.original[piece.start : piece.end] if isinstance(piece, Span) else piece for piece in self.table.pieces
        )

    @property
    def lines(self) -> list[bytes]:
        return self.content.splitlines(keepends=True)

    @property
    def removed(self) -> list[bytes]:
        """The stretches that are in the file no more."""
        gone = removed({self.file: self.table}, {self.file: len(self.original)})
        return [self.original[span.start : span.end] for span in gone]

    def answers(self, findings: list[Finding]) -> list[Repair | Refusal | None]:
        """What the planner says to some findings of the present look."""
        pages = MemoryPages({self.file: self.content})
        planner = planner_of(pages, self.ground, self.look.tree, self.look.chain)
        return [planner.repair(finding) for finding in findings]

    def round(self) -> bool:
        """Mend the first group of faults of which any can be mended; whether there was one."""
        groups: dict[int, list[Finding]] = {}
        for one in self.look.findings:
            if one.rule in MENDED and one.severity != "info":
                groups.setdefault(stage(one.rule), []).append(one)
        self.refused = []
        for number in sorted(groups):
            answers = self.answers(groups[number])
            self.refused += [one for one in answers if isinstance(one, Refusal)]
            repairs = [one for one in answers if isinstance(one, Repair)]
            repairs = [one for one in repairs if one.safety != "asked" or one.finding.rule in self.ground.asked]
            if repairs:
                self.apply(repairs)
                return True
        return False

    def apply(self, repairs: list[Repair]) -> None:
        """Carry out those repairs that do not get in each other's way, and judge again."""
        claims = Claims()
        fitting = [one for one in repairs if claims.add(Span(*edit[:3]) for edit in one.edits)]
        check_whole_lines({self.file: self.content}, [edit for one in fitting for edit in one.edits])
        self.table = edited({self.file: self.table}, [edit for one in fitting for edit in one.edits])[self.file]
        self.done += fitting
        self.look = judged(self.content, self.session)

    def heal(self) -> Patient:
        """Mend until nothing more can be."""
        for _ in range(ROUNDS):
            if not self.round():
                return self
        raise AssertionError(f"no end: {[(one.finding.rule, one.finding.detail) for one in self.done[-5:]]}")

    @property
    def errors(self) -> list[str]:
        return [one.rule for one in self.look.findings if one.severity == "error"]


def values(content: bytes) -> list[dict[str, Any]]:
    """The records of whole lines."""
    return [json.loads(line) for line in content.splitlines() if line.strip()]
