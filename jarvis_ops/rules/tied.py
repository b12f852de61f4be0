"""Rows that nothing orders: the order in which they pair, and whether a pair depends on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from jarvis_ops.model.message import Message
from jarvis_ops.model.record import Row

Read = tuple[Row, Message]


Meet = Callable[[Sequence[Read], bool], None]


def in_pairs(reads: Iterator[Read], *, tied: Callable[[Row, Row], bool], meet: Meet) -> Iterator[Read]:
    """The rows in the order in which they pair; `meet` is told each group of tied ones, and if a pair depends on it."""
    waiting = Waiting()
    group: list[Read] = []
    for read in reads:
        if group and not tied(group[-1][0], read[0]):
            yield from _settled(group, waiting, meet)
            group = []
        group.append(read)
    yield from _settled(group, waiting, meet)


def _settled(group: list[Read], waiting: Waiting, meet: Meet) -> Iterator[Read]:
    if len(group) > 1:
        group = waiting.settle(group)
        meet(group, depends(group))
    for read in group:
        waiting.take(read[1])
        yield read


def depends(group: Sequence[Read]) -> bool:
    """Whether another order of these rows could break a pair: there are calls or results, and not results alone."""
    return any(message.calls or message.results for _, message in group) and not all(
        message.results and message.role != "assistant" for _, message in group
    )


class Waiting:
    """What the rows so far leave to be answered: `open` are calls, in their order; `awaits` says an answer is due."""

    def __init__(self) -> None:
        self.open: dict[str, None] = {}
        self.awaits = False

    def take(self, message: Message) -> None:
        """Take the next row."""
        if message.role == "assistant":
            self.open = {call.id: None for call in message.calls if call.id is not None}
            self.awaits = bool(message.calls)
        for result in message.results:
            self.open.pop(result.id or "", None)
        if message.results or message.role == "user":
            self.awaits = True

    def settle(self, group: list[Read]) -> list[Read]:
        """Tied rows in the order in which they pair; those between which nothing decides stay as they were read."""
        answers: dict[str, list[Read]] = {}
        others: list[Read] = []
        for read in group:
            message = read[1]
            if message.results and message.role != "assistant":
                answers.setdefault(message.results[0].id or "", []).append(read)
            else:
                others.append(read)
        order = [read for call in self.open for read in answers.pop(call, [])]
        blocks = {id(read[1]) for read in others if read[1].calls and _answered(read[1], answers)}
        late = self.awaits and not blocks and any(_is_word(message) for _, message in others)
        for read in sorted(others, key=lambda one: _rank(one[1], blocks, late=late)):
            order.append(read)
            order += [answer for call in read[1].calls for answer in answers.pop(call.id or "", [])]
        # A result that belongs to none of them stands first, where it cuts no pair apart.
        stray = [answer for rest in answers.values() for answer in rest]
        return [*stray, *order]


def _rank(message: Message, blocks: set[int], *, late: bool) -> int:
    """Where a message goes: the prompt, calls with their results, the last word, calls without, a `late` prompt."""
    if message.role != "assistant":
        return 4 if late else 0
    if not message.calls:
        return 2
    return 1 if id(message) in blocks else 3


def _is_word(message: Message) -> bool:
    return message.role == "assistant" and not message.calls


def _answered(message: Message, answers: dict[str, list[Read]]) -> bool:
    return all((call.id or "") in answers for call in message.calls)
