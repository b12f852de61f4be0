"""`heal`: parses, and calls."""

from __future__ import annotations

import typer

from jarvis_ops.cli import options


def heal(
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
    lossy: options.Lossy = False,
    rule: options.Repairs = None,
    include_sealed: options.IncludeSealed = False,
    elsewhere: options.Elsewhere = None,
    spread_ms: options.SpreadMs = False,
    plan_out: options.PlanOut = None,
    plan: options.PlanFile = None,
    scope: options.ScopeOf = "replay",
    wait: options.Wait = "3s",
    turn_timeout: options.TurnTimeout = "300s",
    quiet_time: options.QuietTime = "5m",
    assume_idle: options.AssumeIdle = False,
    lock_wait: options.LockWait = "0s",
    dialect: options.DialectName = None,
    profile: options.Profile = None,
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
    """Repair conversations so that they go on, and lose nothing. Prints the plan; --apply carries it out."""
    from jarvis_ops.cli import asking, errand, healing, manner

    asked = asking.Asked(conversations, only, kind, since, idle_for, ids_from, call_id, record_id, everything)
    way = healing.Way(
        apply, dry_run, lossy, rule or (), include_sealed, wait, quiet_time, lock_wait, plan_out, plan, elsewhere,
        stop_after, sort, metrics_file, spread_ms)  # fmt: skip
    judged = manner.Manner(scope, turn_timeout, assume_idle, dialect, profile)
    on = errand.Errand(ctx, store, asking.form_of(ctx, output, as_json, verbose, quiet, progress, limit))
    raise typer.Exit(healing.Healing(on, asked, judged, way).run())
