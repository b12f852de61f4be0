"""Items of the OpenAI Responses form, of which each row holds one, as JARVIS lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# The kinds of calls that a program answers, and how their answers are called.
ANSWERS = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "shell_call": "shell_call_output",
    "local_shell_call": "local_shell_call_output",
    "apply_patch_call": "apply_patch_call_output",
    "computer_call": "computer_call_output",
    "tool_search_call": "tool_search_output",
    "program": "program_output",
}
OUTPUTS = frozenset(ANSWERS.values())


def line_of_item(item: Mapping[str, Any]) -> dict[str, Any]:
    """The message that an item stands for; one that is neither message, call nor answer says nothing of pairs."""
    kind = item.get("type")
    if kind in ANSWERS:
        call: dict[str, Any] = {"id": item.get("call_id")}
        if kind == "function_call" and "arguments" in item:
            call["arguments"] = item["arguments"]
        return {"role": "assistant", "item": kind, "tool_calls": [call]}
    if kind in OUTPUTS:
        return {"role": "tool", "item": kind, "tool_call_id": item.get("call_id"), "content": text_of(item)}
    if "role" in item:
        return {"role": item["role"], "content": item.get("content")}
    return {"role": "assistant", "item": kind}


def text_of(item: Mapping[str, Any]) -> str | None:
    """The output of an answer, where it is text."""
    output = item.get("output")
    return output if isinstance(output, str) else None
