"""The fast way to say that nothing is wrong with conversations whose rows come one after another from a database.

As with lines, the loop knows only health: at the first thing that is in any way odd the rest of the conversation is
skipped, and the exact way reads it from the beginning. Tests hold both ways against each other.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import orjson

from jarvis_ops.dialects.jarvis import Jarvis
from jarvis_ops.model.message import Message
from jarvis_ops.operations.screen import UNUSABLE
from jarvis_ops.rules.repeats import repeats
from jarvis_ops.stores.postgres.lines import IDS, Lines


class Glance(NamedTuple):
    """A conversation after the loop: how many rows, whether all is plainly well, and what else it takes to say so.

    `prompt` says that it ends with a message of the user. `first` is the time of its first row, `highest` the number
    of its last.
    """

    session: str
    records: int
    clean: bool
    prompt: bool = False
    first: int | str | None = None
    highest: int | None = None


class RowScreen:
    """The state of the loop. `run` it over reduced rows (see the store's `Query`), which come by conversation."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.dialect = Jarvis()
        self.open: set[str | None] = set()
        self.calls = array("q")
        self.summaries: set[str] = set()
        self.last_role = ""
        self.state: tuple[Any, ...] = (None, 0, False, None, None, None, False)

    def run(self, batches: Iterable[list[tuple[Any, ...]]]) -> Iterator[Glance]:
        """One glance a conversation."""
        for rows in batches:
            yield from self.loop(rows)
        session, records, odd, first, last, number, _ = self.state
        if session is not None:
            yield self.glance(session, records, first, last, number, odd=odd)

    def loop(self, rows: list[tuple[Any, ...]]) -> Iterator[Glance]:  # noqa: C901, PLR0912 - as the loop over lines
        """Judge some rows. All that every row needs stands here, since a call a row would cost a third of the speed."""
        session, records, odd, first, last, number, replaced = self.state
        role_before, open_calls, summaries = self.last_role, self.open, self.summaries
        for row in rows:
            of, key, role, time, seq, result, calls, content, compacted = row
            if of != session:
                if session is not None:
                    self.last_role = role_before
                    yield self.glance(session, records, first, last, number, odd=odd)
                session, records, odd, first, role_before = of, 1, seq is None, time, ""
                replaced = compacted is not None
            else:
                records += 1
                if odd:
                    continue
                if seq is None or seq <= number:
                    odd = True
                    continue
            number, last = seq, time
            if compacted is not None:
                odd = not replaced
                if compacted:
                    summaries.add(compacted)
            elif replaced:
                odd, replaced = bool(open_calls), False
            if summaries:
                summaries.discard(key)
            if content is not None:
                self.last_role = role_before
                odd = odd or not self.general(row)
                role_before = self.last_role
            elif role == "tool" and calls is None and result in open_calls:
                open_calls.remove(result)
                role_before = role
            elif open_calls or result is not None:
                odd = True
            elif role == "assistant":
                odd = odd or (calls is not None and not self.called(calls))
                role_before = role
            elif role == "user" and calls is None and role_before != "tool":
                role_before = role
            elif role != "system" or calls is not None:
                self.last_role = role_before
                odd = odd or not self.general(row)
                role_before = self.last_role
        self.last_role = role_before
        self.state = session, records, odd, first, last, number, replaced

    def called(self, calls: str) -> bool:
        """Take the calls of an answer; whether they are beyond doubt."""
        if not calls.startswith(IDS):
            return self.meet(self.lines.called(calls))
        for name in orjson.loads(calls):
            if name in self.open or name.strip() in UNUSABLE:
                return False
            self.open.add(name)
            self.calls.append(hash(name))
        return True

    def meet(self, calls: Any) -> bool:
        """Take calls that are told whole; whether they are beyond doubt."""
        return self.take(self.dialect.decode({"role": "assistant", "content": None, "tool_calls": calls}))

    def general(self, row: tuple[Any, ...]) -> bool:
        """A row that the loop does not take; whether it is beyond doubt."""
        message = self.dialect.decode(self.lines.value(row))
        if message.fault or not message.role:
            return False
        if message.results and message.role != "assistant":
            return self.answered(message)
        if self.open or message.results or (message.role == "user" and self.last_role == "tool"):
            return False
        if message.role != "system":
            self.last_role = message.role
        return self.take(message)

    def answered(self, message: Message) -> bool:
        """Take results; whether each belongs to an open call."""
        for result in message.results:
            if result.server or result.id not in self.open:
                return False
            self.open.remove(result.id)
        self.last_role = "tool"
        return True

    def take(self, message: Message) -> bool:
        """Take the calls of a message; whether they are beyond doubt."""
        for call in message.calls:
            if call.fault or call.server or call.id is None or call.id in self.open or call.id.strip() in UNUSABLE:
                return False
            self.open.add(call.id)
            self.calls.append(hash(call.id))
        return not message.fault

    def glance(self, session: str, records: int, first: Any, last: Any, number: Any, *, odd: bool) -> Glance:
        """What is to be said of a conversation that is over; the next one begins."""
        clean = not (odd or self.open or self.summaries or first is None or last is None or repeats(self.calls))
        clean = clean and self.lines.unit(first) == self.lines.unit(last)
        prompt = self.last_role == "user"
        self.open.clear()
        self.summaries.clear()
        del self.calls[:]
        return Glance(session, records, clean, prompt, first, number)
