"""Rows that nothing orders come in an order in which they pair, whatever the order in which they were read."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_ops.dialects.jarvis import Jarvis
from jarvis_ops.model.message import Message, ToolCall, ToolResult
from jarvis_ops.model.record import Row
from jarvis_ops.rules.order import Order, Orders
from jarvis_ops.rules.pairing import Pairing
from jarvis_ops.rules.tied import depends

ALONE = Orders(by_time=True, by_seq=False)


def prompt() -> Message:
    return Message(role="user", typed=True)


def word() -> Message:
    return Message(role="assistant")


def ask(*calls: str) -> Message:
    return Message(role="assistant", calls=tuple(ToolCall(call, "") for call in calls))


def reply(call: str) -> Message:
    return Message(role="tool", results=(ToolResult(call, ""),))


def row(number: int, time: int) -> Row:
    return Row("talk", None, 0, b"", table="t", key=str(number), time=time)


def arranged(messages: Sequence[tuple[int, Message]]) -> tuple[Order, list[tuple[Row, Message]]]:
    """Messages with their times, as they are to be judged."""
    order = Order(ALONE, lambda _: "ms")
    by_key = {str(number): message for number, (_, message) in enumerate(messages)}
    rows = (row(number, time) for number, (time, _) in enumerate(messages))
    return order, list(order.arrange(rows, lambda one: by_key[one.key]))


def faults(reads: Sequence[tuple[Row, Message]]) -> list[str]:
    dialect = Jarvis()
    pairing = Pairing(dialect.good_id, dialect.unique_id)
    for one, message in reads:
        pairing.feed(message, one)
    pairing.finish("")
    return [finding.rule for finding in pairing.findings]


@st.composite
def turns(draw: st.DrawFn) -> list[tuple[int, Message]]:
    """Whole turns, the rows of each at a few instants, so that rows of one instant stand together."""
    time, count = 0, 0
    rows: list[tuple[int, Message]] = []
    for _ in range(draw(st.integers(1, 3))):
        time += 1
        rows.append((time, prompt()))
        for _ in range(draw(st.integers(0, 3))):
            time += draw(st.integers(0, 1))
            calls = [f"c{count + number}" for number in range(draw(st.integers(1, 3)))]
            count += len(calls)
            rows.append((time, ask(*calls)))
            time += draw(st.integers(0, 1))
            rows += [(time, reply(call)) for call in calls]
        time += draw(st.integers(0, 1))
        rows.append((time, word()))
    return rows


@given(turns(), st.integers(0, 2**32))
def test_whole_turns_pair_however_they_are_read(rows: list[tuple[int, Message]], seed: int) -> None:
    shuffled = list(rows)
    random.Random(seed).shuffle(shuffled)
    shuffled.sort(key=lambda one: one[0])
    order, reads = arranged(shuffled)
    assert faults(reads) == []
    assert sorted(id(message) for _, message in reads) == sorted(id(message) for _, message in rows)
    times = [time for time, _ in rows]
    assert (order.tie is not None) == (len(set(times)) < len(times))
    assert order.tied_rows == sum(times.count(time) for time in set(times) if times.count(time) > 1)


@given(turns(), st.integers(0, 2**32))
def test_a_tie_of_which_no_pair_depends_pairs_in_any_order(rows: list[tuple[int, Message]], seed: int) -> None:
    shuffled = list(rows)
    random.Random(seed).shuffle(shuffled)
    shuffled.sort(key=lambda one: one[0])
    order, _ = arranged(shuffled)
    if order.tie is None or not order.tie.depends:
        assert faults([(row(0, time), message) for time, message in shuffled]) == []


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        ([reply("1"), reply("2")], False),
        ([prompt(), word()], False),
        ([prompt(), ask("1")], True),
        ([reply("1"), word()], True),
        ([ask("1"), reply("1")], True),
    ],
)
def test_whether_a_pair_depends_on_a_tie(group: list[Message], expected: bool) -> None:
    assert depends([(row(number, 1), message) for number, message in enumerate(group)]) is expected


def test_a_last_word_answers_before_the_next_prompt() -> None:
    _, reads = arranged([(1, ask("1")), (2, reply("1")), (3, prompt()), (3, word())])
    assert [message.role for _, message in reads] == ["assistant", "tool", "assistant", "user"]


def test_calls_whose_results_come_later_stand_last() -> None:
    _, reads = arranged([(1, ask("2")), (1, prompt()), (1, reply("1")), (1, ask("1")), (2, reply("2"))])
    assert faults(reads) == []
