"""Logs that others may read: which of a conversation's files are so, and what they are to become."""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ops.model.finding import Finding
from jarvis_ops.model.plan import NewMode
from jarvis_ops.model.record import Position
from jarvis_ops.rules.findings import found
from jarvis_ops.rules.store import private, readable_by_others
from jarvis_ops.stores.base import Snapshot

RULE = "file-mode"


def new_modes(snapshot: Snapshot) -> Iterator[tuple[Finding, NewMode]]:
    """Each file of a conversation that others may read, with the mode that lets its owner alone."""
    for part in snapshot.parts:
        if readable_by_others(part.mode):
            file = part.file.file
            detail = f"others may read it (mode {part.mode:04o})"
            finding = found(RULE, Position(file), detail, facts={"mode": f"{part.mode:04o}"})
            yield finding, NewMode(file, part.mode, private(part.mode))
