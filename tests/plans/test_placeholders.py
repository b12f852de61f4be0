"""Which results are none."""

from __future__ import annotations

from typing import Any

import pytest

from jarvis_ops.plans.placeholders import TEXT, is_placeholder


@pytest.mark.parametrize(
    "content",
    [
        TEXT,
        " aborted\n",
        [{"type": "text", "text": "No result provided"}],
        {"text": "Tool execution aborted"},
        "[lossless-claw] missing tool result in session history; inserted",
        "[System: Tool execution skipped/interrupted by user. No result provided for tool 'look'.]",
        "Tool call look with id c1 was cancelled - another message came in before it could be completed.",
        "[cc-switch:tool-result-unavailable] it is gone",
    ],
)
def test_a_placeholder(content: Any) -> None:
    assert is_placeholder(content)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "found",
        "it was aborted",
        "No result provided, said the clerk",
        None,
        7,
        [],
        [{"type": "image"}],
        {"text": 7},
    ],
)
def test_a_real_result(content: Any) -> None:
    assert not is_placeholder(content, {}, {"jarvis_ops": {"synthetic": False}}, {"jarvis_ops": None, "metadata": []})


@pytest.mark.parametrize(
    "holder", [{"jarvis_ops": {"synthetic": True}}, {"metadata": {"pydantic_ai_synthesized_tool_return": True}}]
)
def test_a_mark_says_so_whatever_the_text(holder: dict[str, Any]) -> None:
    assert is_placeholder("found", {}, holder)
