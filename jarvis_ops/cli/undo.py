"""`undo`: parses, and calls."""

from __future__ import annotations

import typer

from jarvis_ops.cli import options


def undo(
    ctx: typer.Context,
    *,
    run: options.RunName,
    conversations: options.Undone = None,
    store: options.StoreName = None,
    apply: options.Apply = False,
    dry_run: options.DryRun = False,
    wait: options.Wait = "3s",
    lock_wait: options.LockWait = "0s",
    limit: options.Limit = None,
    output: options.Output = "table",
    as_json: options.Json = False,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
    progress: options.Progress = None,
) -> None:
    """Take a run back; what an agent has added since stays. Prints the plan; --apply carries it out."""
    from jarvis_ops.cli import asking, undoing
    from jarvis_ops.cli.errand import Errand

    form = asking.form_of(ctx, output, as_json, verbose, quiet, progress, limit)
    errand = Errand(ctx, store, form)
    wanted = undoing.Wanted(run, tuple(conversations or ()), apply, dry_run, wait, lock_wait)
    raise typer.Exit(undoing.Undoing(errand, wanted).run())
