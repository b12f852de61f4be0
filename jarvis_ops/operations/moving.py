"""Records that lie in the file of another session: which file is their own, and whether they have arrived there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from jarvis_ops.dialects.base import Dialect
from jarvis_ops.errors import OpsError, RefusedError
from jarvis_ops.model.conversation import Conversation
from jarvis_ops.model.finding import Finding
from jarvis_ops.model.plan import Change
from jarvis_ops.model.record import Position
from jarvis_ops.operations.draft import Draft
from jarvis_ops.operations.mending import Look
from jarvis_ops.operations.pages import SnapshotPages
from jarvis_ops.plans.lines import Line, UnmendableError
from jarvis_ops.plans.reach import reachable
from jarvis_ops.plans.tree_links import Links
from jarvis_ops.plans.tree_move import arriving, leaving
from jarvis_ops.stores.base import Snapshot, Store

RULE = "foreign-record"
NOT_YET = "it is not in the file of its own session yet, so it stays here"
LookAt = Callable[[Conversation, Snapshot], tuple[Dialect, Look]]


class Group(NamedTuple):
    """Records of one other session in a file: the first finding, their lines, and the conversation of that session."""

    finding: Finding
    lines: list[Line]
    target: Conversation


class Moving:
    """Finds the file of their own for records of other sessions. `look` judges a conversation, `partial`ly or whole."""

    def __init__(
        self, store: Store, conversations: Iterable[Conversation], look: LookAt, *, partial: bool = False
    ) -> None:
        self._store = store
        self._look = look
        self._partial = partial
        self._mains = {
            (one.folder, one.session_id): one
            for one in conversations
            if one.parent is None and one.live is not None and one.session_id
        }
        self._coming: dict[str, list[Group]] = {}

    def prepare(self, chosen: Sequence[Conversation]) -> list[Conversation]:
        """Find out what moves where; the conversations in an order in which each comes before those that it takes from.

        Files that take records in are among them.
        """
        targets: dict[str, list[Conversation]] = {}
        for one in chosen:
            targets[one.id] = [group.target for group in self._leaving(one)]
        ordered: dict[str, Conversation] = {}
        on_the_way = set[str]()

        def visit(one: Conversation) -> None:
            if one.id not in on_the_way:
                on_the_way.add(one.id)
                for target in targets.get(one.id, []):
                    visit(target)
                ordered[one.id] = one

        for one in chosen:
            visit(one)
        return [*ordered.values()]

    def awaited(self, conversation: Conversation) -> bool:
        """Whether a conversation is to take something in."""
        return conversation.id in self._coming

    def take_in(
        self, conversation: Conversation, dialect: Dialect, draft: Draft, first: Look, again: Callable[[Snapshot], Look]
    ) -> Look:
        """Let a conversation take in what belongs to it; how it looks then, to be had by judging it `again`.

        RefusedError if that would hide messages which can be reached now.
        """
        look = first
        for group in self._coming.get(conversation.id, ()):
            try:
                repair = arriving(group.finding, group.lines, links_of(dialect, look))[0]
            except UnmendableError:
                continue  # said of the file that they are in
            if repair is not None and draft.take([repair]):
                look = again(draft.view())
        if seen_in(look) < seen_in(first):
            raise RefusedError("records that belong here would hide messages that can be reached now; nothing was done")
        return look

    def homes(
        self, conversation: Conversation, dialect: Dialect, look: Look, *, there: bool
    ) -> dict[str, Position | str]:
        """Where each record of another session stands in the file of its own, or why it does not; see Ground.

        With `there`, it must have arrived; else it is enough that it can.
        """
        homes: dict[str, Position | str] = {}
        for session, findings in foreign(look).items():
            try:
                home: Position | str = self._home(
                    self._group(conversation, session, findings, dialect, look), there=there
                )
            except UnmendableError as error:
                home = error.reason
            except OpsError as error:
                home = f"the file of its own session cannot be read: {error.message}"
            homes.update({one.record_id: home for one in findings if one.record_id is not None})
        return homes

    def check_arrived(self, plan: Change, snapshot: Snapshot) -> None:
        """RefusedError unless what a plan moves to another conversation is there."""
        own = {part.file.file for part in snapshot.parts}
        pages = SnapshotPages(snapshot)
        leaving: dict[str, set[bytes]] = {}
        for step in plan.steps:
            if step.step == "move" and step.to is not None and step.to.file not in own:
                raw = pages.line(step.position.file, step.position.offset or 0).raw
                leaving.setdefault(step.to.file, set()).add(raw.strip())
        for file, lines in leaving.items():
            target = next((one for one in self._mains.values() if one.live is not None and one.live.file == file), None)
            if target is None:
                raise RefusedError(f"{file} is gone, so nothing was moved there")
            with self._store.open(target) as other:
                for record in other.records():
                    lines.discard(record.raw.strip())
            if lines:
                raise RefusedError(f"a record that is to go to {file} is not there yet; nothing was done")

    def _leaving(self, conversation: Conversation) -> Iterator[Group]:
        """What can leave a conversation; it is remembered for where it goes. What cannot be looked at has nothing."""
        try:
            with self._store.open(conversation) as snapshot:
                dialect, look = self._look(conversation, snapshot)
                for session, findings in foreign(look).items():
                    try:
                        group = self._group(conversation, session, findings, dialect, look)
                        self._home(group, there=False)
                    except (UnmendableError, OpsError):
                        continue
                    self._coming.setdefault(group.target.id, []).append(group)
                    yield group
        except (OpsError, LookupError, TypeError, ValueError):
            return

    def _group(
        self, conversation: Conversation, session: str, findings: Sequence[Finding], dialect: Dialect, look: Look
    ) -> Group:
        target = self._mains.get((conversation.folder, session))
        if self._partial:
            raise UnmendableError("the whole of both conversations has to be judged for that")
        if conversation.parent is not None:
            raise UnmendableError("it lies with a sub-agent, and nobody can tell which file is its own")
        if target is None:
            raise UnmendableError("the file of its own session is not in this folder")
        links = links_of(dialect, look)
        lines = leaving(links, [links.at(one.position) for one in findings])
        return Group(findings[0], lines, target)

    def _home(self, group: Group, *, there: bool) -> Position:
        with self._store.open(group.target) as snapshot:
            dialect, look = self._look(group.target, snapshot)
            repair, behind = arriving(group.finding, group.lines, links_of(dialect, look))
            if repair is not None and there:
                raise UnmendableError(NOT_YET)
            lines = dict(snapshot.lines_at(behind.file, {behind.offset or 0}))
            return msgspec.structs.replace(behind, line=lines.get(behind.offset or 0))


def foreign(look: Look) -> dict[str, list[Finding]]:
    """The findings about records of other sessions, by session."""
    found: dict[str, list[Finding]] = {}
    for one in look.findings:
        if one.rule == RULE:
            found.setdefault(str(one.facts["session"]), []).append(one)
    return found


def seen_in(look: Look) -> int:
    """How many messages the end of a conversation leads to."""
    return reachable(look.tree, look.chain) if look.tree is not None and look.chain is not None else 0


def links_of(dialect: Dialect, look: Look) -> Links:
    """Finding one's way in a conversation that was looked at. UnmendableError if its records name no parents."""
    if look.tree is None or look.chain is None:
        raise UnmendableError("its own session is of another form")
    return Links(SnapshotPages(look.view), dialect, look.tree, look.chain)
