"""The edits of one repair in a tree of records, gathered line by line: links, changed values, lines that come or go."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from jarvis_ops.model.finding import Finding, Safety
from jarvis_ops.model.pieces import Edit, Span
from jarvis_ops.model.plan import Repair, Step
from jarvis_ops.model.record import Position
from jarvis_ops.plans.lines import Change, UnmendableError, changed, put_behind
from jarvis_ops.plans.splice import element, value_at, value_span, without_element
from jarvis_ops.plans.steps import Words
from jarvis_ops.plans.style import style_of
from jarvis_ops.plans.tree_links import Links
from jarvis_ops.rules.seams import parse
from jarvis_ops.rules.tree import LOST, NONE

FOLLOWS = "it hung on the record that is set aside"
NO_HEIR = "its parent is missing as well, so nobody can say where its children belong"
NAMED = "the compaction named a record that no longer stands there"


class Rework:
    """One repair in the making. What is said twice of a record's parent counts as it was said last."""

    def __init__(self, links: Links, finding: Finding, safety: Safety = "safe") -> None:
        self.links = links
        self.words = Words(finding, safety)
        self._steps: list[Step] = []
        self._parents: dict[int, tuple[int, str]] = {}
        self._changes: list[Change] = []
        self._gone: list[Edit] = []
        self._put: list[Edit] = []
        self._inserted: list[str] = []
        self._sent = 0

    def relink(self, number: int, parent: int, why: str) -> None:
        """Hang a record on another, or on none (NONE)."""
        self._parents[number] = parent, why

    def relink_to_new(self, number: int, name: str, why: str) -> None:
        """Hang a record on one that is put in."""
        self.change(number, "parentUuid", style_of(self.links.line(number).raw).encoded(name), why)

    def give_to(self, number: int, parent: int, why: str) -> None:
        """Hang a record on one of another way; what hung on it stays where it was."""
        links = self.links
        above = heir_of(links, number)
        children, behind = links.children(number), links.main.behind(number)
        if links.stored(number) == parent or (behind != NONE and behind not in children):
            raise UnmendableError("a compaction keeps it where it stands")
        if above == LOST and children:
            raise UnmendableError(NO_HEIR)
        for child in children:
            self.relink(child, above, "it hung on the record that goes elsewhere")
        self.forget(number, max(above, NONE))
        self.relink(number, parent, why)

    def change(self, number: int, path: str, new: bytes, why: str) -> None:
        """Give the value at a path of a record other bytes."""
        line = self.links.line(number)
        self._changes.append(Change(line, *value_span(line.raw, path), new))
        self._steps.append(self.words.step("replace", line.at(path), why, new=new, record_id=line.message.id))

    def cut(self, number: int, path: str, index: int, why: str) -> None:
        """Take an element out of the list at a path of a record."""
        line = self.links.line(number)
        self._changes.append(Change(line, *without_element(line.raw, path, index)))
        self._steps.append(self.words.step("set-aside", line.at(f"{path}[{index}]"), why, record_id=line.message.id))

    def add(self, step: Step, *changes: Change) -> None:
        """Take in changes of lines that were worked out elsewhere, with their step."""
        self._steps.append(step)
        self._changes += changes

    def put(self, behind: int, raw: bytes, name: str, why: str) -> None:
        """Put a record in behind the line of another."""
        line = self.links.line(behind)
        self._put.append(put_behind(line, raw))
        self._steps.append(self.words.step("insert", line.at(), why, new=raw, record_id=name))
        self._inserted.append(name)

    def aside(self, number: int, why: str) -> None:
        """Take the whole line of a record out; what hangs on it then hangs on its parent."""
        links, line = self.links, self.links.line(number)
        self._gone.append(Edit(*line.span))
        self._steps.append(self.words.step("set-aside", line.at(), why, record_id=line.message.id))
        children = links.children(number)
        heir = heir_of(links, number)
        if heir == LOST and children:
            raise UnmendableError(NO_HEIR)
        for child in children:
            if child != number:
                self.relink(child, heir, FOLLOWS)
        self.forget(number, max(heir, NONE))
        above = links.tree.parents[number]
        if number == links.chain.leaf and above >= 0:
            leaf = links.leaf_without(number)
            if leaf is None or above not in links.tree.upward(leaf):
                self.point_to(above)

    def send(self, number: int, to: Position, heirs: Mapping[int, int], why: str) -> None:
        """Take the line of a record out, which stands in another file now; `heirs` get other parents."""
        line = self.links.line(number)
        self._gone.append(Edit(*line.span))
        self._steps.append(self.words.step("move", line.at(), why, to=to, record_id=line.message.id))
        self._sent += 1
        for child, parent in heirs.items():
            self.relink(child, parent, "it hung on the record that goes to the file of its own session")

    def forget(self, number: int, heir: int) -> None:
        """Let compactions that name a record name its heir, or the next record where it is the first that they keep."""
        name = self.links.tree.ids[number]
        for boundary, message in self.links.tree.boundaries.items():
            places = list(places_of(name, message.marker or {}))
            if {"head", "tail"} <= {what for _, what in places}:
                raise UnmendableError("it is all that a compaction keeps, and no other record can take its place")
            for path, what in places:
                if what != "list":
                    self.change(boundary, path, self.name_of(self._instead(number, heir, what)), NAMED)
                else:
                    where, _, index = path.rpartition("[")
                    self.cut(boundary, where, int(index[:-1]), NAMED)

    def keep_more(self, boundary: int, numbers: Sequence[int], why: str) -> None:
        """Let a compaction keep further records, oldest first, which stand right before those that it keeps."""
        line = self.links.line(boundary)
        about, style = line.value["compactMetadata"], style_of(line.raw)
        names = [self.links.tree.ids[number] for number in numbers]
        lists = about.get("preservedMessages")
        for field in ("uuids", "allUuids") if isinstance(lists, dict) else ():
            if isinstance(lists.get(field), list) and lists[field]:
                path = f"compactMetadata.preservedMessages.{field}[0]"
                self.change(boundary, path, style.encoded([*names, lists[field][0]])[1:-1], why)
        if "preservedSegment" in about:
            self.change(boundary, "compactMetadata.preservedSegment.headUuid", style.encoded(names[0]), why)

    def _instead(self, number: int, heir: int, what: str) -> int:
        if what == "head":
            heir = self.links.main.behind(number)
        if what != "before" and heir == NONE:
            raise UnmendableError("a compaction keeps this record by name, and no other can take its place")
        return heir

    def point_to(self, number: int) -> None:
        """Put a note at the end of the file that the conversation goes on from a record."""
        links = self.links
        file, line = links.tree.file, links.line(number)
        size = links.pages.size(file)
        last = links.pages.line(file, size - 1).raw
        if not last.endswith(b"\n") and parse(last) is None:
            raise UnmendableError("the last line of the file is damaged, and has to be mended first")
        style = style_of(line.raw)
        note = {"type": "last-prompt", "leafUuid": line.message.id}
        if "sessionId" in line.value:
            note["sessionId"] = line.value["sessionId"]
        raw = style.encoded(note) + style.end
        self._put.append(Edit(file, size, size, (raw,) if last.endswith(b"\n") else (b"\n", raw)))
        why = "the newest record is no longer the last of the conversation, so a note says which one is"
        self._steps.append(self.words.step("insert", Position(file, None, size), why, new=raw))

    def name_of(self, number: int) -> bytes:
        """The id of a record as JSON; `null` for none."""
        if number == NONE:
            return b"null"
        return style_of(self.links.line(number).raw).encoded(self.links.tree.ids[number])

    def repair(self) -> Repair:
        """All of it as one repair. UnmendableError if a line that changes is damaged."""
        for number, (parent, why) in self._parents.items():
            self.change(number, "parentUuid", self.name_of(parent), why)
        edits = (*self._gone, *changed(self._changes), *self._put)
        return self.words.repair(
            *self._steps,
            edits=(*edits, *self._leant_on(edits)),
            removes=len(self._gone) - self._sent,
            moves=self._sent,
            adds=len(self._put),
            inserted=tuple(self._inserted),
        )

    def _leant_on(self, edits: Iterable[Edit]) -> Iterator[Edit]:
        """Lines that stay as they are, but must not be touched by another repair of the same round: the new parents."""
        taken = {(edit.start, edit.end) for edit in edits}
        for parent in sorted({parent for parent, _ in self._parents.values() if parent >= 0}):
            span = self.links.line(parent).span
            if (span.start, span.end) not in taken:
                yield Edit(*span, (span,))


