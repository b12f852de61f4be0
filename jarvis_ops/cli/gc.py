"""`gc`: parses, and calls."""

from __future__ import annotations

import typer

from jarvis_ops.cli import options


def gc(
    ctx: typer.Context,
    *,
    store: options.StoreName = None,
    backups: options.Backups = False,
    trash: options.Trash = False,
    quarantine: options.Quarantine = False,
    older_than: options.OlderThan = "7d",
    apply: options.Apply = False,
    dry_run: options.DryRun = False,
    output: options.Output = "table",
    as_json: options.Json = False,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
) -> None:
    """Free what our own folders hold: all of it, or what an option names. Prints the plan; --apply carries it out."""
    from jarvis_ops.cli import asking, tending
    from jarvis_ops.cli.errand import Errand

    named = {"backups": backups, "trash": trash, "quarantine": quarantine}
    kinds = [kind for kind, wanted in named.items() if wanted] or list(named)
    form = asking.form_of(ctx, output, as_json, verbose, quiet)
    errand = Errand(ctx, store, form)
    raise typer.Exit(tending.free(errand, kinds, older_than, apply=apply, dry_run=dry_run))
