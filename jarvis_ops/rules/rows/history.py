"""Rows about records that are gone, and about conversations that are there only in part."""

from __future__ import annotations

from jarvis_ops.rules.rule import Rule

HISTORY = "history"
WHOLE_FILES = "whole files"

ROWS: tuple[Rule, ...] = (
    Rule(
        name="id-gap",
        severity="warning",
        group=HISTORY,
        what="Numbers are missing in the middle of a run of record ids: rows that once stood there are gone. They may "
        "be in another part or in the archive.",
    ),
    Rule(
        name="starts-compacted",
        severity="warning",
        group=HISTORY,
        what="The record begins with a summary, and the messages that it sums up are not here. They may be in another "
        "part or in the archive.",
    ),
    Rule(
        name="content-vanished",
        severity="error",
        group=HISTORY,
        what="The file is there and looks healthy, but the messages that it once had are not in it any more, as "
        "another copy or count of the same conversation shows.",
    ),
    Rule(
        name="not-in-other",
        severity="info",
        group=HISTORY,
        what="Messages of this conversation, or all of it, are not in the store that it is compared with. An archive "
        "or a copy may simply be older.",
    ),
    Rule(
        name="differs-from-other",
        severity="warning",
        group=HISTORY,
        what="A message has the same id here and in the store that it is compared with, but says something else. One "
        "of the two may have been mended since, or damaged.",
    ),
    Rule(
        name="missing-row",
        severity="error",
        group=HISTORY,
        what="A row that other rows or a counter name is not in the table, so that part of the conversation is lost "
        "from there.",
    ),
    Rule(
        name="not-in-db",
        severity="warning",
        group=HISTORY,
        what="This conversation is in a file, but not in the database that the agent reads now, so it does not show "
        "up.",
    ),
    Rule(
        name="not-migrated",
        severity="warning",
        group=HISTORY,
        what="The agent has moved to another place for its conversations and this one was left behind; the file is no "
        "longer read.",
    ),
    Rule(
        name="migration-mismatch",
        severity="error",
        group=HISTORY,
        what="What a migration wrote differs from what it was made from: records are missing, doubled or changed.",
    ),
    Rule(
        name="missing-transcript",
        severity="error",
        group=WHOLE_FILES,
        what="The transcript of a session is gone while its sub-agents' transcripts are still there. The conversation "
        "cannot be opened, and they are all that is left of it.",
    ),
    Rule(
        name="metadata-only",
        severity="error",
        group=WHOLE_FILES,
        what="The transcript holds no message any more, only notes such as a title, while its sub-agents' transcripts "
        "are still there.",
    ),
    Rule(
        name="deleted-session-traces",
        severity="info",
        group=WHOLE_FILES,
        what="Prompts or saved tool outputs of a session are left whose transcript was deleted.",
    ),
    Rule(
        name="unfinished-run",
        severity="warning",
        group=WHOLE_FILES,
        what="A command that was changing this conversation was stopped before it ended; its journal is still open.",
        repair="`recover` finishes the run or takes it back.",
        safety="safe",
    ),
    Rule(
        name="unknown-dialect",
        severity="warning",
        group=WHOLE_FILES,
        what="The records are of no form that is known, so the file was neither judged nor touched. `--dialect` says "
        "how to read it when you know.",
    ),
)
