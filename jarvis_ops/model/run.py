"""What runs of ours have done to a store, as their journals tell it."""

from __future__ import annotations

from typing import Literal

import msgspec

from jarvis_ops.model.plan import Step

# How it was known that nobody else writes: the system's own word (a lease), a look at open files, or mere quiet.
Level = Literal["lease", "open-files", "quiet"]
RunState = Literal["unfinished", "done", "put-back", "undone"]


class Applied(msgspec.Struct, frozen=True):
    """A change that was carried out. `late_lines` were written meanwhile by others and carried over.

    `level` is None where no bytes were changed, so that it does not matter who else writes.
    """

    level: Level | None
    late_lines: int = 0


class Recovered(msgspec.Struct, frozen=True):
    """What was done about an interrupted run: `what` is one sentence."""

    run: str
    conversation: str
    what: str


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One conversation of one run. `journal` is where its entry lies; times are in the run's id (UTC).

    `backups` are the files that hold what was there before; `bytes` their size, as far as the live file does not
    share it.
    """

    run: str
    command: str
    conversation: str
    state: RunState
    steps: tuple[Step, ...] = ()
    journal: str
    backups: tuple[str, ...] = ()
    bytes: int = 0
    undoes: str | None = None


class Freed(msgspec.Struct, frozen=True):
    """A file of ours that can go: its kind, place, size in bytes, and the run that made it."""

    kind: Literal["backups", "trash", "quarantine"]
    path: str
    bytes: int
    run: str
