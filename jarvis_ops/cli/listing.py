"""Carries out `sessions`: opens, chooses, looks, sorts."""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from typing import NamedTuple

import msgspec
import typer

from jarvis_ops.cli.asking import Asked, selection_of
from jarvis_ops.cli.conduct import conduct
from jarvis_ops.cli.defaults import config_of
from jarvis_ops.cli.near import known
from jarvis_ops.cli.place import path_of, place_of, shown
from jarvis_ops.cli.progress import progress
from jarvis_ops.cli.reporting import Reporting
from jarvis_ops.config import Config, limits
from jarvis_ops.dialects.registry import DIALECTS
from jarvis_ops.model.conversation import Conversation
from jarvis_ops.model.report import Outcome, SessionOutcome, SessionsReport
from jarvis_ops.model.settings import Settings
from jarvis_ops.operations.footprint import log_bytes
from jarvis_ops.operations.select import select
from jarvis_ops.operations.sessions import in_order, sessions
from jarvis_ops.render.views import Form
from jarvis_ops.stores.base import Store
from jarvis_ops.stores.open import open_store


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

    def __init__(self, ctx: typer.Context, store: str | None, asked: Asked, wanted: Wanted, form: Form) -> None:
        self._ctx = ctx
        self._store = store
        self._asked = asked
        self._wanted = wanted
        self._form = form
        self._report = SessionsReport(command="sessions", store="", store_from="")
        self._reporting = Reporting(self._report, form)

    def run(self) -> int:
        """List and report; the exit code."""
        return conduct(self._reporting, self._prepare)

    def _prepare(self) -> Generator[Outcome, None, None]:
        """All that can go wrong before the first conversation is looked at; then the rows to take."""
        config = config_of(self._ctx)
        place = place_of(self._ctx, self._store, config)
        self._report.store, self._report.store_from = shown(place.where), place.source
        settings = self._settings(config)
        selection = selection_of(self._asked, settings.now)
        store = open_store(path_of(place))
        self._report.store = store.name
        return self._rows(store, select(store, store.inventory(), selection, settings), settings)

    def _settings(self, config: Config) -> Settings:
        dialect = self._wanted.dialect
        settings = Settings(
            now=time.time_ns() // 1_000_000,
            dialect=known("dialect", dialect.replace("-", "_"), DIALECTS) if dialect is not None else None,
            limits=limits(config, os.environ),
        )
        if config.test_prefixes is not None:
            settings = msgspec.structs.replace(settings, test_prefixes=config.test_prefixes)
        return settings

    def _rows(self, store: Store, chosen: list[Conversation], settings: Settings) -> Generator[Outcome, None, None]:
        """The rows; only an order by id needs no knowledge of the others."""
        with progress(self._form, sum(map(log_bytes, chosen))) as advance:
            rows = (row for row in sessions(store, chosen, settings, advance) if self._wanted.takes(row))
            if self._wanted.sort == "id":
                yield from rows
                return
            kept = list(rows)
        yield from in_order(kept, self._wanted.sort)
