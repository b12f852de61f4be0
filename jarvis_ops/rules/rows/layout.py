"""Rows about how the files of a store lie: modes, links, folders, leftovers."""

from __future__ import annotations

from jarvis_ops.rules.rule import Rule

STORE = "store"

ROWS: tuple[Rule, ...] = (
    Rule(
        name="foreign-record",
        severity="warning",
        group=STORE,
        what="A record of another session lies in this file. It is judged with its own session; here it may be shown "
        "or counted where it does not belong.",
        repair="The record moves to the file of its own session.",
        safety="asked",
    ),
    Rule(
        name="file-mode",
        severity="info",
        group=STORE,
        what="Other users of this machine can read or write the conversation. It is a warning where the files beside "
        "it are private, since then this one is the exception.",
        repair="The mode is set to 0600, that of a sealed segment to 0400.",
        safety="asked",
    ),
    Rule(
        name="dangling-link",
        severity="info",
        group=STORE,
        what="A symbolic link points to nothing, so what it stood for is not there or not mounted.",
    ),
    Rule(
        name="project-dir-collision",
        severity="warning",
        group=STORE,
        what="Two working directories are encoded to the same folder name, so sessions of two projects lie mixed in "
        "one folder, and are listed and deleted together.",
    ),
    Rule(
        name="leftover-file",
        severity="info",
        group=STORE,
        what="A temporary file, a backup or the like was left behind by a program that did not finish; nobody reads "
        "it.",
    ),
    Rule(
        name="retention-risk",
        severity="warning",
        group=STORE,
        what="The agent's own settings tell it to delete conversations of this age; they will be gone unless that is "
        "changed or they are archived first.",
    ),
)
