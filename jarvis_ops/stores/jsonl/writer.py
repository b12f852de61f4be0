"""What a store of log files can do to its conversations: hold, change, recover, take back, tend."""

from __future__ import annotations

import contextlib
import errno
import time
from collections.abc import Collection, Iterator

from jarvis_ops.errors import BusyError, OpsError, RefusedError, UnreadableError
from jarvis_ops.model.conversation import Conversation, Inventory
from jarvis_ops.model.plan import Change
from jarvis_ops.model.run import Applied, Freed, Recovered, Run
from jarvis_ops.stores.jsonl import holding, recovery, tending, undo
from jarvis_ops.stores.jsonl.journal import load
from jarvis_ops.stores.jsonl.ours import Files, ours
from jarvis_ops.stores.jsonl.rewrite import Rewrite

FULL = {errno.ENOSPC: "the disk is full", errno.EDQUOT: "the disk quota is used up"}
FORBIDDEN = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


class Writer:
    """The writing half of a JsonlStore; see WritableStore."""

    def __init__(self, disk: Files | None = None) -> None:
        self._disk = disk or Files()
        self._tended: set[str] = set()

    @contextlib.contextmanager
    def hold(self, conversation: Conversation, run: str, *, wait: float) -> Iterator[None]:
        """Hold a conversation."""
        with contextlib.ExitStack() as held:
            with translated(conversation):
                held.enter_context(
                    holding.hold(self._disk, ours(self._disk, conversation), conversation, run, wait=wait)
                )
            yield

    def apply(self, change: Change, run: str) -> Applied:
        """Carry a change out, then free what is remembered for too long."""
        with translated(change.conversation):
            mine = ours(self._disk, change.conversation)
            applied = Rewrite(self._disk, mine, change, run).run()
        with contextlib.suppress(OSError, OpsError):
            self._tend(mine.base)
        return applied

    def unfinished(self, conversation: Conversation) -> list[str]:
        """The runs that were interrupted on a conversation."""
        with translated(conversation):
            return recovery.unfinished(self._disk, ours(self._disk, conversation))

    def recover(self, conversation: Conversation) -> list[Recovered]:
        """Deal with them."""
        with translated(conversation):
            return recovery.recover(self._disk, ours(self._disk, conversation), conversation.id)

    def runs(self, inventory: Inventory) -> list[Run]:
        """What is remembered; a conversation that is gone has the name that it had."""
        found = []
        names = {ours(self._disk, each): each.id for each in inventory.conversations}
        for base in sorted({each.base for each in names}):
            with translated(None):
                for mine, journal in tending.journals_in(self._disk, base):
                    name = names.get(mine, journal.conversation)
                    found.append(tending.as_run(self._disk, mine, journal, name))
        return sorted(found, key=lambda run: (run.run, run.conversation))

    def undoing(self, run: Run, conversation: Conversation) -> Change:
        """The change that takes a run back."""
        with translated(conversation):
            mine = ours(self._disk, conversation)
            if self._disk.status(mine.journal(run.run)) is None:
                raise RefusedError(f"run {run.run} is no longer remembered, so it cannot be taken back")
            return undo.undoing(self._disk, mine, load(self._disk, mine.journal(run.run)), conversation)

    def freeable(self, inventory: Inventory, kinds: Collection[str], before: int) -> list[Freed]:
        """What can go."""
        bases = {ours(self._disk, each).base for each in inventory.conversations}
        with translated(None):
            return [one for base in sorted(bases) for one in tending.freeable(self._disk, base, kinds, before)]

    def free(self, items: Collection[Freed]) -> None:
        """Remove it."""
        with translated(None):
            tending.free(self._disk, items)

    def _tend(self, base: str) -> None:
        """Once a folder: what is to be freed does not change much while we are at work."""
        if base in self._tended:
            return
        self._tended.add(base)
        now = int(time.time() * 1000)
        tending.free(self._disk, tending.overdue(self._disk, base, now))
        tending.forget_old(self._disk, base, now)


@contextlib.contextmanager
def translated(conversation: Conversation | None) -> Iterator[None]:
    """Say in words what the system refused, and of which conversation."""
    name = conversation.id if conversation is not None else None
    try:
        yield
    except OpsError as error:
        error.conversation = error.conversation or name
        raise
    except OSError as error:
        raise _said(error, name) from error


def _said(error: OSError, conversation: str | None) -> OpsError:
    reason = error.strerror or str(error)
    if error.errno in FULL:
        return RefusedError(FULL[error.errno], conversation=conversation)
    if error.errno in FORBIDDEN:
        return RefusedError(f"this is no place to write ({reason})", conversation=conversation)
    if error.errno == errno.EAGAIN:
        return BusyError("a program is about to write to it; it was left alone", conversation=conversation)
    where = f" at {error.filename}" if error.filename else ""
    return UnreadableError(f"the system refused a step{where}: {reason}", conversation=conversation)
