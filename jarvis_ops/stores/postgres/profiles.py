"""The shapes of stores that are known by name."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

import msgspec

from jarvis_ops.errors import ConfigurationError
from jarvis_ops.model.profile import Columns, Ordering, Paths, Profile, SessionColumns

JARVIS = Profile(name="jarvis", entries="jarvis_entries", sessions="jarvis_sessions")
LANGCHAIN = Profile(
    name="langchain",
    entries="chat_history",
    columns=Columns(time="created_at", seq="id", compacted_at="", compacted_by=""),
    message="message",
    paths=Paths(
        role="type", content="data.content", calls="data.tool_calls", result="data.tool_call_id", arguments="args"
    ),
    roles={"human": "user", "ai": "assistant", "function": "tool"},
    order=("seq",),
)
OPENAI_AGENTS = Profile(
    name="openai-agents",
    entries="agent_messages",
    sessions="agent_sessions",
    columns=Columns(time="created_at", seq="id", compacted_at="", compacted_by=""),
    session_columns=SessionColumns(key="session_id"),
    message="message_data",
    items=True,
)
PROFILES = {profile.name: profile for profile in (JARVIS, LANGCHAIN, OPENAI_AGENTS)}


def made_of(table: Mapping[str, Any]) -> Profile:
    """The profile that a table of the configuration describes: a known one (`profile`), with what differs in it.

    ConfigurationError for a key that is not known, or a value of the wrong kind.
    """
    name = table.get("profile", JARVIS.name)
    if name not in PROFILES:
        raise ConfigurationError(f"profile {name!r} is not known; the known ones are {', '.join(PROFILES)}")
    changes = {key.replace("-", "_"): value for key, value in table.items() if key != "profile"}
    profile = PROFILES[name]
    for key, value in changes.items():
        check_name(key, [field for field in Profile.__struct_fields__ if field not in {"name", "items"}])
        present = getattr(profile, key)
        if isinstance(present, msgspec.Struct):
            changes[key] = with_names(present, key, value)
        elif key == "order":
            changes[key] = order_of(value)
        elif type(value) is not type(present):
            raise ConfigurationError(
                f"{key}: {'a table' if isinstance(present, dict) else 'a text in quotes'} is wanted"
            )
    return msgspec.structs.replace(profile, **changes)


def with_names(present: msgspec.Struct, key: str, value: Any) -> msgspec.Struct:
    """A table of names with some of them changed."""
    if not isinstance(value, dict) or not all(isinstance(name, str) for name in value.values()):
        raise ConfigurationError(f"{key}: a table of texts in quotes is wanted")
    for name in value:
        check_name(name, present.__struct_fields__)
    return msgspec.structs.replace(present, **value)


def order_of(value: Any) -> Ordering:
    """What rows are read by."""
    orders = {"time": ("time",), "seq": ("seq",), "time, seq": ("time", "seq")}
    words = ", ".join(value) if isinstance(value, list) and all(isinstance(one, str) for one in value) else ""
    if words not in orders:
        raise ConfigurationError('order: ["time"], ["seq"] or ["time", "seq"] is wanted')
    return orders[words]  # type: ignore[return-value]


def check_name(name: str, known: Any) -> None:
    """ConfigurationError, with the nearest name, for one that is not known."""
    if name not in known:
        near = get_close_matches(name, known, n=1, cutoff=0.0)
        raise ConfigurationError(f"the key {name!r} is not known; the nearest is {near[0]!r}")
