"""The logs that the bench reads: healthy conversations of a given size, the same for everybody."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path

from tests.generate import START, Json, encode, endless
from tests.generate_claude import PROJECT, SESSION, ClaudeWriter

ENGLISH = "the path leads along the river to the mill and on through the orchard "
KOREAN = "강을 따라 걷다 보면 방앗간과 과수원이 나오고 그 너머에 작은 마을이 있다 "
REPEATED = 'past the mill\nto the garden"'  # thirteen bytes and an escape of two, twice
# The same without end and without repetition: a processor learns a short pattern by heart.
PICK = random.Random(1)
ESCAPED = "".join(
    "".join(PICK.choices("abcdefghijklmnopqrstuvwyz ", k=13)) + PICK.choice('\n"\\\t') for _ in range(4_000)
)
RESULT_BYTES = 60_000


def turns(result: str) -> Iterator[bytes]:
    """Turns without end: a question, a call, a large result, an answer."""
    for number in count():
        time, turn = START + number * 1000, f"t{number}"
        call = {"id": f"call_{number}", "name": "read", "arguments": {"path": f"notes/{number}.md"}}
        records: tuple[Json, ...] = (
            {"role": "user", "content": f"Read note {number}, please."},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": result},
            {"role": "assistant", "content": "It is about the way to the mill."},
        )
        lines = ({"id": f"m{number}-{step}", **record} for step, record in enumerate(records))
        yield b"".join(encode({**line, "timestamp": time, "turn_id": turn}) for line in lines)


def large(*texts: str) -> Iterator[bytes]:
    """Turns whose results are `RESULT_BYTES` long, an equal share of them for each text."""
    share = RESULT_BYTES // len(texts)
    return turns("".join(text * (share // len(text.encode())) for text in texts))


def short() -> Iterator[bytes]:
    """Turns in lines of about 400 bytes, half of them Korean, without end."""
    lines = endless(random.Random(1), 1 << 40, 417)
    while True:
        yield b"".join(islice(lines, 4))


def claude() -> Iterator[bytes]:
    """Turns of a transcript, without end; what was given out is forgotten."""
    writer = ClaudeWriter(random.Random(1), marks=False)
    while True:
        writer.turn()
        yield b"".join(writer.lines)
        writer.lines.clear()


def fill(path: Path, turns_of_a_log: Iterator[bytes], size: int) -> None:
    """Write whole turns until the file has `size` bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb", buffering=1 << 20) as file:
        while file.tell() < size:
            file.write(next(turns_of_a_log))


def store(folder: Path, name: str, turns_of_a_log: Iterator[bytes], size: int) -> Path:
    """A JARVIS store `folder` with one conversation more; give its log."""
    path = folder / f"{name}.jsonl"
    fill(path, turns_of_a_log, size)
    (folder / f"{name}.meta.json").write_bytes(encode({"id": name, "state": "idle"}))
    return path


def claude_store(folder: Path, size: int) -> Path:
    """A Claude Code store with one transcript; give the transcript."""
    path = folder / PROJECT / f"{SESSION}.jsonl"
    fill(path, claude(), size)
    return path
