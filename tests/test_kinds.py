"""What an id tells of a conversation."""

from __future__ import annotations

import pytest

from jarvis_ops.model.conversation import Conversation
from jarvis_ops.model.kinds import kind_of, kind_of_id, parent_in_id
from jarvis_ops.model.settings import Settings

PREFIXES = Settings(now=0).test_prefixes


@pytest.mark.parametrize(
    ("name", "kind", "parent"),
    [
        ("home", "user", None),
        ("testament", "user", None),
        ("agents", "user", None),
        ("test-a", "test", None),
        ("live-concert", "test", None),
        ("probe-1", "test", None),
        ("exp-1", "test", None),
        ("agent_main", "subagent", None),
        ("agent_main__task_17", "subagent", None),
        ("agent_main__task_test-1", "subagent", None),
        ("agent_main__home", "subagent", "home"),
        ("agent_main__test-a", "test", "test-a"),
        ("agent_a__agent_b__test-a", "test", "agent_b__test-a"),
        ("agent_a__agent_b__home", "subagent", "agent_b__home"),
        ("agent_main__", "subagent", None),
    ],
)
def test_ids_of_jarvis(name: str, kind: str, parent: str | None) -> None:
    assert kind_of_id(name, PREFIXES) == kind
    assert parent_in_id(name) == parent


def test_prefixes_are_a_setting() -> None:
    assert kind_of_id("try-1", ("try-",)) == "test"
    assert kind_of_id("test-1", ("try-",)) == "user"


def conversation(name: str, *, parent: str | None = None, projects: bool = True) -> Conversation:
    return Conversation(
        id=name,
        session_id=name,
        folder="",
        parts=(),
        live=None,
        parent=parent,
        layout="projects" if projects else "flat",
    )


def test_other_layouts() -> None:
    assert kind_of(conversation("-home-u/test-1"), PREFIXES) == "user"
    assert kind_of(conversation("-home-u/1/subagents/agent-a"), PREFIXES) == "subagent"
    assert kind_of(conversation("x", parent="y"), PREFIXES) == "subagent"
    assert kind_of(conversation("x", parent="y", projects=False), PREFIXES) == "subagent"
    assert kind_of(conversation("test-x", parent="y", projects=False), PREFIXES) == "test"
