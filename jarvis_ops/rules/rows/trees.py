"""Rows about parent chains and about the files that accompany a conversation."""

from __future__ import annotations

from jarvis_ops.rules.rule import Rule

TREES = "trees"
COMPANIONS = "companions"

ROWS: tuple[Rule, ...] = (
    Rule(
        name="dangling-parent",
        severity="error",
        group=TREES,
        what="A record names a parent that does not exist, so the walk back from the end stops there and everything "
        "older is missing from what the model gets.",
        repair="The record is linked to the one just before it, if that is of the same session and chain and has no "
        "other child.",
        safety="asked",
    ),
    Rule(
        name="parent-cycle",
        severity="error",
        group=TREES,
        what="Records name each other as parents in a circle. A reader that walks back from the end never arrives, or "
        "stops short of the beginning.",
        repair="The record of the circle whose parent comes later in the file is linked to the one just before it, if "
        "that is of the same session and chain and has no other child.",
        safety="asked",
    ),
    Rule(
        name="extra-root",
        severity="warning",
        group=TREES,
        what="A second record begins a chain of its own where the agent had no reason to start one, and what came "
        "before it is cut off from the replay.",
        repair="The root is linked to the record just before it, where only one can be meant.",
        safety="asked",
    ),
    Rule(
        name="unreachable-record",
        severity="warning",
        group=TREES,
        what="A message is on no path from the end of the conversation, and no branch that the user made explains it. "
        "The agent will not show or send it.",
    ),
    Rule(
        name="meta-missing",
        severity="warning",
        group=COMPANIONS,
        what="The metadata file that belongs to this conversation is not there; title, times or owner are unknown.",
    ),
    Rule(
        name="meta-invalid",
        severity="warning",
        group=COMPANIONS,
        what="The metadata file of this conversation cannot be read as what it should be. Where the agent needs it to "
        "open the conversation, this is an error.",
    ),
    Rule(
        name="count-drift",
        severity="warning",
        group=COMPANIONS,
        what="A count that the metadata keeps is not what counting gives; lists and limits that rely on it are wrong.",
        repair="The count is set from the records.",
        safety="safe",
    ),
    Rule(
        name="index-stale",
        severity="warning",
        group=COMPANIONS,
        what="The index of the store lacks a conversation that is there, keeps old counts, or names one that is gone, "
        "so the agent's list differs from what is on disk.",
        repair="Entries whose transcript is gone leave the index. All else stays, since what the agent wants to find "
        "in an entry is not known.",
        safety="asked",
    ),
    Rule(
        name="stale-running",
        severity="warning",
        group=COMPANIONS,
        what="The conversation is marked as running, but no living process owns the mark. The agent may refuse to "
        "open it.",
    ),
    Rule(
        name="stale-lock",
        severity="warning",
        group=COMPANIONS,
        what="A lock file lies here whose owner no longer lives. The agent may wait for it or refuse to open the "
        "conversation.",
    ),
    Rule(
        name="orphan-file",
        severity="warning",
        group=COMPANIONS,
        what="A file belongs to a conversation that is not there, or lies where the agent does not look; it will "
        "never be read.",
    ),
    Rule(
        name="shadowed-file",
        severity="warning",
        group=COMPANIONS,
        what="Another file stands for the same conversation and the agent reads that one; what is in this file is "
        "never seen.",
    ),
    Rule(
        name="unreadable",
        severity="error",
        group=COMPANIONS,
        what="A part of the conversation could not be read: no permission, an I/O error, an unknown encoding, or not "
        "a plain file. Nothing is said about what it may hold.",
    ),
)
