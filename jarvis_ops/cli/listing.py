"""Carries out `sessions`: opens, chooses, looks, sorts."""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple

from jarvis_ops.cli.asking import Asked, selection_of
from jarvis_ops.cli.conduct import conduct
from jarvis_ops.cli.errand import Errand
from jarvis_ops.cli.manner import Manner, settings_of
from jarvis_ops.cli.progress import progress
from jarvis_ops.model.conversation import Conversation
from jarvis_ops.model.report import Outcome, SessionOutcome
from jarvis_ops.model.settings import Settings
from jarvis_ops.operations.footprint import log_bytes
from jarvis_ops.operations.select import select
from jarvis_ops.operations.sessions import in_order, sessions
from jarvis_ops.stores.base import Store


class Wanted(NamedTuple):
    """What rows are wanted, and in which order. `archived` None: whether archived or not."""

    states: tuple[str, ...]
    archived: bool | None
    sort: str
    dialect: str | None

    def takes(self, row: SessionOutcome) -> bool:
        """Whether a row is listed. One that could not be read always is."""
        if row.status == "failed":
            return True
        if self.archived is not None and self.archived != (row.archived_at is not None):
            return False
        return not self.states or row.state in self.states


class Listing:
    """One run of `sessions`."""

    def __init__(self, errand: Errand, asked: Asked, wanted: Wanted) -> None:
        self._errand = errand
        self._asked = asked
        self._wanted = wanted

    def run(self) -> int:
        """List and report; the exit code."""
        return conduct(self._errand.reporting, self._prepare)

    def _prepare(self) -> Generator[Outcome, None, None]:
        """All that can go wrong before the first conversation is looked at; then the rows to take."""
        place = self._errand.place()
        settings = settings_of(self._errand.config(), Manner(dialect=self._wanted.dialect))
        selection = selection_of(self._asked, settings.now)
        store = self._errand.open_to_read(place)
        return self._rows(store, select(store, store.inventory(), selection, settings), settings)

    def _rows(self, store: Store, chosen: list[Conversation], settings: Settings) -> Generator[Outcome, None, None]:
        """The rows; only an order by id needs no knowledge of the others."""
        with progress(self._errand.form, sum(map(log_bytes, chosen))) as advance:
            rows = (row for row in sessions(store, chosen, settings, advance) if self._wanted.takes(row))
            if self._wanted.sort == "id":
                yield from rows
                return
            kept = list(rows)
        yield from in_order(kept, self._wanted.sort)
