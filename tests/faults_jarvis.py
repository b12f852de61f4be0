"""Faults for JARVIS conversations: each adds one fault to what a writer has written, and says what has to be found."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from tests.generate import JarvisWriter, Line, encode, flat_call


class Expected(NamedTuple):
    """The one finding that a fault has to give; `line` counts in the log as one file, `id` None is not compared."""

    rule: str
    line: int
    id: str | None = None


Fault = Callable[[JarvisWriter], Expected]
TEXT = "Blue skies over the valley, and a long walk"


def here(writer: JarvisWriter) -> int:
    """The number of the line that was written last."""
    return len(writer.lines)


def add(writer: JarvisWriter, raw: bytes) -> int:
    """Append bytes as a line."""
    writer.lines.append(Line(raw))
    return here(writer)


def plain(writer: JarvisWriter, **more: Any) -> tuple[bytes, str]:
    """A record that no pair depends on, and its id; it is not written yet."""
    identity = writer.identity()
    value = {"id": identity, "role": "assistant", "content": TEXT, "timestamp": writer.time, **more}
    return encode(value), identity


def damaged(writer: JarvisWriter, old: bytes, new: bytes) -> tuple[int, str]:
    """Append a plain record in which `old` became `new`; give its line and id."""
    raw, identity = plain(writer)
    return add(writer, raw.replace(old, new, 1)), identity


def torn_tail(writer: JarvisWriter) -> Expected:
    raw, _ = plain(writer)
    return Expected("torn-tail", add(writer, raw[: writer.rng.randrange(1, len(raw) - 2)]))


def nul_tail(writer: JarvisWriter) -> Expected:
    return Expected("nul-run", add(writer, b"\0" * writer.rng.randrange(1, 600)))


def no_final_newline(writer: JarvisWriter) -> Expected:
    raw, _ = plain(writer)
    return Expected("no-final-newline", add(writer, raw[:-1]))


def glued(writer: JarvisWriter) -> Expected:
    """Two lines that follow each other lose the line feed between them."""
    full = [number for number, line in enumerate(writer.lines) if line.raw.strip()]
    pairs = [number for number in full if number + 1 in full]
    at = writer.rng.choice(pairs)
    first, second = writer.lines[at : at + 2]
    writer.lines[at : at + 2] = [Line(first.raw[:-1] + second.raw, first.starts_turn)]
    return Expected("glued-lines", at + 1)


def torn_then_whole(writer: JarvisWriter) -> Expected:
    torn, _ = plain(writer)
    whole, _ = plain(writer)
    return Expected("glued-lines", add(writer, torn[: writer.rng.randrange(2, len(torn) - 2)] + whole))


def nuls(writer: JarvisWriter) -> Expected:
    """NUL bytes before, inside or behind a record, or as a line of their own."""
    raw, _ = plain(writer)
    run = b"\0" * writer.rng.randrange(1, 600)
    middle = raw.index(b"valley")
    forms = (run + raw, raw[:-1] + run + b"\n", raw[:middle] + run + raw[middle:], run + b"\n")
    return Expected("nul-run", add(writer, writer.rng.choice(forms)))


def bad_utf8(writer: JarvisWriter) -> Expected:
    new = writer.rng.choice((b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xea\xb0", "정원".encode("cp949")))
    line, _ = damaged(writer, b"valley", new)
    return Expected("bad-utf8", line)


def lone_surrogate(writer: JarvisWriter) -> Expected:
    new = writer.rng.choice((rb"\ud83d", rb"\udE00", rb"\uDE00\uD83D", rb"\ud83dx\ude00", rb"\\\ud83d"))
    line, _ = damaged(writer, b"valley", new)
    return Expected("lone-surrogate", line)


def bad_line(writer: JarvisWriter) -> Expected:
    forms = (
        b"kernel: oops\n",
        b"[1,2]\n",
        b"17\n",
        b"null\n",
        b'{"id":"x","role":"us\n',
        b'{"role":"user","content":"x","n":NaN}\n',
        b'"text"\n',
    )
    return Expected("bad-line", add(writer, writer.rng.choice(forms)))


def control_character(writer: JarvisWriter) -> Expected:
    line, _ = damaged(writer, b"valley", writer.rng.choice((b"\x01", b"\t", b"\x1b[31m", b"\r")))
    return Expected("bad-line", line)


def split_line(writer: JarvisWriter) -> Expected:
    raw, _ = plain(writer)
    head, tail = raw.split(b"valley")
    first = add(writer, head + b"\n")
    add(writer, tail)
    return Expected("split-line", first)


def byte_order_mark(writer: JarvisWriter) -> Expected:
    first = writer.lines[0]
    writer.lines[0] = Line(b"\xef\xbb\xbf" + first.raw, first.starts_turn)
    return Expected("byte-order-mark", 1)


def duplicate_id(writer: JarvisWriter) -> Expected:
    identity = writer.message_ids[0]
    raw, _ = plain(writer, id=identity)
    return Expected("duplicate-id", add(writer, raw), identity)


def repeated_record(writer: JarvisWriter) -> Expected:
    """Any message once more, be it one with calls or results."""
    messages = [line.raw for line in writer.lines if b'"role"' in line.raw and b'"proactive"' not in line.raw]
    raw = writer.rng.choice(messages)
    return Expected("repeated-record", add(writer, raw), json.loads(raw)["id"])


def bad_shape(writer: JarvisWriter) -> Expected:
    raw, identity = plain(writer, content=writer.rng.choice((12, True)))
    return Expected("bad-shape", add(writer, raw), identity)


def nul_char(writer: JarvisWriter) -> Expected:
    line, _ = damaged(writer, b"valley", rb"\u0000")
    return Expected("nul-char", line)


def asks(writer: JarvisWriter, *calls: Any) -> int:
    """Append an answer with these calls; give its line."""
    writer.message(role="assistant", content="", tool_calls=list(calls))
    return here(writer)


def answers(writer: JarvisWriter, call_id: Any) -> int:
    """Append a result; give its line."""
    writer.message(role="tool", tool_call_id=call_id, content="done")
    return here(writer)


def says(writer: JarvisWriter, role: str = "assistant") -> int:
    """Append a text."""
    writer.message(role=role, content=TEXT)
    return here(writer)


def one(writer: JarvisWriter) -> str:
    """A fresh call id."""
    return writer.call_ids(1)[0]


def unanswered_call(writer: JarvisWriter) -> Expected:
    first, second = writer.call_ids(2)
    line = asks(writer, flat_call(writer.rng, first), flat_call(writer.rng, second))
    answers(writer, first)
    if writer.chance(0.5):
        says(writer)
    return Expected("unanswered-call", line, second)


def user_between(writer: JarvisWriter) -> Expected:
    call_id = one(writer)
    asks(writer, flat_call(writer.rng, call_id))
    says(writer, "user")
    line = answers(writer, call_id)
    return Expected("misplaced-result", line, call_id)


def answer_between(writer: JarvisWriter) -> Expected:
    call_id = one(writer)
    asks(writer, flat_call(writer.rng, call_id))
    says(writer)
    line = answers(writer, call_id)
    return Expected("misplaced-result", line, call_id)


def result_first(writer: JarvisWriter) -> Expected:
    call_id = one(writer)
    line = answers(writer, call_id)
    asks(writer, flat_call(writer.rng, call_id))
    return Expected("misplaced-result", line, call_id)


def orphan_result(writer: JarvisWriter) -> Expected:
    call_id = one(writer)
    return Expected("orphan-result", answers(writer, call_id), call_id)


def duplicate_result(writer: JarvisWriter) -> Expected:
    call_id = one(writer)
    asks(writer, flat_call(writer.rng, call_id))
    answers(writer, call_id)
    return Expected("duplicate-result", answers(writer, call_id), call_id)


def duplicate_call_id(writer: JarvisWriter) -> Expected:
    call_id = one(writer)
    line = asks(writer, flat_call(writer.rng, call_id), flat_call(writer.rng, call_id))
    answers(writer, call_id)
    return Expected("duplicate-call-id", line, call_id)


def bad_call_id(writer: JarvisWriter) -> Expected:
    call_id = writer.rng.choice((None, "", "unknown"))
    line = asks(writer, {"id": call_id, "name": "look", "arguments": {}})
    answers(writer, call_id)
    return Expected("bad-call-id", line)


def bad_arguments(writer: JarvisWriter) -> Expected:
    call_id = one(writer)
    given: tuple[Any, ...] = (None, [], 7, '{"q": "cut o', "[1]", True)
    line = asks(writer, {"id": call_id, "name": "look", "arguments": writer.rng.choice(given)})
    answers(writer, call_id)
    return Expected("bad-arguments", line, call_id)


def pair_split(writer: JarvisWriter) -> Expected:
    call_id = one(writer)
    asks(writer, flat_call(writer.rng, call_id))
    through = writer.message_ids[-1]
    answers(writer, call_id)
    mark = {"type": "pippa_compaction", "id": writer.identity(), "summary": "s", "from_id": writer.message_ids[0]}
    return Expected("pair-split", add(writer, encode({**mark, "through_id": through, "compacted_at": 1})), call_id)


def compaction_dangling(writer: JarvisWriter) -> Expected:
    mark = {"type": "pippa_compaction", "id": writer.identity(), "summary": "s", "from_id": writer.message_ids[0]}
    return Expected("compaction-dangling", add(writer, encode({**mark, "through_id": "gone", "compacted_at": 1})))


# What can only stand at the very end of a log.
LAST: tuple[Fault, ...] = (torn_tail, nul_tail, no_final_newline)
ANYWHERE: tuple[Fault, ...] = (
    glued, torn_then_whole, nuls, bad_utf8, lone_surrogate, bad_line, control_character, split_line, byte_order_mark,
    duplicate_id, repeated_record, bad_shape, nul_char,
    unanswered_call, user_between, answer_between, result_first, orphan_result, duplicate_result, duplicate_call_id,
    bad_call_id, bad_arguments, pair_split, compaction_dangling,
)  # fmt: skip
