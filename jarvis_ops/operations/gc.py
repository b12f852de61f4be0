"""Frees what our own folders hold and need hold no longer."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from jarvis_ops.model.conversation import Inventory
from jarvis_ops.model.quantity import iso_text
from jarvis_ops.model.report import GcOutcome
from jarvis_ops.stores.base import WritableStore

KINDS = ("backups", "trash", "quarantine")


def gc(
    store: WritableStore, inventory: Inventory, kinds: Collection[str], before: int, *, apply: bool
) -> Iterator[GcOutcome]:
    """One outcome for the store: files of these kinds from before an instant (milliseconds), removed if `apply`."""
    files = store.freeable(inventory, kinds, before)
    outcome = GcOutcome(
        conversation=None,
        status="planned" if files else "clean",
        before=iso_text(before) or "",
        files=files,
        bytes=sum(file.bytes for file in files),
    )
    if files and apply:
        store.free(files)
        outcome.status = "applied"
    yield outcome
