"""Conversations with one fault each, healed in a table; and the table before and after."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg

from jarvis_ops.model.report import HealOutcome
from jarvis_ops.model.settings import Settings
from jarvis_ops.operations.driver import Manner
from jarvis_ops.operations.heal import heal
from jarvis_ops.operations.mending import Wish
from jarvis_ops.operations.runs import run_id
from jarvis_ops.operations.undo import undo
from jarvis_ops.stores.base import WritableStore
from jarvis_ops.stores.postgres.profiles import JARVIS
from jarvis_ops.stores.postgres.writable import WritablePostgres
from tests.faults_jarvis import Fault
from tests.generate import NOW, JarvisWriter, Line, encode
from tests.postgres.loading import messages
from tests.postgres.tables import add_rows, add_sessions

# A time from which on nothing that these tests store is young.
SETTINGS = Settings(now=NOW, assume_idle=True)


def talk(seed: int, fault: Fault | None, name: str = "") -> list[Line]:
    """A conversation with a fault, if one is given; each message has an id that begins with `name`."""
    writer = JarvisWriter(random.Random(seed), marks=False).turns(3)
    if fault is not None:
        fault(writer)
        writer.turns(seed % 3)
    values = [{**value, "id": f"{name}{value['id']}"} for value in messages(line.raw for line in writer.lines)]
    return [Line(encode(value), value["role"] == "user" and "turn_id" in value) for value in values]


def healed(
    store: WritableStore, *names: str, apply: bool = True, lossy: bool = True, spread: bool = False
) -> list[HealOutcome]:
    """Heal conversations of a store, all when none is named."""
    inventory = store.inventory()
    chosen = [one for one in inventory.conversations if not names or one.id in names]
    wish = Wish(apply=apply, lossy=lossy, spread=spread, wait=0)
    return list(heal(store, inventory, chosen, SETTINGS, wish, run=run_id(NOW), advance=lambda _: None))


def taken_back(store: WritableStore, run: str) -> list[HealOutcome]:
    """Take a run back."""
    inventory = store.inventory()
    entries = [one for one in store.runs(inventory) if one.run == run]
    assert entries
    manner = Manner(run=run_id(NOW), apply=True)
    return list(undo(store, inventory, entries, manner, advance=lambda _: None))


@contextmanager
def opened(dsn: str) -> Iterator[WritablePostgres]:
    """A database as a store that can be changed."""
    store = WritablePostgres(dsn, JARVIS)
    try:
        yield store
    finally:
        store.transaction.close()


def table(connection: psycopg.Connection[Any]) -> list[str]:
    """All rows with all their columns, in reading order as far as there is one."""
    rows = [row[0] for row in connection.execute("SELECT to_jsonb(e)::text FROM jarvis_entries e")]
    return sorted(rows, key=lambda row: reading_order(json.loads(row)))


def reading_order(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """What a row is read by."""
    return row["session_id"], row["timestamp"], row.get("seq", 0), row["id"]


def in_order(connection: psycopg.Connection[Any], session: str) -> list[dict[str, Any]]:
    """The rows of a conversation in reading order."""
    return [row for row in map(json.loads, table(connection)) if row["session_id"] == session]


def add_talk(connection: psycopg.Connection[Any], session: str, rows: Sequence[dict[str, Any]]) -> None:
    """A conversation of rows, of which each has its place in time and number unless it says otherwise."""
    add_sessions(connection, session)
    add_rows(
        connection,
        ({"session_id": session, "content": json.dumps("said"), **row} for row in rows),
    )


def unanswered(session: str, start: int = 1_790_000_000_000, first: int = 1) -> list[dict[str, Any]]:
    """A call without a result, and a turn behind it; two rows to a millisecond."""
    call = [{"id": f"{session}-call", "name": "look", "arguments": {"what": 1.25}}]
    return [
        {"id": f"{session}1", "role": "user", "timestamp": start, "seq": first},
        {"id": f"{session}2", "role": "assistant", "tool_calls": call, "timestamp": start, "seq": first + 1},
        {"id": f"{session}3", "role": "user", "timestamp": start + 1, "seq": first + 2},
        {"id": f"{session}4", "role": "assistant", "timestamp": start + 1, "seq": first + 3},
    ]
