"""Which dialects there are, and which one a conversation is written in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jarvis_ops.dialects.base import Dialect
from jarvis_ops.dialects.claude_code import ClaudeCode
from jarvis_ops.dialects.jarvis import Jarvis

# In the order in which they are asked: the more particular form first. Further agents' stores are added here.
DIALECTS: dict[str, Dialect] = {dialect.name: dialect for dialect in (ClaudeCode(), Jarvis())}
# How many whole records are looked at before a file counts as unknown.
SAMPLE = 20


def detect(records: Sequence[Mapping[str, Any]], *, layout: str, companions: bool) -> Dialect | None:
    """The dialect of the first records of a conversation; None when they are of no known form.

    A file in which nothing can be read, or whose records say nothing, is taken for what its place makes
    it: `layout` "projects" is Claude Code's, metadata or segments beside it (`companions`) are JARVIS's.
    """
    for dialect in DIALECTS.values():
        if any(dialect.sniff(record) for record in records):
            return dialect
    if layout == "projects":
        return DIALECTS["claude_code"]
    if companions or not records:
        return DIALECTS["jarvis"]
    return None
