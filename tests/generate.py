"""Seeded generators of healthy JARVIS conversations, and of logs of any length. The tests and the bench use them."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

Json = dict[str, Any]
START = 1_767_225_600_000  # 2026-01-01 00:00 UTC in milliseconds: old enough that nothing counts as running
NOW = START + 200 * 86_400_000

WORDS = (
    "river", "lantern", "barley", "window", "orchard", "kettle", "north wind", "a }{ b", 'say "yes"', "C:\\maps",
    "바다", "정원", "고양이가 잔다", "오늘은 맑음", "책과 차", "🌿", "👩‍🌾", "é", "tab\there",
    "two\nlines", "\u2028", "\x7f",
)  # fmt: skip


def phrase(rng: random.Random) -> str:
    """A few words of several scripts, with characters that JSON escapes."""
    return " ".join(rng.choices(WORDS, k=rng.randint(1, 9)))


def encode(value: Json, *, ascii_only: bool = False) -> bytes:
    """One JSON line, compact."""
    return json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":")).encode() + b"\n"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a log; a segment may end before it when `starts_turn` is set."""

    raw: bytes
    starts_turn: bool = False


class JarvisWriter:
    """Writes a healthy JARVIS conversation turn by turn; `lines` is what was written so far.

    With `marks` it also writes blank lines, turn markers, proactive messages, records without ids and compactions.
    """

    def __init__(self, rng: random.Random, *, marks: bool = True) -> None:
        self.rng = rng
        self.marks = marks
        self.lines: list[Line] = []
        self.count = 0
        self.turn_id = 0
        self.time = START
        self.message_ids: list[str] = []
        self.ascii_only = rng.random() < 0.3
        self.iso = rng.random() < 0.2
        self.with_turn_ids = rng.random() < 0.7
        self.style = rng.choice(("flat", "openai", "anthropic", "mixed"))

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def put(self, value: Json, *, starts_turn: bool = False) -> None:
        """Append a record; now and then a blank line before it."""
        if self.marks and not starts_turn and self.chance(0.03):
            self.lines.append(Line(self.rng.choice((b"\n", b"  \n", b"\t\n"))))
        self.lines.append(Line(encode(value, ascii_only=self.ascii_only), starts_turn))

    def identity(self) -> str:
        """The next id of a record."""
        self.count += 1
        return f"m{self.count}"

    def message(self, *, starts_turn: bool = False, in_turn: bool = True, **fields: Any) -> str:
        """Append a message with an id and a time; give the id."""
        self.time += self.rng.randrange(2) * self.rng.randrange(5000)
        identity = self.identity()
        stamp = datetime.fromtimestamp(self.time / 1000, UTC).isoformat() if self.iso else self.time
        value = {"id": identity, **fields, "timestamp": stamp}
        if self.with_turn_ids and in_turn:
            value["turn_id"] = f"t{self.turn_id}"
        self.message_ids.append(identity)
        self.put(value, starts_turn=starts_turn)
        return identity

    def content(self) -> Any:
        """What a message says: text, or a list of text blocks."""
        text = phrase(self.rng)
        return [{"type": "text", "text": text}] if self.chance(0.2) else text

    def turn(self) -> None:
        """A user message and everything up to the next one."""
        self.turn_id += 1
        accepted = self.marks and self.chance(0.3)
        if accepted:
            mark = {"type": "turn_accepted", "turn_id": f"t{self.turn_id}", "timestamp": self.time}
            self.put(mark, starts_turn=True)
        self.message(role="user", content=self.content(), starts_turn=not accepted)
        for _ in range(self.rng.randrange(4)):
            self.round()
        if self.chance(0.95):
            self.message(role="assistant", content=self.content(), model="a-model", usage={"output_tokens": 7})
        if accepted:
            self.put({"type": "turn_end", "turn_id": f"t{self.turn_id}", "timestamp": self.time})
        if self.marks:
            self.between_turns()

    def between_turns(self) -> None:
        """What may stand behind a turn: messages of the agent's own accord, and a compaction."""
        if self.chance(0.1):
            self.message(role="assistant", content="🔔 " + phrase(self.rng), proactive=True, in_turn=False)
            if self.chance(0.5):
                self.lines.append(self.lines[-1])
        if self.chance(0.05):
            first, last = self.message_ids[0], self.message_ids[-1]
            mark = {"type": "pippa_compaction", "id": self.identity(), "summary": phrase(self.rng), "from_id": first}
            self.put({**mark, "through_id": last, "count": len(self.message_ids), "compacted_at": self.time})

    def call_ids(self, amount: int) -> list[str]:
        """Ids that no other call of this conversation has."""
        return [f"call_{self.rng.randrange(16**8):08x}_{len(self.lines)}_{number}" for number in range(amount)]

    def round(self) -> None:
        """One answer with calls, and all their results in some order."""
        style = self.rng.choice(("flat", "openai", "anthropic")) if self.style == "mixed" else self.style
        names = self.call_ids(self.rng.choice((1, 1, 1, 2, 2, 3, 5)))
        if style == "anthropic":
            self.block_round(names)
            return
        shape = openai_call if style == "openai" else flat_call
        said = self.rng.choice(("", None, phrase(self.rng)))
        self.message(role="assistant", content=said, tool_calls=[shape(self.rng, name) for name in names])
        for name in self.rng.sample(names, len(names)):
            role = self.rng.choice(("tool", "tool", "tool_result", "toolResult"))
            failed = {"is_error": True} if self.chance(0.1) else {}
            self.message(role=role, tool_call_id=name, content=phrase(self.rng), **failed)

    def block_round(self, names: Sequence[str]) -> None:
        """The same as Anthropic's blocks: results stand in one or several user messages."""
        calls = [{"type": "tool_use", "id": name, "name": "look", "input": {"q": phrase(self.rng)}} for name in names]
        text = [{"type": "text", "text": phrase(self.rng)}] if self.chance(0.5) else []
        self.message(role="assistant", content=text + calls)
        blocks = [{"type": "tool_result", "tool_use_id": name, "content": phrase(self.rng)} for name in names]
        self.rng.shuffle(blocks)
        cut = self.rng.randrange(len(blocks)) if self.chance(0.3) else 0
        for part in (blocks[:cut], blocks[cut:]):
            if part:
                self.message(role="user", content=part)

    def turns(self, amount: int) -> JarvisWriter:
        """Write so many turns and give the writer."""
        for _ in range(amount):
            self.turn()
        return self


