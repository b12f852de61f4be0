"""Healthy transcripts as they come about: made at random, with all that happens beside a conversation."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from tests.scenarios.made import START, Json, Transcript, stamp


class Session:
    """One session from a seed. `run` it; `transcript` has its lines."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.transcript = Transcript()
        self.answers = 0
        self.calls = 0
        self.prompts: list[tuple[int, int]] = []  # each prompt's line and the line before which it was typed

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def answer_id(self) -> str:
        self.answers += 1
        return f"msg_{self.answers:03d}"

    def call_id(self, prefix: str = "") -> str:
        self.calls += 1
        return f"{prefix}toolu_{self.calls:03d}"

    def run(self) -> Transcript:
        t = self.transcript
        if self.chance(0.3):
            t.node("attachment", {"attachment": {"type": "hook_success", "hookEvent": "SessionStart"}}, None)
        for _ in range(self.rng.randint(1, 9)):
            self.turn()
            if self.chance(0.15):
                self.compact()
            if self.chance(0.1):
                self.local_command()
            if self.chance(0.15):
                self.rewind()
            if self.chance(0.1):
                t.bare("last-prompt", leafUuid=t.uuid(t.last or 1), lastPrompt="x")
            if self.chance(0.1):
                self.side_chain()
        self.turn()
        return t

    def turn(self) -> None:
        """A prompt, its rounds of calls, and an answer, unless the user or an error comes between."""
        t, before = self.transcript, self.transcript.last
        line = t.user(self.rng.choice(["hello", [{"type": "text", "text": "x"}]]))
        if before is not None:
            self.prompts.append((line, before))
        self.aside()
        for _ in range(self.rng.randrange(4)):
            self.round()
            if self.chance(0.05):
                self.compact()
        if self.chance(0.08):
            t.user("[Request interrupted by user]")
        elif self.chance(0.08):
            t.say(f"error-{line}", "API Error: 500", isApiErrorMessage=True)
        else:
            t.say(self.answer_id(), stop=self.rng.choice([None, "end_turn", "stop_sequence", "max_tokens"]))
            self.aside()
            if self.chance(0.3):
                t.system(self.rng.choice(["stop_hook_summary", "turn_duration"]))

    def aside(self, probability: float = 0.15) -> None:
        """What is written between the messages and never sent."""
        t = self.transcript
        happenings: list[tuple[float, Callable[[], Any]]] = [
            (1, lambda: t.node("attachment", {"attachment": {"type": "hook_success"}})),
            (2, lambda: t.node("progress", {"data": {"type": "hook_progress"}, "toolUseID": "x"})),
            (2, lambda: t.bare("file-history-snapshot", messageId=t.uuid(t.last or 1), snapshot={})),
            (2, lambda: t.bare("queue-operation", operation="enqueue", content="x", timestamp=stamp(START))),
            (3, lambda: t.system("informational", content="x")),
            (3, lambda: t.system("api_error", level="error", error={})),
            (3, lambda: t.node("a-type-of-tomorrow", {"x": 1})),
        ]
        for rarity, happen in happenings:
            if self.chance(probability / rarity):
                happen()

    def round(self) -> None:
        """An answer with calls, in one of the ways in which their lines and results come to hang together."""
        t, answer = self.transcript, self.answer_id()
        if self.chance(0.4):
            t.answer(answer, {"type": "thinking", "thinking": "", "signature": "c2ln"}, stop=None)
        if self.chance(0.3):
            t.say(answer, stop="tool_use")
        if self.chance(0.15):
            self.server_tool(answer)
        names = [self.call_id() for _ in range(self.rng.choice([1, 1, 2, 3, 4]))]
        ways = (self.one_record, self.one_behind_the_other, self.beside, self.streaming, self.streaming_beside)
        self.rng.choice(ways)(answer, names)
        self.aside()

    def server_tool(self, answer: str) -> None:
        t, name = self.transcript, self.call_id("srv")
        t.answer(answer, {"type": "server_tool_use", "id": name, "name": "web_search", "input": {}})
        if self.chance(0.3):
            self.aside(0.5)
        t.answer(answer, {"type": "web_search_tool_result", "tool_use_id": name, "content": []})

    def one_record(self, answer: str, names: list[str]) -> None:
        t = self.transcript
        t.answer(answer, *[{"type": "tool_use", "id": name, "name": "Bash", "input": {}} for name in names])
        order = self.rng.sample(names, len(names))
        if self.chance(0.5):
            blocks: list[Json] = [{"type": "tool_result", "tool_use_id": name, "content": "x"} for name in order]
            t.user(blocks)
            return
        for name in order:
            t.result(name)
            self.aside(0.1)

    def one_behind_the_other(self, answer: str, names: list[str]) -> None:
        for name in names:
            self.transcript.call(answer, name)
        self.aside(0.2)
        for name in self.rng.sample(names, len(names)):
            self.transcript.result(name)
            self.aside(0.1)

    def beside(self, answer: str, names: list[str]) -> None:
        """Each result hangs at its own call, often with a hook's record between the two."""
        t = self.transcript
        lines = {name: t.call(answer, name) for name in names}
        if self.chance(0.2):
            self.side_chain()
        for name in self.rng.sample(names, len(names)):
            parent = lines[name]
            for _ in range(self.rng.choice([0, 0, 1, 2])):
                parent = t.node(self.rng.choice(["progress", "attachment"]), {"data": {}, "toolUseID": name}, parent)
            t.result(name, parent, sourceToolAssistantUUID=t.uuid(lines[name]))
            if self.chance(0.3):
                t.node("attachment", {"attachment": {"type": "hook_success"}})

    def streaming(self, answer: str, names: list[str]) -> None:
        for name in names:
            self.transcript.call(answer, name)
            self.transcript.result(name)

    def streaming_beside(self, answer: str, names: list[str]) -> None:
        parent: int | None = -1
        for name in names:
            parent = self.transcript.call(answer, name, parent)
            self.transcript.result(name, parent)

    def side_chain(self) -> None:
        """A sub-agent's thread in the main file, of an old version with or without the agent's id."""
        t, before = self.transcript, self.transcript.last
        side: Json = {"isSidechain": True}
        if self.chance(0.7):
            side["agentId"] = f"a{len(t.lines)}"
        t.user("look", None, **side)
        answer, names = self.answer_id(), [self.call_id() for _ in range(self.rng.randint(1, 2))]
        lines = [t.call(answer, name, **side) for name in names]
        for name, line in zip(names, lines, strict=True):
            t.result(name, line, **side)
        t.say(self.answer_id(), **side)
        t.last = before

    def local_command(self) -> None:
        t = self.transcript
        if self.chance(0.5):
            t.user("<local-command-caveat>x</local-command-caveat>", isMeta=True)
        t.user("<command-name>/model</command-name>")
        if self.chance(0.5):
            t.user("<local-command-stdout>x</local-command-stdout>")
        else:
            t.system("local_command", content="<local-command-stdout>x</local-command-stdout>")

    def rewind(self) -> None:
        """The user goes back to before one of the prompts."""
        if self.prompts:
            _, self.transcript.last = self.rng.choice(self.prompts)
            self.prompts = [each for each in self.prompts if each[0] <= (self.transcript.last or 0)]

    def compact(self) -> None:
        """A compaction that keeps nothing, or the stretch from a prompt on, in either of two notations."""
        t, prompts, tail = self.transcript, self.prompts, self.transcript.last or 1
        self.prompts = []
        summary = len(t.lines) + 2
        way = self.rng.choice(["nothing", "segment", "messages"]) if prompts else "nothing"
        if way == "nothing":
            t.compact()
            return
        head = self.rng.choice(prompts)[0]
        if way == "segment":
            t.compact(
                preservedSegment={"headUuid": t.uuid(head), "anchorUuid": t.uuid(summary), "tailUuid": t.uuid(tail)}
            )
        else:
            names = self.stretch(head, tail)
            t.compact(preservedMessages={"anchorUuid": t.uuid(summary), "uuids": names, "allUuids": names})
        t.last = tail

    def stretch(self, head: int, tail: int) -> list[str]:
        """The ids on the chain from one record to another."""
        parents = {
            value["uuid"]: value["parentUuid"] for value in map(json.loads, self.transcript.lines) if "uuid" in value
        }
        names = [self.transcript.uuid(tail)]
        while names[-1] != self.transcript.uuid(head) and parents[names[-1]] is not None:
            names.append(parents[names[-1]])
        return names[::-1]
