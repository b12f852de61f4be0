"""The end of a conversation, read backwards as far as its last whole turn: the cost does not grow with its length."""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ops.dialects.base import Dialect
from jarvis_ops.model.message import Message
from jarvis_ops.model.record import Record
from jarvis_ops.rules.seams import strict
from jarvis_ops.stores.base import Snapshot


class OneTurn:
    """The records of one turn, met from its end to its beginning."""

    def __init__(self) -> None:
        self.results: set[str | None] = set()
        self.answered = False
        self.whole = True

    def meet(self, message: Message) -> None:
        """Take the record before the ones met so far."""
        if not message.sent:
            return
        if message.role == "assistant" and not message.calls and not message.results:
            self.answered = self.answered or not self.results
        for call in message.calls:
            if call.id in self.results:
                self.results.remove(call.id)
            else:
                self.whole = False
        self.results.update(result.id for result in message.results)

    @property
    def closed(self) -> bool:
        """Whether the turn has its answer, and every call in it its result."""
        return self.whole and self.answered and not self.results


def tail(snapshot: Snapshot, dialect: Dialect) -> Iterator[Record]:
    """The records from the first turn, seen from the end, that is whole and closed, to the end of the conversation."""
    collected: list[Record] = []
    turn = OneTurn()
    for record in snapshot.newest_first():
        collected.append(record)
        value = strict(record.raw)
        if not isinstance(value, dict):
            turn.whole = turn.whole and not record.raw.strip()
            continue
        message = dialect.decode(value)
        if message.chain is not None:
            continue
        turn.meet(message)
        if message.typed and message.sent:
            if turn.closed:
                break
            turn = OneTurn()
    yield from reversed(collected)
