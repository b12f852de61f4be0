"""Verifies a store inside the test's own process, which is a hundred times faster than a command of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from jarvis_ops.model.finding import Finding
from jarvis_ops.model.settings import Settings
from jarvis_ops.operations.verify import verify
from jarvis_ops.stores.open import open_store
from tests.generate import NOW


def findings_in(folder: Path, settings: Settings | None = None) -> list[Finding]:
    """All findings of a store; a conversation that could not be read or judged fails the test."""
    store = open_store(str(folder))
    inventory = store.inventory()
    outcomes = verify(
        store,
        inventory,
        inventory.conversations,
        settings or Settings(now=NOW),
        whole=True,
        executor=None,
        advance=lambda _: None,
    )
    found: list[Finding] = []
    for outcome in outcomes:
        assert outcome.errors == []
        found += outcome.findings
    return found


def faults_in(folder: Path, settings: Settings | None = None) -> list[Finding]:
    """The findings of a store that are not mere infos."""
    return [finding for finding in findings_in(folder, settings) if finding.severity != "info"]


def faults_of(write: Callable[[Path], None], settings: Settings | None = None) -> list[Finding]:
    """The errors and warnings of a store that `write` makes in a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        return faults_in(Path(folder), settings)