def set_aside(links: Links, finding: Finding, number: int, why: str, path: str | None = None) -> Repair:
    """Take a block out of its record, the finding's own if no path is given; all of the record if it is alone in it."""
    rework = Rework(links, finding, "lossy")
    list_path, index = element(path if path is not None else finding.position.path or "")
    if len(value_at(links.line(number).value, list_path)) > 1:
        rework.cut(number, list_path, index, why)
    else:
        rework.aside(number, why)
    return rework.repair()


def heir_of(links: Links, number: int) -> int:
    """Where the children of a record belong when it goes; NONE for a root, LOST where nobody can say."""
    parent = links.stored(number)
    if parent == NONE:
        return NONE
    if parent == LOST:
        before = links.just_before(number, frozenset(links.children(number)))
        return before if before != NONE else LOST
    return LOST if number in links.tree.upward(parent) else parent


def places_of(name: str, boundary: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(path, what) of each place where a compaction names a record; `what` is before, head, tail or list."""
    if boundary.get("logicalParentUuid") == name:
        yield "logicalParentUuid", "before"
    metadata = boundary.get("compactMetadata")
    about = metadata if isinstance(metadata, dict) else {}
    for key, fields in (("preservedSegment", ("headUuid", "tailUuid")), ("preservedMessages", ("uuids", "allUuids"))):
        named = about.get(key)
        kept = named if isinstance(named, dict) else {}
        for field in fields:
            path, value = f"compactMetadata.{key}.{field}", kept.get(field)
            if value == name:
                yield path, field.removesuffix("Uuid")
            elif isinstance(value, list):
                yield from ((f"{path}[{index}]", "list") for index, one in enumerate(value) if one == name)


def in_all_copies(links: Links, repair: Repair) -> Repair:
    """A repair that changes each record also where it stands again byte for byte: else the two would differ."""
    if len(links.tree.index) == len(links.tree):
        return repair
    return repair._replace(edits=(*repair.edits, *(other for edit in repair.edits for other in copied(links, edit))))


def copied(links: Links, edit: Edit) -> Iterator[Edit]:
    """The same edit for each further line that is the same."""
    number = bisect_left(links.tree.offsets, edit.start)
    known = number < len(links.tree) and links.tree.offsets[number] == edit.start
    if not edit.pieces or edit.start == edit.end or not known:
        return
    line = links.line(number)
    for copy in links.copies(number):
        other = links.line(copy)
        if other.raw.strip() == line.raw.strip() and edit.pieces != (line.span,):
            begin, end, shift = other.span.start, other.span.end, other.span.start - line.span.start
            pieces = tuple(
                Span(piece.file, piece.start + shift, min(piece.end + shift, end)) if isinstance(piece, Span) else piece
                for piece in edit.pieces
            )
            yield Edit(edit.file, begin, end, pieces)
