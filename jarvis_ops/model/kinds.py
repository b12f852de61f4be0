"""What a conversation is, told by its id."""

from __future__ import annotations

from collections.abc import Sequence

from jarvis_ops.model.conversation import Conversation, Kind

AGENT = "agent_"
TASK = "task_"


def kind_of(conversation: Conversation, test_prefixes: Sequence[str]) -> Kind:
    """The kind of a conversation of any layout."""
    if conversation.layout == "projects":
        return "subagent" if conversation.parent is not None or "/subagents/" in conversation.id else "user"
    kind = kind_of_id(conversation.id, test_prefixes)
    return "subagent" if kind == "user" and conversation.parent is not None else kind


def kind_of_id(conversation_id: str, test_prefixes: Sequence[str]) -> Kind:
    """The kind of a JARVIS id. A sub-agent of a test is a test, however deep it is nested."""
    if conversation_id.startswith(tuple(test_prefixes)):
        return "test"
    if not conversation_id.startswith(AGENT):
        return "user"
    parent = parent_in_id(conversation_id)
    return "test" if parent is not None and kind_of_id(parent, test_prefixes) == "test" else "subagent"


def parent_in_id(conversation_id: str) -> str | None:
    """The conversation for which a sub-agent works: the text behind `agent_<name>__`.

    None for a sub-agent without one: `agent_<name>`, and `agent_<name>__task_<id>`, where a task is named.
    """
    if not conversation_id.startswith(AGENT):
        return None
    _, separator, parent = conversation_id.partition("__")
    return parent if separator and parent and not parent.startswith(TASK) else None
