"""Rows about databases."""

from __future__ import annotations

from jarvis_ops.rules.rule import Rule

SQL = "sql"
NUMBERING = "playbooks/migrate-seq.md"

ROWS: tuple[Rule, ...] = (
    Rule(
        name="seq-null",
        severity="warning",
        group=SQL,
        what="Rows have no number in the order column, so their place in the conversation is open.",
        repair="`migrate-seq` fills the numbers in.",
        safety="asked",
        playbook=NUMBERING,
    ),
    Rule(
        name="sequence-behind",
        severity="error",
        group=SQL,
        what="The sequence that gives out numbers stands below numbers in use, as after a restore. The next row gets "
        "a number that is taken, and the write fails or lands in the wrong place.",
        repair="`migrate-seq` sets the sequence behind the highest number.",
        safety="asked",
        playbook=NUMBERING,
    ),
    Rule(
        name="sequence-not-owned",
        severity="warning",
        group=SQL,
        what="The sequence does not belong to its column, so a dump of the table leaves it out.",
        repair="`migrate-seq` ties the sequence to the column.",
        safety="asked",
        playbook=NUMBERING,
    ),
    Rule(
        name="invalid-index",
        severity="error",
        group=SQL,
        what="An index was not built to its end. The database keeps it up but never reads it, and it guarantees "
        "nothing.",
    ),
    Rule(
        name="missing-column",
        severity="error",
        group=SQL,
        what="A column is missing that the version of the schema promises, so the agent's next statement fails.",
    ),
    Rule(
        name="schema-version-behind",
        severity="error",
        group=SQL,
        what="The schema says that it is older than the agent that uses it; a migration did not run, or not to its "
        "end.",
    ),
    Rule(
        name="search-index-stale",
        severity="error",
        group=SQL,
        what="The full-text index is out of step with the rows, so searches miss messages or name ones that are gone.",
        repair="The index is built again from the rows.",
        safety="safe",
    ),
    Rule(
        name="database-damaged",
        severity="error",
        group=SQL,
        what="The database fails its own integrity check: pages are broken and reads can fail or lie.",
        repair="What can be read is recovered into a new file.",
        safety="asked",
    ),
    Rule(
        name="wal-pending",
        severity="info",
        group=SQL,
        what="The newest rows are still in the write-ahead log beside the database; a copy of the main file alone "
        "would lack them.",
    ),
    Rule(
        name="orphan-row",
        severity="warning",
        group=SQL,
        what="A row belongs to a conversation or a state that is not there any more; nothing reads it.",
    ),
)
