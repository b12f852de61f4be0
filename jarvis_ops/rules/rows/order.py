"""Rows about the order of records."""

from __future__ import annotations

from jarvis_ops.rules.rule import Rule

ORDER = "order"
NUMBERING = "playbooks/migrate-seq.md"

ROWS: tuple[Rule, ...] = (
    Rule(
        name="missing-seq",
        severity="error",
        group=ORDER,
        what="Rows of this store share timestamps and no column says which came first, so any read may give a "
        "conversation in another order and break its pairs.",
        repair="`migrate-seq` adds a column of numbers and fills it.",
        safety="asked",
        playbook=NUMBERING,
    ),
    Rule(
        name="order-tie",
        severity="warning",
        group=ORDER,
        what="Rows of one conversation have the same timestamp and nothing else orders them. It works as long as the "
        "database happens to return them in the right order; where a pair depends on that, this is an error.",
        repair="`migrate-seq` gives the rows numbers in the order in which they pair.",
        safety="asked",
        playbook=NUMBERING,
    ),
    Rule(
        name="order-conflict",
        severity="warning",
        group=ORDER,
        what="Two things that both order the records disagree, such as a number and a time, so two readers see two "
        "conversations; where a pair depends on it, this is an error.",
        repair="The numbers are given again by the pairs; times are not rewritten.",
        safety="asked",
    ),
    Rule(
        name="mixed-units",
        severity="error",
        group=ORDER,
        what="One time column holds seconds in some rows and milliseconds in others, so sorting by it is wrong by "
        "decades.",
        repair="The odd values are converted.",
        safety="asked",
    ),
)
