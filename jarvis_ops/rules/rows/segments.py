"""Rows about the parts of a conversation and about compaction."""

from __future__ import annotations

from jarvis_ops.rules.rule import Rule

SEGMENTS = "segments"
COMPACTION = "compaction"

ROWS: tuple[Rule, ...] = (
    Rule(
        name="segment-gap",
        severity="error",
        group=SEGMENTS,
        what="A sealed segment is missing between others, so the full record cannot be read. Nothing that needs it is "
        "judged or changed.",
    ),
    Rule(
        name="segment-changed",
        severity="error",
        group=SEGMENTS,
        what="A sealed segment is no longer what it was when it was sealed: its length or hash differs from the one "
        "that was written down.",
    ),
    Rule(
        name="late-lines",
        severity="warning",
        group=SEGMENTS,
        what="A sealed segment has grown: all that was sealed is unchanged, and whole lines were added behind it by a "
        "writer that still had the file open.",
    ),
    Rule(
        name="segment-marker-missing",
        severity="warning",
        group=SEGMENTS,
        what="The file behind a sealed segment does not begin with the marker that names it, so nothing proves that "
        "the segment is whole.",
    ),
    Rule(
        name="live-missing",
        severity="warning",
        group=SEGMENTS,
        what="There are sealed segments but no live file, as a crash between sealing and starting the next file "
        "leaves them. The agent may think that the conversation is new.",
    ),
    Rule(
        name="turn-split",
        severity="warning",
        group=SEGMENTS,
        what="One turn begins in one file and ends in the next. A reader that opens only the live file gets half of "
        "it.",
    ),
    Rule(
        name="segment-due",
        severity="info",
        group=SEGMENTS,
        what="The live file has outgrown the limit at which it is usually sealed; `seal-segments` moves it into a "
        "segment.",
    ),
    Rule(
        name="compaction-dangling",
        severity="error",
        group=COMPACTION,
        what="Messages are marked as compacted by a summary that is not there, or a compaction names messages that "
        "are not there. Either way a part of the conversation is out of the replay and nothing stands for it.",
    ),
    Rule(
        name="segmented-thread",
        severity="info",
        group="history",
        what="One thread lies in several files, as the agent continued it in a new one. They are read as one.",
    ),
)
