"""When a conversation was last added to: the time of its last record, never the time of its file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import orjson

from jarvis_ops.dialects.base import Dialect
from jarvis_ops.dialects.registry import DIALECTS
from jarvis_ops.model.conversation import Conversation
from jarvis_ops.model.record import Record
from jarvis_ops.model.settings import Settings
from jarvis_ops.stores.base import Database, Store

# Tells when a conversation was last added to.
LastTime = Callable[[Conversation], int | None]


def last_times(store: Store, settings: Settings) -> LastTime:
    """Who tells `last_time` of any conversation; a database is asked once for all."""
    if isinstance(store, Database):
        measured = store.measured()
        return lambda one: measured[one.id].last if one.id in measured else None
    return lambda one: last_time(store, one, settings)


def last_time(store: Store, conversation: Conversation, settings: Settings) -> int | None:
    """Milliseconds since the epoch of the newest record that has a time; None if none has. UnreadableError."""
    with store.open(conversation) as snapshot:
        return newest_time(snapshot.newest_first(), conversation, settings)


def newest_time(records: Iterable[Record], conversation: Conversation, settings: Settings) -> int | None:
    """The time of the first of `records`, newest first, that tells one; broken lines are passed over."""
    for record in records:
        fields = record_fields(record.raw)
        if fields is None:
            continue
        time = dialect_of(fields, conversation, settings).decode(fields).time
        if time is not None:
            return time
    return None


def record_fields(raw: bytes) -> dict[str, Any] | None:
    """The object that a line holds; None for a broken line and for any other value."""
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None


def dialect_of(fields: dict[str, Any], conversation: Conversation, settings: Settings) -> Dialect:
    """The dialect by which one record alone is read best."""
    if settings.dialect is not None:
        return DIALECTS[settings.dialect]
    usual = "claude_code" if conversation.layout == "projects" else "jarvis"
    return next((dialect for dialect in DIALECTS.values() if dialect.sniff(fields)), DIALECTS[usual])
