"""`runs`: parses, and calls."""

from __future__ import annotations

import typer

from jarvis_ops.cli import options


def runs(
    ctx: typer.Context,
    *,
    store: options.StoreName = None,
    limit: options.Limit = None,
    output: options.Output = "table",
    as_json: options.Json = False,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
) -> None:
    """List runs that changed the store, the newest first: what they did, and what their backups cost."""
    from jarvis_ops.cli import asking, tending
    from jarvis_ops.cli.errand import Errand

    form = asking.form_of(ctx, output, as_json, verbose, quiet, limit=limit)
    errand = Errand(ctx, store, form)
    raise typer.Exit(tending.list_runs(errand))
