"""The repairs of one conversation as they add up: its content after each round, its steps, and what it loses."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec
import orjson

from jarvis_ops.dialects.jarvis import HEALED
from jarvis_ops.model.conversation import Conversation
from jarvis_ops.model.pieces import PieceTable, Span, edited, removed
from jarvis_ops.model.plan import Aside, Change, Content, NewMode, Part, Piece, Repair, Step
from jarvis_ops.model.record import Position
from jarvis_ops.operations.claims import Claims
from jarvis_ops.stores.base import Keyed, Snapshot, WritableStore


class Taken(NamedTuple):
    """A stretch of the original that a repair has replaced, and the rule that asked for it."""

    span: Span
    rule: str


class Draft:
    """What has been planned so far. `take` repairs of one `view`, look at the next, and so on."""

    def __init__(self, store: WritableStore, snapshot: Snapshot, run: str) -> None:
        self.store = store
        self.snapshot = snapshot
        self.run = run
        self.sizes = {part.file.file: snapshot.size(part.file.file) for part in snapshot.parts}
        self.tables = {file: PieceTable.whole(file, size) for file, size in self.sizes.items()}
        self.sealed = {part.file.file for part in snapshot.parts if part.file.number is not None}
        self.repairs: list[Repair] = []
        self.modes: tuple[NewMode, ...] = ()
        self._steps: list[Step] = []
        self._taken: list[Taken] = []

    @property
    def changed(self) -> list[str]:
        """The files that have other content than before, in reading order."""
        return [file for file, table in self.tables.items() if not table.is_whole(file, self.sizes[file])]

    @property
    def live(self) -> str | None:
        """The file that an agent appends to, if there is one."""
        last = next(reversed(self.tables), None)
        return last if last is not None and last not in self.sealed else None

    @property
    def first_change(self) -> tuple[str, int] | None:
        """(file, offset) up to which the conversation is as it was; None if all of it is."""
        for file in self.changed:
            head = next(iter(self.tables[file].pieces), None)
            same = isinstance(head, Span) and head.file == file and head.start == 0
            return file, head.length if same and isinstance(head, Span) else 0
        return None

    def view(self) -> Snapshot:
        """The conversation as it would be now."""
        return self.store.edited(self.snapshot, self._final()) if self.changed else self.snapshot

    def take(self, repairs: Iterable[Repair]) -> int:
        """Take in those of some repairs of the present view that do not get in each other's way; how many."""
        claims = Claims()
        fitting = [repair for repair in repairs if claims.add(Span(*edit[:3]) for edit in repair.edits)]
        for repair in fitting:
            self._steps += [self._placed(step) for step in repair.steps]
            self._taken += [
                Taken(piece, repair.finding.rule)
                for edit in repair.edits
                for piece in self.tables[edit.file].cut(edit.start, edit.end)
                if isinstance(piece, Span)
            ]
        self.tables = edited(self.tables, [edit for repair in fitting for edit in repair.edits])
        self.repairs += fitting
        return len(fitting)

    def placed(self, steps: Sequence[Step]) -> list[Step]:
        """Steps of the present view at their places in the original, with lines."""
        return self._with_lines([self._placed(step) for step in steps])

    def steps(self) -> list[Step]:
        """The steps of all repairs, in the order of the record, at their places in the original."""
        order = {file: number for number, file in enumerate(self.tables)}
        steps = [*map(mode_step, self.modes), *self._with_lines([*self._steps, *self._note_steps()])]
        return sorted(steps, key=lambda one: (order.get(one.position.file, 0), one.position.offset or 0))

    def change(self, command: str, conversation: Conversation, *, everything: bool) -> Change:
        """All of it, for the store to carry out. It depends on `everything`, or only on the files that change."""
        final = self._final()
        mine = [file for file in final if not final[file].is_whole(file, self.sizes[file])]
        return Change(
            command=command,
            conversation=conversation,
            fingerprint=tuple(
                Part(part.file.file, part.size, self.snapshot.digest(part))
                for part in self.snapshot.parts
                if everything or part.file.file in mine
            ),
            contents=tuple(Content(file, tuple(map(stored, final[file].pieces))) for file in mine),
            asides=tuple(self._asides(final)),
            modes=self.modes,
            steps=tuple(self.steps()),
            inserted=tuple(name for repair in self.repairs for name in repair.inserted),
            moved=sum(repair.moves for repair in self.repairs),
            added=sum(repair.adds for repair in self.repairs) + len(self._replaced()),
            removed=sum(repair.removes for repair in self.repairs),
        )

    def _final(self) -> dict[str, PieceTable]:
        """The content of all files; a note for each sealed segment that changes stands at the end of the live one."""
        notes = b"".join(map(self._note, self._replaced()))
        if not notes or self.live is None:
            return self.tables
        return {**self.tables, self.live: PieceTable([*self.tables[self.live].pieces, notes])}

    def _replaced(self) -> list[str]:
        """The sealed segments that change."""
        return [file for file in self.changed if file in self.sealed]

    def _note_steps(self) -> Iterator[Step]:
        """Say of each sealed segment that changes what becomes of it."""
        for file in self._replaced():
            live = self.live or file
            yield Step(
                step="insert",
                position=Position(live, None, self.sizes[live]),
                why=f"{file} is replaced as a whole, which is noted here; Pippa does not read a sealed segment again",
                rule=next(repair.finding.rule for repair in self.repairs for edit in repair.edits if edit.file == file),
                safety="safe",
                bytes=self._note(file).decode().rstrip(),
            )

    def _note(self, file: str) -> bytes:
        old = {part.file.file: part for part in self.snapshot.parts}[file]
        bare = self.store.edited(self.snapshot, {file: self.tables[file]})
        new = {part.file.file: part for part in bare.parts}[file]
        note = {
            "type": HEALED,
            "segment": file.rpartition("/")[2],
            "old": self.snapshot.digest(old),
            "new": bare.digest(new),
            "run": self.run,
        }
        return orjson.dumps(note) + b"\n"

    def _asides(self, final: dict[str, PieceTable]) -> Iterator[Aside]:
        """What leaves the files, each stretch under the rule that took it out: the last one that had it in hand."""
        gone = Claims(removed(final, self.sizes))
        found = [(span, taken.rule) for taken in reversed(self._taken) for span in gone.take_out(taken.span)]
        lines = self._lines_of((span.file, span.start) for span, _ in found)
        for span, rule in sorted(found):
            yield Aside(span, lines[span.file, span.start], rule)

    def _placed(self, step: Step) -> Step:
        to = self._origin(step.to) if step.to is not None else None
        return msgspec.structs.replace(step, position=self._origin(step.position), to=to)

    def _origin(self, at: Position) -> Position:
        if at.file not in self.tables:
            return at  # in the file of another conversation
        file, offset = self.tables[at.file].origin(at.offset or 0) or (at.file, 0)
        return Position(file, None, offset, at.path)

    def _with_lines(self, steps: Sequence[Step]) -> list[Step]:
        places = [place for step in steps for place in (step.position, step.to) if place is not None]
        lines = self._lines_of((place.file, place.offset or 0) for place in places)

        def numbered(at: Position) -> Position:
            row = self.snapshot.row_at(at.offset or 0) if isinstance(self.snapshot, Keyed) else None
            named = (row.table, row.key) if row is not None else (at.table, at.key)
            line = lines.get((at.file, at.offset or 0), at.line)
            return msgspec.structs.replace(at, line=line, table=named[0], key=named[1])

        return [
            msgspec.structs.replace(
                step, position=numbered(step.position), to=numbered(step.to) if step.to is not None else None
            )
            for step in steps
        ]

    def _lines_of(self, places: Iterable[tuple[str, int]]) -> dict[tuple[str, int], int]:
        wanted: dict[str, set[int]] = {}
        for file, offset in places:
            if file in self.tables:
                wanted.setdefault(file, set()).add(offset)
        return {(file, offset): line for file in wanted for offset, line in self.snapshot.lines_at(file, wanted[file])}


def mode_step(mode: NewMode) -> Step:
    """Setting the mode of a file, in the words of a plan."""
    return Step(
        step="set-mode",
        position=Position(mode.file),
        why=f"others may read it (mode {mode.old:04o}); it gets mode {mode.new:04o}",
        rule="file-mode",
        safety="asked",
    )


def stored(piece: Span | bytes) -> Piece:
    """A piece as a plan file holds it."""
    if isinstance(piece, Span):
        return Piece(file=piece.file, offset=piece.start, length=piece.length)
    return Piece(base64=base64.b64encode(piece).decode())