def flat_call(rng: random.Random, call_id: str) -> Json:
    """A call as JARVIS stores it."""
    return {"id": call_id, "name": "look", "arguments": {"q": phrase(rng)}}


def openai_call(rng: random.Random, call_id: str) -> Json:
    """A call in OpenAI's nesting, its arguments as an object or as JSON text."""
    arguments: Any = {"q": phrase(rng)}
    if rng.random() < 0.7:
        arguments = json.dumps(arguments)
    return {"id": call_id, "type": "function", "function": {"name": "look", "arguments": arguments}}


def seal(conversation: str, number: int, content: bytes) -> bytes:
    """The marker that goes in front of the file behind the segment `number`."""
    value = {
        "type": "pippa_segment_sealed",
        "conversation_id": conversation,
        "seq": number,
        "segment": f"{number:06d}.jsonl",
        "bytes": len(content),
        "lines": content.count(b"\n"),
        "sha256": hashlib.sha256(content).hexdigest(),
        "timestamp": START,
    }
    return encode(value)


def write_jarvis(folder: Path, lines: Sequence[Line], cuts: Sequence[int] = (), name: str = "talk") -> None:
    """Write a conversation: sealed segments up to each of the line indexes `cuts`, the rest as the live file."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.meta.json").write_bytes(encode({"id": name, "agent_id": "a", "state": "idle"}))
    head = b""
    edges = [0, *sorted(set(cuts))]
    for number, (start, end) in enumerate(itertools.pairwise(edges), start=1):
        (folder / f"{name}.segments").mkdir(exist_ok=True)
        content = head + b"".join(line.raw for line in lines[start:end])
        (folder / f"{name}.segments" / f"{number:06d}.jsonl").write_bytes(content)
        head = seal(name, number, content)
    live = folder / f"{name}.jsonl"
    live.write_bytes(head + b"".join(line.raw for line in lines[edges[-1] :]))
    os.utime(live, (START / 1000, START / 1000))


def cuttable(lines: Sequence[Line]) -> list[int]:
    """The indexes at which a segment may end."""
    return [index for index, line in enumerate(lines) if line.starts_turn and index]


def endless(rng: random.Random, amount: int, line_bytes: int) -> Iterator[bytes]:
    """`amount` lines of about `line_bytes` bytes of one healthy conversation: question, call, result, answer, again."""
    fillers = [
        ("A long walk along the river, past the mill and the orchard. " * 9)[: line_bytes - 130],
        ("강을 따라 걷고 방앗간과 과수원을 지나 집으로 돌아온다. " * 9)[: (line_bytes - 130) * 5 // 12],
    ]
    for number in range(amount):
        turn, step = divmod(number, 4)
        value: Json = {"id": f"m{number}", "role": ("user", "assistant", "tool", "assistant")[step]}
        value["content"] = fillers[rng.randrange(2)]
        if step == 1:
            value["tool_calls"] = [{"id": f"call_{turn}", "name": "look", "arguments": {"q": turn}}]
        elif step == 2:
            value["tool_call_id"] = f"call_{turn}"
        value["timestamp"] = START + number * 10
        value["turn_id"] = f"t{turn}"
        yield encode(value)
