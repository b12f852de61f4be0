"""Lists conversations with what a look at them tells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from jarvis_ops.dialects.jarvis import Jarvis
from jarvis_ops.dialects.registry import DIALECTS, SAMPLE, detect
from jarvis_ops.errors import UnreadableError
from jarvis_ops.model.conversation import Conversation
from jarvis_ops.model.kinds import kind_of, parent_in_id
from jarvis_ops.model.quantity import iso_text, iso_time
from jarvis_ops.model.report import Problem, SessionOutcome
from jarvis_ops.model.settings import Settings
from jarvis_ops.operations.recent import newest_time, record_fields
from jarvis_ops.stores.base import Chunk, Database, Measure, Snapshot, Store

# A conversation without a state of its own is active for so long after its last record (milliseconds).
ACTIVE = 300_000


def sessions(
    store: Store, chosen: Iterable[Conversation], settings: Settings, advance: Callable[[int], None]
) -> Iterator[SessionOutcome]:
    """One row a conversation, in the order given. One that cannot be read is a row too, with status failed."""
    measured = store.measured() if isinstance(store, Database) else None
    for conversation in chosen:
        if measured is None:
            row = describe(store, conversation, settings)
        else:
            row = described(store, conversation, settings, measured.get(conversation.id, Measure(0, 0, None)))
        advance(row.bytes)
        yield row


def describe(store: Store, conversation: Conversation, settings: Settings) -> SessionOutcome:
    """The row of one conversation."""
    row = _named(conversation, settings)
    try:
        metadata = _metadata(store, conversation)
        with store.open(conversation) as snapshot:
            last = _measure(row, snapshot, conversation, settings)
    except UnreadableError as error:
        row.status = "failed"
        row.state = "unreadable"
        row.errors = [Problem(error.code, error.message, conversation.id)]
        return row
    return _dated(row, metadata, last, settings)


def described(store: Store, conversation: Conversation, settings: Settings, measure: Measure) -> SessionOutcome:
    """The row of one conversation of a database, which has measured it."""
    row = _named(conversation, settings)
    row.records, row.bytes, row.parts = measure.records, measure.bytes, 1
    row.dialect = Jarvis.name
    return _dated(row, _metadata(store, conversation), measure.last, settings)


def _named(conversation: Conversation, settings: Settings) -> SessionOutcome:
    return SessionOutcome(
        conversation=conversation.id,
        session_id=conversation.session_id,
        parent=_parent(conversation),
        status="clean",
        kind=kind_of(conversation, settings.test_prefixes),
        parts=len(conversation.parts),
    )


def _dated(row: SessionOutcome, metadata: dict[str, Any], last: int | None, settings: Settings) -> SessionOutcome:
    row.last_record_at = iso_text(last)
    row.archived_at = _instant(metadata.get("archived_at"))
    row.state = _state(metadata, last, settings.now)
    return row


def _parent(conversation: Conversation) -> str | None:
    if conversation.parent is not None or conversation.layout == "projects":
        return conversation.parent
    return parent_in_id(conversation.id)


def _measure(row: SessionOutcome, snapshot: Snapshot, conversation: Conversation, settings: Settings) -> int | None:
    """Count what is there; the time of the last record (milliseconds since the epoch), None if there is none."""
    head: list[dict[str, Any]] = []
    for chunk in snapshot.chunks():
        row.records += sum(not line.isspace() for line in chunk.lines)
        row.bytes += sum(map(len, chunk.lines))
        if len(head) < SAMPLE:
            head += islice(_objects(chunk), SAMPLE - len(head))
    companions = conversation.metadata is not None or len(conversation.parts) > 1
    forced = DIALECTS.get(settings.dialect or "")
    dialect = forced or detect(head, layout=conversation.layout, companions=companions)
    row.dialect = dialect.name if dialect else None
    return newest_time(snapshot.newest_first(), conversation, settings)


def _objects(chunk: Chunk) -> Iterator[dict[str, Any]]:
    """The whole records of a chunk; lines that are broken say nothing of the dialect."""
    return (fields for fields in map(record_fields, chunk.lines) if fields is not None)


def _metadata(store: Store, conversation: Conversation) -> dict[str, Any]:
    """The metadata as an object; one that is missing or damaged says nothing here, verify-pairs names it."""
    if conversation.metadata is None:
        return {}
    try:
        return record_fields(store.companion(conversation.metadata)) or {}
    except UnreadableError:
        return {}


def _state(metadata: dict[str, Any], last: int | None, now: int) -> str:
    state = metadata.get("state")
    if isinstance(state, str) and state:
        return state
    return "active" if last is not None and now - last < ACTIVE else "idle"


def _instant(value: object) -> str | None:
    """An instant of the metadata, in milliseconds or as ISO 8601 text, as ISO 8601 text."""
    if isinstance(value, str):
        return iso_text(iso_time(value)) or value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return iso_text(int(value))
    return None


ORDERS: dict[str, Callable[[SessionOutcome], Any]] = {
    "id": lambda row: row.conversation or "",
    "bytes": lambda row: -row.bytes,
    "records": lambda row: -row.records,
}


def in_order(rows: list[SessionOutcome], order: str) -> list[SessionOutcome]:
    """The rows by id, or by last activity, bytes or records with the most first; those without a time come last."""
    if order == "last":
        return sorted(rows, key=lambda row: row.last_record_at or "", reverse=True)
    return sorted(rows, key=ORDERS[order])
