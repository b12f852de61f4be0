"""Records that are lost with a damaged line: what hung on them is relinked when the line is taken out."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import orjson

from jarvis_ops.model.finding import Finding
from jarvis_ops.model.pieces import Edit, Piece, Span
from jarvis_ops.model.plan import Repair
from jarvis_ops.model.record import Position, Record
from jarvis_ops.plans.splice import value_span
from jarvis_ops.plans.steps import Words
from jarvis_ops.plans.tree_links import Links
from jarvis_ops.plans.tree_rework import heir_of
from jarvis_ops.rules.tree import LOST, NONE

PARENT = re.compile(rb'(?<!\\)"parentUuid"\s*:\s*(?:null|"([^"\\]{1,200})")')
NOTHING = b" \t\r\n\0"
LOSING = frozenset({"bad-line", "torn-tail", "nul-run", "glued-lines", "bad-utf8"})
WHY = "it hung on the record that the damaged line held"


class Heir(NamedTuple):
    """A record that names a lost one at `path`, and the number of the record that it shall name; NONE for none."""

    number: int
    path: str
    parent: int


def with_relinks(repair: Repair, links: Links) -> Repair:
    """The repair of a damaged line, and with it the relinking of what hung on records that it loses."""
    edits, steps = list(repair.edits), list(repair.steps)
    words = Words(repair.finding, repair.safety)
    for heir in heirs(repair.finding, links, gone=repair.removes > 0):
        place = place_in(links, heir)
        if place is None:
            continue
        new = b"null" if heir.parent == NONE else orjson.dumps(links.tree.ids[heir.parent])
        record, span = place
        edits = list(spliced(edits, record, span, new))
        at = Position(record.file, None, record.offset, heir.path)
        steps.append(words.step("replace", at, WHY, new=new, record_id=links.tree.ids[heir.number]))
    return repair._replace(edits=tuple(edits), steps=tuple(steps))


def heirs(finding: Finding, links: Links, *, gone: bool) -> Iterator[Heir]:
    """What hung on a record that is lost with a damaged line, and where it shall hang.

    They go to the parent that the line names; where its head is lost, to the record just before it, if that is of
    the same session and chain and has no other child. `gone` says that the line is taken out whole.
    """
    if finding.rule not in LOSING or finding.position.offset is None:
        return
    line = links.pages.line(finding.position.file, finding.position.offset)
    inside = records_in(links, line)
    if inside and gone:
        for number in inside:
            parent = heir_of(links, number)
            if parent != LOST:
                yield from (Heir(child, "parentUuid", parent) for child in links.children(number))
                yield from boundaries(links, links.tree.ids[number], parent)
        return
    torn = lost_bytes(links, line, inside)
    name = lost_name(finding, links, line, inside)
    if name is None or (not torn.strip(NOTHING) and (inside or b"\0" not in line.raw)):
        return
    children = [one for one, named in links.tree.waiting.items() if named == name and links.tree.parents[one] == LOST]
    parent = parent_of_lost(links, torn, line, frozenset(children))
    for child in children:
        if parent == NONE or (parent >= 0 and links.akin(parent, child) and child not in links.tree.upward(parent)):
            yield Heir(child, "parentUuid", parent)
    if parent != LOST:
        yield from boundaries(links, name, parent)


def boundaries(links: Links, name: str, parent: int) -> Iterator[Heir]:
    """The compactions that name a lost record as the last before them."""
    for number, message in links.tree.boundaries.items():
        if (message.marker or {}).get("logicalParentUuid") == name:
            yield Heir(number, "logicalParentUuid", parent)


def records_in(links: Links, line: Record) -> list[int]:
    """The records of the tree that were read from a line."""
    offsets = links.tree.offsets
    first = bisect_left(offsets, line.offset)
    return list(range(first, bisect_left(offsets, line.offset + len(line.raw), first)))


def lost_bytes(links: Links, line: Record, inside: Iterable[int]) -> bytes:
    """What of a damaged line is in no whole record: the torn piece before the first, else what is behind the last."""
    ends = [0]
    for number in inside:
        start = links.tree.offsets[number] - line.offset
        if line.raw[:start].strip(NOTHING) and ends == [0]:
            return line.raw[:start]
        try:
            ends.append(start + value_span(line.raw[start:], "")[1])
        except (ValueError, KeyError, IndexError):
            return b""
    return line.raw[ends[-1] :]


def lost_name(finding: Finding, links: Links, line: Record, inside: list[int]) -> str | None:
    """The id of a lost record: as its line tells it, else the one that the next record names in vain."""
    tree = links.tree
    if finding.record_id is not None and finding.record_id not in tree.index:
        return finding.record_id
    following = bisect_left(tree.offsets, line.offset + len(line.raw))
    for number in [*inside, following] if following < len(tree) else inside:
        if number in tree.waiting and tree.parents[number] == LOST:
            return tree.waiting[number]
        marker = tree.boundaries[number].marker if number in tree.boundaries else None
        named = (marker or {}).get("logicalParentUuid")
        if isinstance(named, str) and named not in tree.index:
            return named
    return None


def parent_of_lost(links: Links, torn: bytes, line: Record, children: frozenset[int]) -> int:
    """The parent that a lost record names, else the record just before its line; LOST where nobody can tell."""
    tree = links.tree
    head = torn.lstrip(NOTHING)
    named = PARENT.search(head) if head.startswith(b"{") else None
    if named is not None and named[1] is None:
        return NONE
    if named is not None:
        number = tree.index.get(named[1].decode(errors="replace"))
        if number is not None:
            return number
    before = bisect_left(tree.offsets, line.offset) - 1
    if before < 0 or set(links.children(before)) - children:
        return LOST
    return before


def place_in(links: Links, heir: Heir) -> tuple[Record, Span] | None:
    """The line of a record and the place of the id that it names; None where it cannot be read."""
    offset = links.tree.offsets[heir.number]
    line = links.pages.line(links.tree.file, offset)
    try:
        start, end = value_span(line.raw[offset - line.offset :], heir.path)
    except (ValueError, KeyError, IndexError):
        return None
    return line, Span(line.file, offset + start, offset + end)


def spliced(edits: Iterable[Edit], line: Record, place: Span, new: bytes) -> Iterator[Edit]:
    """Edits, one more of which changes a few bytes of a line: in the edit that has that line in hand, or in its own."""
    begin, end = line.offset, line.offset + len(line.raw)
    done = False
    for edit in edits:
        if edit.file == line.file and edit.start <= begin and end <= edit.end and edit.end > edit.start:
            done = True
            yield edit._replace(pieces=tuple(one for piece in edit.pieces for one in parted(piece, place, new)))
        else:
            yield edit
    if not done:
        yield Edit(line.file, begin, end, tuple(parted(Span(line.file, begin, end), place, new)))


def parted(piece: Piece, place: Span, new: bytes) -> Iterator[Piece]:
    """A piece in which the bytes of `place`, if they are in it, give way to new ones."""
    if isinstance(piece, Span) and piece.file == place.file and piece.start <= place.start and place.end <= piece.end:
        yield from (Span(piece.file, piece.start, place.start), new, Span(piece.file, place.end, piece.end))
    else:
        yield piece
