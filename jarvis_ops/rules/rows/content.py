"""Rows about what is inside messages, and about growth: what a provider refuses, and what only takes room."""

from __future__ import annotations

from jarvis_ops.rules.rule import Rule

CONTENT = "content"
GROWTH = "growth"

ROWS: tuple[Rule, ...] = (
    Rule(
        name="empty-text",
        severity="warning",
        group=CONTENT,
        what="A message holds a text block without any text. Some providers refuse the whole request for it.",
        repair="The empty block is taken out; a record with nothing left in it is set aside.",
        safety="lossy",
        provider_rules=("ANT-9", "GEM-7"),
    ),
    Rule(
        name="blank-text",
        severity="warning",
        group=CONTENT,
        what="All the text of a message is blanks. Some providers refuse a message that has nothing else in it.",
        repair="The blank block is taken out; a record with nothing left in it is set aside.",
        safety="lossy",
        provider_rules=("ANT-10", "BED-6"),
    ),
    Rule(
        name="hollow-thinking",
        severity="info",
        group=CONTENT,
        what="A thinking block has its signature but no text. The provider takes it as complete.",
        repair="The block is stripped.",
        safety="asked",
        provider_rules=("ANT-16",),
    ),
    Rule(
        name="unsigned-thinking",
        severity="warning",
        group=CONTENT,
        what="A thinking block has no signature, so the provider that signs its thinking refuses the message.",
        repair="The block is stripped.",
        safety="asked",
        provider_rules=("ANT-16", "BED-12"),
    ),
    Rule(
        name="orphan-reasoning",
        severity="error",
        group=CONTENT,
        what="A reasoning item stands without the item that it was made with; the provider refuses one without the "
        "other.",
        repair="The reasoning item is set aside.",
        safety="lossy",
        provider_rules=("RSP-3",),
    ),
    Rule(
        name="reasoning-after-item",
        severity="error",
        group=CONTENT,
        what="A reasoning item was written behind the item that it belongs before, so the provider misses it there.",
        repair="The two change places; their times stay.",
        safety="safe",
        provider_rules=("RSP-3", "RSP-4"),
    ),
    Rule(
        name="image-too-large",
        severity="warning",
        group=CONTENT,
        what="An image is over the limit of bytes or pixels, and each request that carries it is refused.",
        repair="A line of text with its size and hash takes its place, and the image is kept aside.",
        safety="lossy",
        provider_rules=("ANT-23", "BED-11"),
    ),
    Rule(
        name="same-role-twice",
        severity="warning",
        group=CONTENT,
        what="Two messages of one role follow each other. Many providers join them; a provider that wants strict "
        "turns refuses the request.",
        provider_rules=("BED-4", "GEM-10", "MIS-1"),
    ),
    Rule(
        name="inline-blob",
        severity="info",
        group=GROWTH,
        what="A record carries a large piece of encoded data in its own text, which is read again at every load.",
        repair="The data moves to a file beside the log.",
        safety="asked",
    ),
    Rule(
        name="inline-list",
        severity="info",
        group=GROWTH,
        what="Records repeat a long list in full each time, and the log grows by it with every turn.",
        repair="The repeats are cut out.",
        safety="asked",
    ),
    Rule(
        name="growth",
        severity="info",
        group=GROWTH,
        what="The store keeps far more bytes than its conversations need, such as old states that nothing reads.",
        repair="What nothing reads any more is taken out.",
        safety="asked",
    ),
    Rule(
        name="repeated-history",
        severity="warning",
        group=GROWTH,
        what="A whole stretch of the conversation was written a second time with other ids or times, as some agents "
        "do when they resume. The model gets it twice and the context fills up.",
        repair="The second copy is set aside.",
        safety="asked",
    ),
    Rule(
        name="compaction-loop",
        severity="warning",
        group=GROWTH,
        what="The conversation was compacted three times in a row, from the same record on and without a new prompt "
        "in between: compacting no longer makes it fit.",
        repair="The compactions that changed nothing are set aside.",
        safety="asked",
    ),
)
