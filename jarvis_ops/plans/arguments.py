"""Arguments of a call that are no JSON object."""

from __future__ import annotations

import json
from typing import Any

from jarvis_ops.model.finding import Finding
from jarvis_ops.model.plan import Repair
from jarvis_ops.plans.call import Call, parsed
from jarvis_ops.plans.lines import Change, changed
from jarvis_ops.plans.results import member
from jarvis_ops.plans.splice import value_at, value_span
from jarvis_ops.plans.steps import Words
from jarvis_ops.plans.style import Style, style_of

# What could not be read as arguments is kept under this key.
KEPT = "_unparsed"
EMPTY = frozenset({"", "null", "[]"})


def with_good_arguments(call: Call, finding: Finding) -> Repair:
    """The arguments become `{}` where there are none, else an object that keeps them whole under one key."""
    held, style = value_at(call.line.value, call.inner), style_of(call.line.raw)
    key = "input" if str(call.value.get("type")).endswith("tool_use") else "arguments"
    if key not in held:
        changes, kept = [member(call.line, call.inner, key, b"{}", style)], False
    else:
        changes, kept = mended(call, f"{call.inner}.{key}", held[key], style)
    words = Words(finding)
    why = "the arguments of the call become a JSON object"
    step = words.step(
        "replace",
        call.line.at(call.path),
        f"{why}; what was there is kept under {KEPT}" if kept else why,
        new=b"".join(change.new for change in changes),
    )
    return words.repair(step, edits=changed(changes))


def mended(call: Call, path: str, value: Any, style: Style) -> tuple[list[Change], bool]:
    """What changes at `path`, and whether what was there is kept under a key.

    Where arguments are JSON text they stay so: for text in the place of it, and for whatever stands inside a
    function in OpenAI's form. Blocks take an object and nothing else.
    """
    start, end = value_span(call.line.raw, path)
    as_text = not path.endswith(".input") and (isinstance(value, str) or call.inner != call.path)
    if value is None or value == [] or (isinstance(value, str) and value.strip() in EMPTY):
        return [Change(call.line, start, end, b'"{}"' if as_text else b"{}")], False
    if as_text:
        text = json.dumps({KEPT: value}, ensure_ascii=False)
        return [Change(call.line, start, end, style.encoded(text))], True
    if isinstance(inner := parsed(value), dict):
        return [Change(call.line, start, end, style.encoded(inner))], False
    head = b"{" + style.encoded(KEPT) + style.key.encode()
    return [Change(call.line, start, start, head), Change(call.line, end, end, b"}")], True
