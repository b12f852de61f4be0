"""Runs of ours: their names, and what is remembered of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime

from jarvis_ops.model.conversation import Inventory
from jarvis_ops.model.report import RunOutcome
from jarvis_ops.model.run import Run
from jarvis_ops.stores.base import WritableStore


def run_id(now: int) -> str:
    """A name for a run that begins at `now` (milliseconds since the epoch): `20261130T221500Z-3fa9`."""
    return f"{datetime.fromtimestamp(now / 1000, UTC):%Y%m%dT%H%M%SZ}-{os.urandom(2).hex()}"


def runs(store: WritableStore, inventory: Inventory) -> Iterator[RunOutcome]:
    """What is remembered, the newest run first; one outcome for each conversation of a run."""
    return map(_outcome, reversed(store.runs(inventory)))


def _outcome(run: Run) -> RunOutcome:
    return RunOutcome(
        conversation=run.conversation,
        status="clean",
        run=run.run,
        command=run.command,
        state=run.state,
        steps=list(run.steps),
        backups=list(run.backups),
        bytes_held=run.bytes,
        undoes=run.undoes,
    )
