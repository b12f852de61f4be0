"""What every command over a store has: where it was told to look, how its report is to look, and what comes of it."""

from __future__ import annotations

import shlex
import time

import typer

from jarvis_ops.cli.defaults import config_of
from jarvis_ops.cli.place import TYPED, holds_password, path_of, place_of, shown
from jarvis_ops.cli.reporting import Reporting
from jarvis_ops.config import Config, Place
from jarvis_ops.errors import StoreError
from jarvis_ops.render.form import Form
from jarvis_ops.render.looks import look_of
from jarvis_ops.render.views import complain
from jarvis_ops.stores.base import Store, WritableStore
from jarvis_ops.stores.disk import replace_file
from jarvis_ops.stores.open import names_database, open_store, open_to_read


class Errand:
    """One run of a command. The store is named first and opened later, so that a usage error comes before its own."""

    def __init__(self, ctx: typer.Context, store: str | None, form: Form, fail_on: str = "error") -> None:
        self.ctx = ctx
        command = str(ctx.info_name)
        self.report = look_of(command).report(command=command, store="", store_from="")
        self.form = form
        self.reporting = Reporting(self.report, form, fail_on)
        self._store = store
        self._begun = time.monotonic()

    def config(self) -> Config:
        """The configuration. ConfigurationError if it is bad."""
        return config_of(self.ctx)

    def place(self) -> Place:
        """Where the store is; the report names it from here on."""
        place = place_of(self.ctx, self._store, self.config())
        self.report.store, self.report.store_from = shown(place.where), place.source
        return place

    def open(self, place: Place) -> WritableStore:
        """The store at a place, for a command that may change it."""
        store = open_store(path_of(place), self.config().schema)
        self.report.store = store.name
        return store

    def open_to_read(self, place: Place) -> Store:
        """The store at a place, for a command that changes nothing."""
        path = path_of(place)
        if place.source == TYPED and names_database(path) and holds_password(path):
            complain("a password that is typed can be seen by others on this machine; POSTGRES_DSN or .pgpass hide it")
        store = open_to_read(path, self.config().schema)
        self.report.store = store.name
        return store

    def on_this_store(self, *words: str) -> str:
        """Another command on the same store, as a shell takes it; a store that was not typed need not be."""
        source = self.ctx.get_parameter_source("store")
        typed = self._store is not None and source is not None and source.name == "COMMANDLINE"
        return shlex.join(["jarvis-ops", *words, *(["--store", shown(self._store or "")] if typed else [])])

    def measure(self, path: str | None) -> None:
        """Write the metrics of the run, if a file is named for them. StoreError when that cannot be done."""
        if path is None or self.report.exit_code == 2:
            return
        from jarvis_ops.render import metrics

        try:
            data = metrics.text(path, self.report, ended=time.time(), seconds=time.monotonic() - self._begun)
            # The collector runs as somebody else.
            replace_file(path, data, mode=0o644)
        except OSError as error:
            raise StoreError(f"the metrics file {path!r} cannot be written: {error.strerror}") from error
