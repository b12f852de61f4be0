"""What commands that change a store have in common: nothing is changed unless it is asked for."""

from __future__ import annotations

from collections.abc import Collection

from jarvis_ops.cli.asking import Asked
from jarvis_ops.cli.errand import Errand
from jarvis_ops.cli.retyping import retyped
from jarvis_ops.errors import UsageError
from jarvis_ops.operations.select import Selection

# What belongs to no conversation.
STORE_RULES = frozenset({"index-stale"})


def check_apply(errand: Errand, *, apply: bool, dry_run: bool) -> None:
    """UsageError for options that contradict each other; the report says what to type after a plan."""
    if apply and dry_run:
        raise UsageError("--apply and --dry-run contradict each other; give one of them")
    errand.reporting.tally.go_on = retyped(errand.ctx, "--apply")


def check_chosen(asked: Asked, selection: Selection) -> None:
    """UsageError where a whole store would be changed without anybody having said so."""
    if selection.whole and not asked.everything:
        raise UsageError("this changes a store, so name conversations, choose some with an option, or say --all")


def check_store_rules(rules: Collection[str], selection: Selection) -> None:
    """UsageError where some conversations are chosen, and a rule that belongs to none of them."""
    for rule in sorted(STORE_RULES & {*rules}):
        if not selection.whole:
            raise UsageError(f"--rule {rule!r} is about the store as a whole, so it needs --all")
