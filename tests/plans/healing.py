"""A plain model of healing for the tests of the planners: files in memory, one group of faults a round."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from jarvis_ops.dialects.jarvis import Jarvis
from jarvis_ops.model.finding import Finding
from jarvis_ops.model.pieces import Edit, PieceTable, Span, edited, removed
from jarvis_ops.model.plan import Refusal, Repair
from jarvis_ops.model.record import Record
from jarvis_ops.model.settings import Settings
from jarvis_ops.plans.base import Ground, Planner
from jarvis_ops.plans.bytes import Bytes
from jarvis_ops.plans.heal import MENDED, stage
from jarvis_ops.plans.linear import Linear
from tests.in_process import findings_in

Files = dict[str, bytes]
LOG = "talk.jsonl"
ROUNDS = 40


class MemoryPages:
    """The lines of files that are held in memory; all but the last are sealed."""

    def __init__(self, contents: Mapping[str, bytes]) -> None:
        self.contents = dict(contents)
        self.read = 0

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(self.contents)

    def size(self, file: str) -> int:
        return len(self.contents[file])

    def sealed(self, file: str) -> bool:
        return file != self.files[-1]

    def line(self, file: str, offset: int) -> Record:
        data = self.contents[file]
        start = data.rfind(b"\n", 0, offset) + 1
        end = data.find(b"\n", offset)
        return Record(file, None, start, data[start : end + 1 if end >= 0 else len(data)])

    def forward(self, file: str, offset: int) -> Iterator[Record]:
        for name in self.files[self.files.index(file) :]:
            place = offset if name == file else 0
            while place < self.size(name):
                record = self.line(name, place)
                self.read += 1
                yield record
                place += len(record.raw)

    def backward(self, file: str, offset: int) -> Iterator[Record]:
        for name in reversed(self.files[: self.files.index(file) + 1]):
            place = offset if name == file else self.size(name)
            while place > 0:
                record = self.line(name, place - 1)
                self.read += 1
                yield record
                place = record.offset


class Patient:
    """A conversation that is healed round by round; `original` stays as it was."""

    def __init__(self, files: Mapping[str, bytes], **ground: object) -> None:
        self.original = dict(files)
        self.tables = {file: PieceTable.whole(file, len(data)) for file, data in files.items()}
        self.ground = Ground(dialect=Jarvis(), conversation="talk", **ground)  # type: ignore[arg-type]
        self.done: list[Repair] = []
        self.refused: list[Refusal] = []

    def contents(self) -> Files:
        """What the files hold now."""
        return {file: self.bytes_of(table) for file, table in self.tables.items()}

    def bytes_of(self, table: PieceTable) -> bytes:
        return b"".join(
            self.original[piece.file][piece.start : piece.end] if isinstance(piece, Span) else piece
            for piece in table.pieces
        )

    def removed(self) -> list[bytes]:
        """The stretches that are in no file any more."""
        gone = removed(self.tables, {file: len(data) for file, data in self.original.items()})
        return [self.original[span.file][span.start : span.end] for span in gone]

    def apply(self, *repairs: Repair) -> None:
        """Carry out those repairs that do not get in each other's way."""
        taken: list[Edit] = []
        for repair in repairs:
            if not any(overlap(one, other) for one in repair.edits for other in taken):
                taken += repair.edits
                self.done.append(repair)
        check_whole_lines(self.contents(), taken)
        self.tables = edited(self.tables, taken)

    def answers(self, findings: list[Finding]) -> list[Repair | Refusal | None]:
        """What the planners say to some findings."""
        pages = MemoryPages(self.contents())
        planners: tuple[Planner, Planner] = (Bytes(pages, self.ground), Linear(pages, self.ground))
        return [planners[stage(finding.rule) > 0].repair(finding) for finding in findings]

    def heal(self, settings: Settings | None = None) -> list[Finding]:
        """Mend until nothing more can be; the findings that are left."""
        for _ in range(ROUNDS):
            findings = judged(self.contents(), settings)
            groups: dict[int, list[Finding]] = {}
            for one in findings:
                if one.rule in MENDED and one.severity != "info":
                    groups.setdefault(stage(one.rule), []).append(one)
            self.refused = []
            for number in sorted(groups):
                answers = self.answers(groups[number])
                self.refused += [one for one in answers if isinstance(one, Refusal)]
                repairs = [one for one in answers if isinstance(one, Repair)]
                repairs = [one for one in repairs if one.safety != "asked" or one.finding.rule in self.ground.asked]
                if repairs:
                    self.apply(*repairs)
                    break
            else:
                return findings
        raise AssertionError(f"no end after {ROUNDS} rounds: {[one.finding.rule for one in self.done[-5:]]}")


def overlap(one: Edit, other: Edit) -> bool:
    """Whether two edits get in each other's way; places where something is put in may touch anything."""
    return one.file == other.file and one.start < other.end and other.start < one.end


def check_whole_lines(contents: Files, edits: list[Edit]) -> None:
    """Every edit begins and ends where a line does."""
    for edit in edits:
        data = contents[edit.file]
        for place in (edit.start, edit.end):
            assert place in {0, len(data)} or data[place - 1 : place] == b"\n", (edit.file, place)


def judged(files: Files, settings: Settings | None = None) -> list[Finding]:
    """The real verdict on files of one conversation."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, data in files.items():
            (folder / file).parent.mkdir(exist_ok=True)
            (folder / file).write_bytes(data)
        (folder / "talk.meta.json").write_text('{"id":"talk"}')
        return findings_in(folder, settings)


def errors(findings: list[Finding]) -> list[str]:
    """The rules of the errors among some findings; a segment that was mended is no longer what was sealed."""
    return [one.rule for one in findings if one.severity == "error" and one.rule != "segment-changed"]


def healed(*lines: bytes, **ground: object) -> Patient:
    """One log after it was healed; no error may be left, and a second time nothing may be found to do."""
    patient = Patient({LOG: b"".join(lines)}, **ground)
    left = patient.heal()
    assert errors(left) == [], [(one.rule, one.detail) for one in left]
    assert Patient(patient.contents()).heal() == left
    return patient
