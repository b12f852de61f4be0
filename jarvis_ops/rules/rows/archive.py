"""Rows about archives, clean-up and exports."""

from __future__ import annotations

from jarvis_ops.rules.rule import Rule

ARCHIVE = "archive"
CLEANUP = "clean-up"
EXPORT = "export"

ROWS: tuple[Rule, ...] = (
    Rule(
        name="archive-stray",
        severity="warning",
        group=ARCHIVE,
        what="The archive holds a file that its manifest does not name, so a restore would leave it out.",
    ),
    Rule(
        name="archive-missing",
        severity="error",
        group=ARCHIVE,
        what="The manifest names a file that is not in the archive, so that part cannot be restored.",
    ),
    Rule(
        name="archive-changed",
        severity="error",
        group=ARCHIVE,
        what="The hash of an archived file is not the one that its manifest gives: it was changed or it rotted.",
    ),
    Rule(
        name="source-shrank",
        severity="warning",
        group=ARCHIVE,
        what="The conversation has less in it than the archive already holds. The archive keeps what it has.",
    ),
    Rule(
        name="source-gone",
        severity="warning",
        group=ARCHIVE,
        what="An archived conversation is no longer in the store. The archive keeps it.",
    ),
    Rule(
        name="attachment-missing",
        severity="error",
        group=ARCHIVE,
        what="A record names a file, such as a saved tool output, that is gone; the agent or the archive can no "
        "longer give it back.",
    ),
    Rule(
        name="test-session",
        severity="info",
        group=CLEANUP,
        what="By its name or its marks this is the trace of a test run, which clean-up may delete.",
    ),
    Rule(
        name="test-session-needs-confirmation",
        severity="info",
        group=CLEANUP,
        what="This looks like the trace of a test run, but something speaks against it; clean-up keeps it unless it "
        "is named.",
    ),
    Rule(
        name="secret",
        severity="info",
        group=EXPORT,
        what="A text looks like a password, key or token, and would leave with the export.",
    ),
    Rule(
        name="name-collision",
        severity="warning",
        group=EXPORT,
        what="Two conversations would be exported under one file name, so one of them gets another name.",
    ),
)
