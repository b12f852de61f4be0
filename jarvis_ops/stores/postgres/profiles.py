"""The shapes of stores that are known by name."""

from __future__ import annotations

from jarvis_ops.model.profile import Columns, Paths, Profile, SessionColumns

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
