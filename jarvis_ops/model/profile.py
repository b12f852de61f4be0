"""What tables and columns of a database hold conversations, and how a row says what a message says."""

from __future__ import annotations

from typing import Literal

import msgspec

# What a time column counts: an integer in seconds or milliseconds, microseconds of a real timestamp, or text.
Clock = Literal["number", "micros", "text"]
Ordering = tuple[Literal["time", "seq"], ...]


class Columns(msgspec.Struct, frozen=True, kw_only=True):
    """Names of columns of the table of records. A column that is not there, or named "", is done without."""

    key: str = "id"
    session: str = "session_id"
    time: str = "timestamp"
    seq: str = "seq"
    role: str = "role"
    content: str = "content"
    calls: str = "tool_calls"
    result: str = "tool_call_id"
    error: str = "is_error"
    turn: str = "turn_id"
    compacted_at: str = "compacted_at"
    compacted_by: str = "compacted_by"


class SessionColumns(msgspec.Struct, frozen=True, kw_only=True):
    """Names of columns of the table of conversations; only the key is needed."""

    key: str = "id"
    agent: str = "agent_id"
    parent: str = "parent_id"
    title: str = "title"
    state: str = "state"
    turn: str = "turn_id"
    turn_started_at: str = "turn_started_at"
    archived_at: str = "archived_at"
    created_at: str = "created_at"
    updated_at: str = "updated_at"


class Paths(msgspec.Struct, frozen=True, kw_only=True):
    """Where a column that holds the whole message as JSON keeps its parts: names with dots between.

    `id`, `arguments` and `name` are looked for inside each call.
    """

    role: str = "role"
    content: str = "content"
    calls: str = "tool_calls"
    result: str = "tool_call_id"
    id: str = "id"
    name: str = "name"
    arguments: str = "arguments"


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """The shape of a store in a database.

    `entries` is the table of records, `sessions` that of conversations ("" for none). `message` is the column with
    the whole message as JSON, read by `paths`; "" where columns hold its parts. `items` says that each row is one item
    of the OpenAI Responses form. `roles` translates what the store calls a role. `order` is what rows are read by.
    """

    name: str
    entries: str
    sessions: str = ""
    columns: Columns = Columns()
    session_columns: SessionColumns = SessionColumns()
    message: str = ""
    paths: Paths = Paths()
    items: bool = False
    roles: dict[str, str] = {}
    order: Ordering = ("time", "seq")
