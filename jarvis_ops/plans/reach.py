"""What a change does to a conversation beyond its own place: what is reached, and which thinking it unbinds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jarvis_ops.plans.base import Pages
from jarvis_ops.rules.chain import Chain
from jarvis_ops.rules.seams import parse
from jarvis_ops.rules.tree import MESSAGE, Tree

SIGNED = (b'"signature"', b"redacted_thinking")


def reachable(tree: Tree, chain: Chain) -> int:
    """How many messages the last leaf leads to, compacted ones and those sent beside the chain included."""
    return sum(
        1
        for number, flags in enumerate(tree.flags)
        if flags & MESSAGE and (chain.reached[number] or number in chain.rescued)
    )


def signed_thinking_after(pages: Pages, file: str, offset: int) -> int:
    """How many signed thinking blocks stand in the line at a place, or behind it.

    The provider has signed each together with what stands before it, so a change there unbinds them (ANT-19).
    """
    start = pages.line(file, offset).offset if offset < pages.size(file) else offset
    return sum(signed_thinking(record.raw) for record in pages.forward(file, start))


def last_signed_thinking(pages: Pages, file: str) -> int:
    """The offset of the last line of a part that holds signed thinking; -1 if none does."""
    for record in pages.backward(file, pages.size(file)):
        if record.file != file:
            break
        if signed_thinking(record.raw):
            return record.offset
    return -1


def signed_thinking(raw: bytes) -> int:
    """How many signed thinking blocks a line holds."""
    if not any(mark in raw for mark in SIGNED):
        return 0
    value = parse(raw)
    return sum(1 for block in blocks(value) if is_signed(block)) if value is not None else 0


def blocks(record: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The blocks of a record's content, also where it is kept inside a message."""
    inner = record.get("message")
    for holder in (record, inner if isinstance(inner, dict) else {}):
        content = holder.get("content")
        if isinstance(content, list):
            yield from (block for block in content if isinstance(block, dict))


def is_signed(block: Mapping[str, Any]) -> bool:
    """Whether a block is thinking that the provider has bound to what stands before it."""
    kind = block.get("type")
    return kind == "redacted_thinking" or (kind == "thinking" and bool(block.get("signature")))
