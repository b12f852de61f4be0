"""`migrate-seq`: parses, and calls."""

from __future__ import annotations

import typer

from jarvis_ops.cli import options


def migrate_seq(
    ctx: typer.Context,
    *,
    store: options.StoreName = None,
    apply: options.Apply = False,
    dry_run: options.DryRun = False,
    finish: options.Finish = False,
    undo: options.TakeBack = False,
    max_wait: options.MaxWait = "100ms",
    sleep: options.Sleep = "0s",
    max_replica_lag: options.MaxLag = None,
    space_checked: options.SpaceChecked = False,
    allow_triggers: options.AllowTriggers = False,
    save_evidence: options.SaveEvidence = None,
    evidence: options.SavedEvidence = None,
    output: options.Output = "table",
    as_json: options.Json = False,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
    progress: options.Progress = None,
) -> None:
    """Number the rows of a database in the order in which they were written, while the agent goes on.

    Prints the plan; --apply carries it out, and goes on where an earlier run was cut off.
    """
    from jarvis_ops.cli import asking, numbering
    from jarvis_ops.cli.errand import Errand

    form = asking.form_of(ctx, output, as_json, verbose, quiet, progress)
    asked = numbering.Asked(
        apply, dry_run, finish, undo, max_wait, sleep, max_replica_lag, space_checked, allow_triggers,
        save_evidence, evidence,
    )  # fmt: skip
    raise typer.Exit(numbering.number_as_asked(Errand(ctx, store, form), asked))
