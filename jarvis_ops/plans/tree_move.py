"""Records of another session: how they leave the file that they lie in, and go to that of their own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from jarvis_ops.model.finding import Finding
from jarvis_ops.model.pieces import Edit
from jarvis_ops.model.plan import Repair
from jarvis_ops.model.record import Position, Record
from jarvis_ops.plans.lines import Line, UnmendableError
from jarvis_ops.plans.steps import Words
from jarvis_ops.plans.tree_links import Links
from jarvis_ops.plans.tree_rework import NO_HEIR, Rework, places_of
from jarvis_ops.rules.seams import parse
from jarvis_ops.rules.tree import LEGAL_ROOT, LOST, NONE, SIDE, flags_of

BELONGS = "it belongs to another session, and goes to the file of that"


class Moving:
    """Takes records out that stand, or will stand, in the files of their own sessions; `homes` as in Ground."""

    def __init__(self, links: Links, homes: Mapping[str, Position | str]) -> None:
        self._links = links
        self._homes = homes

    def away(self, finding: Finding) -> Repair:
        """The record leaves this file."""
        links = self._links
        number = links.at(finding.position)
        home = self._homes.get(links.tree.ids[number], "where it belongs is not known")
        if isinstance(home, str):
            raise UnmendableError(home)
        moving = {name for name, place in self._homes.items() if isinstance(place, Position)}
        rework = Rework(links, finding, "asked")
        rework.send(number, home, heirs_of(links, number, moving), BELONGS)
        return rework.repair()


def heirs_of(links: Links, number: int, moving: Collection[str]) -> dict[int, int]:
    """What hangs on a record and stays when it goes, with new parents. UnmendableError where there can be none."""
    tree = links.tree
    staying = [child for child in links.children(number) if tree.ids[child] not in moving]
    parent, seen = number, set[int]()
    while parent >= 0 and tree.ids[parent] in moving and parent not in seen:
        seen.add(parent)
        parent = links.stored(parent)
    if staying and (parent == LOST or parent in seen):
        raise UnmendableError(NO_HEIR)
    return dict.fromkeys(staying, max(parent, NONE))


def leaving(links: Links, numbers: Iterable[int]) -> list[Line]:
    """The lines of records of one other session, in file order. UnmendableError if they cannot leave their file."""
    chosen = [*numbers]
    moving = {links.tree.ids[number] for number in chosen}
    for number in chosen:
        if links.tree.flags[number] & SIDE:
            raise UnmendableError("a sub-agent has written it, and nobody can tell which file is its own")
        name = links.tree.ids[number]
        if number in links.tree.boundaries:
            raise UnmendableError("it is a compaction, and would change what its own session sends")
        if any(next(places_of(name, message.marker or {}), None) for message in links.tree.boundaries.values()):
            raise UnmendableError("a compaction names it, so it stays where it stands")
        heirs_of(links, number, moving)
    return [links.line(number) for number in chosen]


def arriving(finding: Finding, lines: Sequence[Line], links: Links) -> tuple[Repair | None, Position]:
    """How the file of their own session takes records in, and behind which place; None where they are there already.

    They go before the first record that hangs on one of them, else to the end. UnmendableError if that file has no
    place for them.
    """
    new = [line for line in lines if is_new(line, links)]
    check_parents(new, links)
    names, tree = {line.message.id for line in lines}, links.tree
    first = [number for number, name in tree.waiting.items() if name in names] if new else []
    first += [] if new else [tree.index[name] for name in names if name is not None]
    file = tree.file
    place = tree.offsets[min(first)] if first else links.pages.size(file)
    before = next(links.pages.backward(file, place), None)
    behind = before.position() if before is not None else Position(file, None, 0)
    if not new:
        return None, behind
    words = Words(finding, "asked")
    steps = [words.step("insert", behind, BELONGS, new=line.raw, record_id=line.message.id) for line in new]
    pieces = b"".join(line.raw.removesuffix(b"\n") + b"\n" for line in new)
    edit = Edit(file, place, place, (_end_of(before) + pieces,))
    inserted = tuple(line.message.id or "" for line in new)
    return words.repair(*steps, edits=(edit,), adds=len(new), inserted=inserted), behind


def is_new(line: Line, links: Links) -> bool:
    """Whether a file lacks a record. UnmendableError if another record has its id there."""
    number = links.tree.index.get(line.message.id or "")
    if number is None:
        return True
    if links.line(number).raw.strip() != line.raw.strip():
        raise UnmendableError("another record has its id in the file of its own session")
    return False


def check_parents(new: Sequence[Line], links: Links) -> None:
    """UnmendableError if a record's parent would be missing in its new file, or it would begin a second chain there."""
    known = set[str | None](links.tree.index)
    for line in new:
        message = line.message
        if message.parent_id is None:
            if known and not flags_of(message) & LEGAL_ROOT:
                raise UnmendableError("it names no parent, and the file of its own session has its beginning already")
        elif message.parent_id not in known:
            raise UnmendableError("its parent is not in the file of its own session")
        known.add(message.id)


def _end_of(before: Record | None) -> bytes:
    """What must follow a last line so that another can."""
    if before is None or before.raw.endswith(b"\n"):
        return b""
    if parse(before.raw) is None:
        raise UnmendableError("the last line of the file of its own session is damaged, and has to be mended first")
    return b"\n"
