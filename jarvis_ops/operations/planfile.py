"""A plan as a file: saved to be looked at, and read again to be carried out as it stands."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import msgspec

from jarvis_ops.errors import StaleError, UsageError
from jarvis_ops.model.conversation import Inventory
from jarvis_ops.model.pieces import PieceTable, Span, removed
from jarvis_ops.model.plan import PLAN, Change
from jarvis_ops.operations.reviewed import table_of

# What a person wants to see of a change comes first.
ORDER = ("conversation", "steps", "moved", "added", "removed")


def encoded(store: str, changes: Iterable[Change]) -> bytes:
    """The content of a plan file. Names that are not UTF-8 stay as they are, since JSON text may hold them escaped."""
    document = {"schema": PLAN, "store": store, "plans": [_entry(change) for change in changes]}
    return (json.dumps(document, indent=1) + "\n").encode()


def _entry(change: Change) -> dict[str, Any]:
    fields = {**msgspec.to_builtins(change), "conversation": change.conversation.id}
    return {**{name: fields[name] for name in ORDER}, **fields}


def is_plan(head: bytes) -> bool:
    """Whether a file that begins so is a plan, of whatever version; an empty one may become one."""
    return not head.strip() or b'"jarvis-ops-plan/' in head


def read(data: bytes, inventory: Inventory) -> list[Change]:
    """The changes that a plan file holds.

    UsageError if it is no such file, or names what is no part of a conversation; StaleError if a conversation is gone.
    """
    try:
        document = json.loads(data)
        if document["schema"] != PLAN:
            raise UsageError(f"it is a plan of the form {document['schema']!r}, and this version reads {PLAN}")
        changes = [_change(entry, inventory) for entry in document["plans"]]
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise UsageError("it is no plan that --plan-out has saved") from error
    names = [change.conversation.id for change in changes]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"it plans {twice!r} twice")
    return changes


def _change(entry: dict[str, Any], inventory: Inventory) -> Change:
    name = entry["conversation"]
    conversation = next((one for one in inventory.conversations if one.id == name), None)
    if conversation is None:
        raise StaleError(f"the plan is for {name!r}, which is not in this store; make a new plan")
    own = {"command": "heal", "undoes": None, "conversation": msgspec.to_builtins(conversation)}
    change = msgspec.convert({**entry, **own}, Change)
    _check(change)
    return change


def _check(change: Change) -> None:
    """UsageError unless all that the plan names is the conversation's own, and every byte is kept or set aside."""
    sizes = {part.file: part.bytes for part in change.fingerprint}
    spans = [aside.span for aside in change.asides]
    tables = {file: PieceTable.whole(file, size) for file, size in sizes.items()}
    for content in change.contents:
        spans += [Span(one.file, one.offset, one.offset + one.length) for one in content.pieces if one.base64 is None]
        tables[content.file] = table_of(content)
    named = {*sizes, *tables, *(span.file for span in spans), *(mode.file for mode in change.modes)}
    own = {part.file for part in change.conversation.parts}
    if change.conversation.layout == "rows":
        own = {change.conversation.id}  # all rows are one part, which has its name
    if named - own or {*tables} - {*sizes}:
        raise UsageError(f"its plan for {change.conversation.id!r} names files that are no part of it")
    if any(not 0 <= span.start <= span.end <= sizes.get(span.file, -1) for span in spans):
        raise UsageError(f"its plan for {change.conversation.id!r} names bytes that no file has")
    if any(mode.new & ~mode.old for mode in change.modes):
        raise UsageError(f"its plan for {change.conversation.id!r} would let others read it")
    if removed({**tables, "": PieceTable(spans)}, sizes):
        raise UsageError(f"its plan for {change.conversation.id!r} would lose bytes that it does not set aside")
