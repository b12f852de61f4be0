"""Faults for Claude Code transcripts: each adds one to what a writer has written, and says what has to be found."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.faults_jarvis import Expected
from tests.generate import encode
from tests.generate_claude import ClaudeWriter

Fault = Callable[[ClaudeWriter], Expected]
OTHER_SESSION = "87654321-0000-4000-8000-000000000009"


def here(writer: ClaudeWriter) -> int:
    """The number of the line that was written last."""
    return len(writer.lines)


def harmless(writer: ClaudeWriter) -> bytes:
    """A title, in no chain, that can be damaged without loss; it is not written yet."""
    return encode({"type": "ai-title", "aiTitle": "a walk in the garden", "sessionId": "s" + str(writer.count)})


def add(writer: ClaudeWriter, raw: bytes) -> int:
    writer.lines.append(raw)
    return here(writer)


def torn_tail(writer: ClaudeWriter) -> Expected:
    raw = harmless(writer)
    return Expected("torn-tail", add(writer, raw[: writer.rng.randrange(1, len(raw) - 2)]))


def no_final_newline(writer: ClaudeWriter) -> Expected:
    writer.lines[-1] = writer.lines[-1][:-1]
    return Expected("no-final-newline", here(writer))


def glued(writer: ClaudeWriter) -> Expected:
    at = writer.rng.randrange(len(writer.lines) - 1)
    writer.lines[at : at + 2] = [writer.lines[at][:-1] + writer.lines[at + 1]]
    return Expected("glued-lines", at + 1)


def torn_then_whole(writer: ClaudeWriter) -> Expected:
    raw = harmless(writer)
    writer.say()
    writer.lines[-1] = raw[: writer.rng.randrange(2, len(raw) - 2)] + writer.lines[-1]
    return Expected("glued-lines", here(writer))


def nuls(writer: ClaudeWriter) -> Expected:
    """NUL bytes before or behind a record of the chain, which stays readable."""
    writer.say()
    run = b"\0" * writer.rng.randrange(1, 600)
    raw = writer.lines[-1]
    writer.lines[-1] = writer.rng.choice((run + raw, raw[:-1] + run + b"\n"))
    return Expected("nul-run", here(writer))


def bad_utf8(writer: ClaudeWriter) -> Expected:
    return Expected("bad-utf8", add(writer, harmless(writer).replace(b"garden", b"gard\xff")))


def lone_surrogate(writer: ClaudeWriter) -> Expected:
    return Expected("lone-surrogate", add(writer, harmless(writer).replace(b"garden", rb"\ud83d")))


def bad_line(writer: ClaudeWriter) -> Expected:
    return Expected("bad-line", add(writer, writer.rng.choice((b"oops\n", b"[1]\n", b'{"type":"ai-ti\n'))))


def duplicate_id(writer: ClaudeWriter) -> Expected:
    """A dead-end note with the id of the record before it: no chain leads through it."""
    value = json.loads(writer.lines[-1])
    note = {**value, "type": "saved_hook_context", "content": ["hook"]}
    note.pop("message", None)
    return Expected("duplicate-id", add(writer, encode(note)), value["uuid"])


def unanswered_call(writer: ClaudeWriter) -> Expected:
    answer, first, second = writer.answer_id(), writer.call_id(), writer.call_id() + "b"
    one = writer.call(answer, first)
    writer.call(answer, second)
    line = here(writer)
    writer.result(first, one)
    writer.say()
    return Expected("unanswered-call", line, second)


def prompt_between(writer: ClaudeWriter) -> Expected:
    call_id = writer.call_id()
    writer.call(writer.answer_id(), call_id)
    writer.prompt()
    writer.result(call_id, writer.leaf)
    line = here(writer)
    writer.say()
    return Expected("misplaced-result", line, call_id)


def answer_between(writer: ClaudeWriter) -> Expected:
    call_id = writer.call_id()
    writer.call(writer.answer_id(), call_id)
    writer.say()
    writer.result(call_id, writer.leaf)
    line = here(writer)
    writer.say()
    return Expected("misplaced-result", line, call_id)


def orphan_result(writer: ClaudeWriter) -> Expected:
    call_id = writer.call_id()
    writer.result(call_id, writer.leaf)
    line = here(writer)
    writer.say()
    return Expected("orphan-result", line, call_id)


def duplicate_result(writer: ClaudeWriter) -> Expected:
    call_id = writer.call_id()
    writer.call(writer.answer_id(), call_id)
    writer.result(call_id, writer.leaf)
    writer.result(call_id, writer.leaf)
    line = here(writer)
    writer.say()
    return Expected("duplicate-result", line, call_id)


def duplicate_call_id(writer: ClaudeWriter) -> Expected:
    """An id that the API made comes again in a later answer, answered each time."""
    call_id = writer.call_id()
    lines = []
    for _ in range(2):
        writer.call(writer.answer_id(), call_id)
        lines.append(here(writer))
        writer.result(call_id, writer.leaf)
        writer.say()
    return Expected("duplicate-call-id", lines[1], call_id)


def bad_call_id(writer: ClaudeWriter) -> Expected:
    call_id = writer.rng.choice(("", "unknown", "call 7", "점"))
    writer.call(writer.answer_id(), call_id)
    line = here(writer)
    writer.result(call_id, writer.leaf)
    writer.say()
    return Expected("bad-call-id", line)


def bad_arguments(writer: ClaudeWriter) -> Expected:
    call_id = writer.call_id()
    given: tuple[Any, ...] = (None, [], "{", 7)
    use = {"type": "tool_use", "id": call_id, "name": "Bash", "input": writer.rng.choice(given)}
    writer.block(writer.answer_id(), use, "tool_use")
    line = here(writer)
    writer.result(call_id, writer.leaf)
    writer.say()
    return Expected("bad-arguments", line, call_id)


def dangling_parent(writer: ClaudeWriter) -> Expected:
    writer.leaf = "ffffffff-0000-4000-8000-000000000000"
    identity = writer.prompt()
    line = here(writer)
    writer.say()
    return Expected("dangling-parent", line, identity)


def parent_cycle(writer: ClaudeWriter) -> Expected:
    """Two records name each other; the later one, which the earlier names, closes the circle."""
    identity = writer.prompt()
    line = here(writer)
    last = writer.say()
    value = json.loads(writer.lines[line - 1])
    writer.lines[line - 1] = encode({**value, "parentUuid": last})
    return Expected("parent-cycle", line, identity)


def extra_root(writer: ClaudeWriter) -> Expected:
    writer.leaf = None
    identity = writer.prompt()
    line = here(writer)
    writer.say()
    return Expected("extra-root", line, identity)


def unreachable_record(writer: ClaudeWriter) -> Expected:
    writer.prompt()
    question = writer.leaf
    identity = writer.say()
    line = here(writer)
    writer.leaf = question
    writer.chain("system", subtype="stop_hook_summary", hookCount=1)
    writer.prompt()
    writer.say()
    return Expected("unreachable-record", line, identity)


def foreign_record(writer: ClaudeWriter) -> Expected:
    writer.say()
    raw = writer.lines[-1]
    value = json.loads(raw)
    strange = {**value, "sessionId": OTHER_SESSION, "uuid": "eeeeeeee-0000-4000-8000-000000000000"}
    return Expected("foreign-record", add(writer, encode(strange)), strange["uuid"])


LAST: tuple[Fault, ...] = (torn_tail, no_final_newline)
ANYWHERE: tuple[Fault, ...] = (
    glued, torn_then_whole, nuls, bad_utf8, lone_surrogate, bad_line, duplicate_id,
    unanswered_call, prompt_between, answer_between, orphan_result, duplicate_result, duplicate_call_id, bad_call_id,
    bad_arguments, dangling_parent, parent_cycle, extra_root, unreachable_record, foreign_record,
)  # fmt: skip
