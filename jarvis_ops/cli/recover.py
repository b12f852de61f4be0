"""`recover`: parses, and calls."""

from __future__ import annotations

import typer

from jarvis_ops.cli import options


def recover(
    ctx: typer.Context,
    *,
    conversations: options.Named = None,
    store: options.StoreName = None,
    only: options.Only = None,
    kind: options.KindOf = None,
    since: options.Since = None,
    idle_for: options.IdleFor = None,
    ids_from: options.IdsFrom = None,
    call_id: options.CallIds = None,
    record_id: options.RecordIds = None,
    everything: options.All = False,
    apply: options.Apply = False,
    dry_run: options.DryRun = False,
    lock_wait: options.LockWait = "0s",
    output: options.Output = "table",
    as_json: options.Json = False,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
) -> None:
    """Finish what an interrupted run left half done, or put it back. Prints the plan; --apply carries it out."""
    from jarvis_ops.cli import asking, tending
    from jarvis_ops.cli.errand import Errand

    asked = asking.Asked(conversations, only, kind, since, idle_for, ids_from, call_id, record_id, everything)
    form = asking.form_of(ctx, output, as_json, verbose, quiet)
    errand = Errand(ctx, store, form)
    raise typer.Exit(tending.recover_as_asked(errand, asked, lock_wait, apply=apply, dry_run=dry_run))
