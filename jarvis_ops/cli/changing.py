"""What commands that change a store have in common: nothing is changed unless it is asked for."""

from __future__ import annotations

from jarvis_ops.cli.asking import Asked
from jarvis_ops.cli.errand import Errand
from jarvis_ops.cli.retyping import retyped
from jarvis_ops.errors import UsageError
from jarvis_ops.operations.select import Selection


def check_apply(errand: Errand, *, apply: bool, dry_run: bool) -> None:
    """UsageError for options that contradict each other; the report says what to type after a plan."""
    if apply and dry_run:
        raise UsageError("--apply and --dry-run contradict each other; give one of them")
    errand.reporting.tally.go_on = retyped(errand.ctx, "--apply")


def check_chosen(asked: Asked, selection: Selection) -> None:
    """UsageError where a whole store would be changed without anybody having said so."""
    if selection.whole and not asked.everything:
        raise UsageError("this changes a store, so name conversations, choose some with an option, or say --all")
