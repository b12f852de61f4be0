"""Which conversations of a store a command looks at."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from jarvis_ops.dialects.registry import DIALECTS
from jarvis_ops.errors import UnknownConversationError, UnreadableError
from jarvis_ops.model.conversation import Conversation, Inventory
from jarvis_ops.model.kinds import kind_of
from jarvis_ops.model.message import Message
from jarvis_ops.model.settings import Settings
from jarvis_ops.operations.recent import LastTime, last_times, record_fields
from jarvis_ops.stores.base import Database, Store
from jarvis_ops.stores.find import resolve


class Selection(NamedTuple):
    """What was asked for; all that is given must hold. Instants are milliseconds since the epoch.

    `ids` are whole ids or unique tails, None for any. `since` and `idle_since` bound the time of the last record.
    A conversation that holds one of `call_ids` or `record_ids` is meant.
    """

    ids: tuple[str, ...] | None = None
    only: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    since: int | None = None
    idle_since: int | None = None
    call_ids: tuple[str, ...] = ()
    record_ids: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether this is the whole store."""
        return self == Selection()


def select(store: Store, inventory: Inventory, selection: Selection, settings: Settings) -> list[Conversation]:
    """The conversations meant, in the order of the inventory.

    One that cannot be read is kept where only its content could tell, so that its trouble is reported.
    UnknownConversationError for an id, a call or a record that is nowhere.
    """
    chosen = _named(inventory, selection.ids)
    if selection.only:
        chosen = [one for one in chosen if any(fnmatchcase(one.id, pattern) for pattern in selection.only)]
    if selection.kinds:
        chosen = [one for one in chosen if kind_of(one, settings.test_prefixes) in selection.kinds]
    if selection.since is not None or selection.idle_since is not None:
        last = last_times(store, settings)
        chosen = [one for one in chosen if _in_time(last, one, selection)]
    if selection.call_ids or selection.record_ids:
        chosen = _holding(store, chosen, selection)
    return chosen


def _named(inventory: Inventory, wanted: tuple[str, ...] | None) -> list[Conversation]:
    if wanted is None:
        return list(inventory.conversations)
    ids = {one.id for one in inventory.conversations}
    names = {name if name in ids else resolve(inventory, name).id for name in wanted}
    return [one for one in inventory.conversations if one.id in names]


def _in_time(last: LastTime, conversation: Conversation, selection: Selection) -> bool:
    try:
        time = last(conversation)
    except UnreadableError:
        return True
    if time is None:
        return False
    since, idle_since = selection.since, selection.idle_since
    return (since is None or time >= since) and (idle_since is None or time <= idle_since)


def _holding(store: Store, chosen: list[Conversation], selection: Selection) -> list[Conversation]:
    """Those that hold a wanted call or record; every wanted id must be somewhere."""
    wanted = {*selection.call_ids, *selection.record_ids}
    seen: set[str] = set()
    kept, unread = [], 0
    if isinstance(store, Database):
        near = store.holding([*selection.call_ids, *selection.record_ids])
        chosen = [one for one in chosen if one.id in near]
    for conversation in chosen:
        try:
            held = _held(store, conversation, selection)
        except UnreadableError:
            unread += 1
            held = set()
            kept.append(conversation)
        if held:
            seen |= held
            kept.append(conversation)
    if not unread and wanted - seen:
        raise UnknownConversationError(f"no conversation holds {', '.join(sorted(wanted - seen))}")
    return kept


def _held(store: Store, conversation: Conversation, selection: Selection) -> set[str]:
    """The wanted ids that a conversation holds: looked for in the raw bytes first, then in the record."""
    needles = {needle for name in (*selection.call_ids, *selection.record_ids) for needle in _spellings(name)}
    held: set[str] = set()
    with store.open(conversation) as snapshot:
        for chunk in snapshot.chunks():
            for line in chunk.lines:
                if any(needle in line for needle in needles):
                    held |= _confirmed(line, selection)
    return held


def _spellings(name: str) -> Iterator[bytes]:
    """The id as JSON writers spell it: plain, in ASCII, and with escaped slashes."""
    ascii_form = json.dumps(name)
    yield ascii_form.encode()
    yield json.dumps(name, ensure_ascii=False).encode("utf-8", "surrogateescape")
    yield ascii_form.replace("/", "\\/").encode()


def _confirmed(line: bytes, selection: Selection) -> set[str]:
    """The wanted ids that the line truly uses as such. In a broken line the spelling has to do."""
    fields = record_fields(line)
    if fields is None:
        wanted = {*selection.call_ids, *selection.record_ids}
        return {name for name in wanted if any(spelling in line for spelling in _spellings(name))}
    messages = _readings(fields)
    calls = {call.id for message in messages for call in message.calls}
    calls |= {result.id for message in messages for result in message.results}
    records = {message.id for message in messages}
    held = (calls & {*selection.call_ids}) | (records & {*selection.record_ids})
    return {name for name in held if name is not None}


def _readings(fields: dict[str, Any]) -> list[Message]:
    """The record as each dialect reads it: an id that any of them sees is one."""
    return [dialect.decode(fields) for dialect in DIALECTS.values()]


def ids_in(lines: Iterable[bytes]) -> tuple[str, ...]:
    """One id a line; blank lines say nothing. Bytes that are not UTF-8 stay as file names hold them."""
    names = (line.strip(b"\r\n").decode("utf-8", "surrogateescape") for line in lines)
    return tuple(name for name in names if name.strip())
