"""JARVIS's tables in the forms that its versions gave them, and rows in them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import psycopg
from psycopg.sql import SQL, Identifier, Placeholder


class Variant(NamedTuple):
    """A form of the tables. `later` are columns that came with newer versions; `indexed` says that session_id is."""

    time: str = "bigint"
    content: str = "jsonb"
    key: str = "text"
    seq: str = ""
    calls: bool = True
    later: bool = True
    sessions: bool = True
    indexed: bool = True


NEWEST = Variant()
# As in the oldest stores: calls and results lie inside the content.
OLDEST = Variant(time="timestamptz", key="uuid", calls=False, later=False)
NUMBERED = Variant(seq="bigserial")
VARIANTS = {
    "newest": NEWEST,
    "oldest": OLDEST,
    "text": Variant(content="text"),
    "numbered": NUMBERED,
}


def create(connection: psycopg.Connection[Any], variant: Variant = NEWEST) -> None:
    """Make the tables of STORES in a database that has none."""
    link = ""
    if variant.sessions:
        more = (
            ", title text, state text, turn_id text, turn_started_at timestamptz, archived_at timestamptz"
            ", updated_at timestamptz"
        )
        agent = "agent_id" if variant.later else "agent"
        connection.execute(
            f"CREATE TABLE jarvis_sessions (id text PRIMARY KEY, {agent} text, parent_id text, created_at timestamptz"
            f"{more if variant.later else ''})".encode()
        )
        link = " REFERENCES jarvis_sessions(id) ON DELETE CASCADE"
    columns = [
        f"id {variant.key} PRIMARY KEY",
        f"session_id text NOT NULL{link}",
        "role text NOT NULL",
        f"content {variant.content}",
        *(["tool_calls jsonb", "tool_call_id text"] if variant.calls else []),
        f'"timestamp" {variant.time} NOT NULL',
        *(["is_error boolean", "turn_id text", "model text", "usage jsonb"] if variant.later else []),
        *(["compacted_at timestamptz", "compacted_by text"] if variant.later else []),
        *([f"seq {variant.seq}"] if variant.seq else []),
    ]
    connection.execute(f"CREATE TABLE jarvis_entries ({', '.join(columns)})".encode())
    if variant.indexed:
        connection.execute("CREATE INDEX jarvis_entries_session_id_idx ON jarvis_entries (session_id)")


def add_sessions(connection: psycopg.Connection[Any], *ids: str) -> None:
    """Add conversations that are nothing but an id."""
    for name in ids:
        connection.execute("INSERT INTO jarvis_sessions (id) VALUES (%s) ON CONFLICT DO NOTHING", (name,))


def add_rows(
    connection: psycopg.Connection[Any], rows: Iterable[Mapping[str, Any]], table: str = "jarvis_entries"
) -> None:
    """Add rows, one statement each; a value that is a list or an object is stored as JSON."""
    for row in rows:
        connection.execute(*insertion(row, table))


def insertion(row: Mapping[str, Any], table: str = "jarvis_entries") -> tuple[Any, Sequence[Any]]:
    """The statement that adds a row, and its values."""
    statement = SQL("INSERT INTO {} ({}) VALUES ({})").format(
        Identifier(table),
        SQL(", ").join(map(Identifier, row)),
        SQL(", ").join(Placeholder() for _ in row),
    )
    return statement, [json.dumps(one) if isinstance(one, list | dict) else one for one in row.values()]
