"""Results that a conversation lacks and another record of it has: a second store's, or its parent's."""

from __future__ import annotations

from collections.abc import Collection

from jarvis_ops.model.conversation import Conversation
from jarvis_ops.model.settings import Settings
from jarvis_ops.operations.judge import dialect_of
from jarvis_ops.operations.reading import Reading
from jarvis_ops.rules.seams import strict
from jarvis_ops.stores.base import Store


def results_in(
    store: Store, conversation: Conversation, wanted: Collection[str], settings: Settings
) -> dict[str, bytes]:
    """The lines that hold the results of the wanted calls, by call id; one that a repair made up is none.

    UnreadableError or UnknownDialectError if the conversation cannot be read.
    """
    found: dict[str, bytes] = {}
    with store.open(conversation) as snapshot:
        dialect = dialect_of(snapshot, conversation, settings)
        for record, message in Reading(snapshot, dialect, settings.limits):
            for result in message.results:
                if result.id in wanted and not made_up(record.raw):
                    found.setdefault(str(result.id), record.raw)
    return found


def made_up(raw: bytes) -> bool:
    """Whether a record was put in by a repair."""
    if b"jarvis_ops" not in raw:
        return False
    value = strict(raw)
    mark = value.get("jarvis_ops") if isinstance(value, dict) else None
    return isinstance(mark, dict) and mark.get("synthetic") is True
