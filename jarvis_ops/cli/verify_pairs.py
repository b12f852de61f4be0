"""`verify-pairs`: parses, and calls."""

from __future__ import annotations

import typer

from jarvis_ops.cli import options


def verify_pairs(
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
    rule: options.Rules = None,
    explain: options.Explain = None,
    fail_on: options.FailOn = "error",
    scope: options.ScopeOf = "replay",
    turn_timeout: options.TurnTimeout = "300s",
    assume_idle: options.AssumeIdle = False,
    dialect: options.DialectName = None,
    profile: options.Profile = None,
    against: options.Against = None,
    changed_only: options.ChangedOnly = False,
    executor: options.ExecutorName = None,
    stop_after: options.StopAfter = None,
    sort: options.Order = "id",
    limit: options.Limit = None,
    metrics_file: options.MetricsFile = None,
    output: options.Output = "table",
    as_json: options.Json = False,
    verbose: options.Verbose = False,
    quiet: options.Quiet = False,
    progress: options.Progress = None,
) -> None:
    """Judge conversations: what in them is broken, and where. Changes nothing."""
    from jarvis_ops.cli import asking, judging
    from jarvis_ops.cli.errand import Errand
    from jarvis_ops.cli.manner import Manner

    if explain is not None:
        typer.echo(judging.explained(explain))
        return
    asked = asking.Asked(conversations, only, kind, since, idle_for, ids_from, call_id, record_id, everything)
    manner = Manner(scope, turn_timeout, assume_idle, dialect, profile)
    way = judging.Way(tuple(rule or ()), changed_only, metrics_file, executor, stop_after, sort, against)
    form = asking.form_of(ctx, output, as_json, verbose, quiet, progress, limit)
    errand = Errand(ctx, store, form, fail_on)
    raise typer.Exit(judging.Judging(errand, asked, manner, way).run())
