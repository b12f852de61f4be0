"""`sessions`: parses, and calls."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from jarvis_ops.cli import options


def sessions(
    ctx: typer.Context,
    *,
    conversations: options.Conversations = None,
    store: options.StoreName = None,
    only: options.Only = None,
    kind: options.KindOf = None,
    since: options.Since = None,
    idle_for: options.IdleFor = None,
    ids_from: options.IdsFrom = None,
    call_id: options.CallIds = None,
    record_id: options.RecordIds = None,
    everything: options.All = False,
    state: options.State = None,
    archived: options.Archived = None,
    dialect: options.DialectName = None,
    sort: Annotated[
        Literal["last", "id", "bytes", "records"],
        typer.Option("--sort", help="Order of the rows: by id, or with the newest or the most first."),
    ] = "last",
    limit: options.Limit = None,
    output: options.Output = "table",
    as_json: options.Json = False,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
    progress: options.Progress = None,
) -> None:
    """List conversations: kind, size, last record, state. Changes nothing."""
    from jarvis_ops.cli import asking, listing
    from jarvis_ops.cli.errand import Errand

    asked = asking.Asked(conversations, only, kind, since, idle_for, ids_from, call_id, record_id, everything)
    wanted = listing.Wanted(tuple(state or ()), archived, sort, dialect)
    form = asking.form_of(ctx, output, as_json, verbose, quiet, progress, limit)
    errand = Errand(ctx, store, form)
    raise typer.Exit(listing.Listing(errand, asked, wanted).run())
