"""The problem table: every rule that a finding can name, with what it means in plain words."""

from __future__ import annotations

from collections.abc import Iterable

from jarvis_ops.errors import UsageError
from jarvis_ops.rules.rows import (
    archive,
    content,
    damage,
    history,
    layout,
    order,
    pairs,
    segments,
    sql,
    trees,
)
from jarvis_ops.rules.rule import Rule

__all__ = ["RULES", "Rule", "explain"]

SAFETY_WORDS = {
    "safe": "safe: nothing leaves the store",
    "lossy": "lossy: what is taken out of the replay is kept aside, byte for byte",
    "asked": "asked: done only when this rule is named",
}


def _table(groups: Iterable[tuple[Rule, ...]]) -> dict[str, Rule]:
    """All rows by name; a name twice is a fault of the program and stops it at once."""
    table: dict[str, Rule] = {}
    for rows in groups:
        for row in rows:
            if table.setdefault(row.name, row) is not row:
                msg = f"rule {row.name} stands twice in the catalogue"
                raise ValueError(msg)
    return table


RULES: dict[str, Rule] = _table(
    (
        damage.ROWS,
        pairs.ROWS,
        content.ROWS,
        order.ROWS,
        segments.ROWS,
        trees.ROWS,
        history.ROWS,
        layout.ROWS,
        sql.ROWS,
        archive.ROWS,
    )
)


def explain(name: str) -> str:
    """The row of rule `name` as plain lines for a person. UsageError, with the nearest names, if there is none."""
    rule = RULES.get(name)
    if rule is None:
        raise UsageError(_unknown(name))
    lines = [f"{rule.name} ({rule.severity}, {rule.group})", rule.what]
    lines.append(f"Repair: {rule.repair}" if rule.repair else "Repair: none by itself.")
    if rule.safety:
        lines.append(f"Safety: {SAFETY_WORDS[rule.safety]}.")
    if rule.provider_rules:
        lines.append(f"Provider rules: {', '.join(rule.provider_rules)}")
    if rule.playbook:
        lines.append(f"More: {rule.playbook}")
    return "\n".join(lines)


def _unknown(name: str) -> str:
    """The sentence for a rule that does not exist; `difflib` is loaded here since a good name never needs it."""
    from difflib import get_close_matches

    near = get_close_matches(name, RULES, n=3, cutoff=0.5)
    hint = f"the nearest names are {', '.join(near)}" if near else f"names look like {next(iter(RULES))}"
    return f"there is no rule {name!r}; {hint}"
