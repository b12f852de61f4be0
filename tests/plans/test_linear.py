"""What becomes of broken pairs, in each of the three forms."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jarvis_ops.plans.placeholders import TEXT
from tests.plans.healing import LOG, Patient, healed, judged
from tests.plans.talk import (
    FORMS,
    answers,
    asks,
    asks_for,
    block,
    call,
    encode,
    ids,
    message,
    records,
    results,
)

each_form = pytest.mark.parametrize("form", FORMS)
USER = message(1, "user")
END = message(90, "assistant", "that is all")


def after(*lines: bytes, **ground: Any) -> bytes:
    return healed(*lines, **ground).contents()[LOG]


@each_form
def test_a_missing_result_is_put_in_behind_the_others(form: str) -> None:
    content = after(USER, asks(form, 2, "c1", "c2", "c3", turn_id="t1"), answers(form, 3, "c2", turn_id="t1"), END)
    assert [one.call_id for one in results(content)] == ["c2", "c1", "c3"]
    made = results(content)[1]
    assert (made.text, made.is_error) == (TEXT, True)
    assert made.record["jarvis_ops"] == {"synthetic": True}
    assert made.record["timestamp"] == records(content)[1]["timestamp"]
    assert made.record["turn_id"] == "t1"
    assert content == after(
        USER, asks(form, 2, "c1", "c2", "c3", turn_id="t1"), answers(form, 3, "c2", turn_id="t1"), END
    )


@each_form
def test_a_missing_result_without_any_neighbour(form: str) -> None:
    content = after(USER, asks(form, 2, "c1"))
    made = results(content)[0]
    assert made.record["role"] == ("user" if form == "blocks" else "tool")
    assert made.record.get("name") == (None if form == "blocks" else "look")
    assert after(USER, asks(form, 2, "c1")[:-1]) == content


def test_what_is_put_in_looks_like_its_neighbours() -> None:
    name = b'"name": "\\ubc14\\ub2e4"'
    ask = b'{"role": "assistant", "tool_calls": [{"id": "c1", %b, "arguments": {}}], "content": ""}\r\n' % name
    old = b'{"tool_call_id": "c0", "role": "toolResult", "content": [{"type": "text", "text": "x"}], "name": "n"}\r\n'
    before = [b'{"role": "user", "content": "a"}\r\n', ask.replace(b"c1", b"c0"), old, ask]
    made = after(*before).removeprefix(b"".join(before))
    assert made == (
        b'{"tool_call_id": "c1", "role": "toolResult", "content": [{"type": "text", "text": "%b"}], '
        b'%b, "is_error": true, "jarvis_ops": {"synthetic": true}}\r\n' % (TEXT.encode(), name)
    )


def test_a_time_in_words_is_copied_and_korean_stays_readable() -> None:
    ask = {"id": "m2", "role": "assistant", "content": "", "tool_calls": [call("flat", "c1", name="바다")]}
    content = after(USER, encode({**ask, "timestamp": "2026-01-01T00:00:00+00:00"}), END)
    assert results(content)[0].record["timestamp"] == "2026-01-01T00:00:00+00:00"
    assert '"name":"바다"'.encode() in content.split(b"\n")[2]


def test_a_result_of_another_store_is_put_in_instead() -> None:
    real = answers("flat", 70, "c1", "the real one")
    assert after(USER, asks("flat", 2, "c1"), END, elsewhere={"c1": real}) == USER + asks("flat", 2, "c1") + real + END
    shared = message(70, "user", [block("c0"), block("c1", "the real one"), {"type": "text", "text": "and more"}])
    content = after(USER, asks("blocks", 2, "c1"), END, elsewhere={"c1": shared.removesuffix(b"\n")})
    assert [(one.call_id, one.text) for one in results(content)] == [("c1", "the real one")]
    assert results(content)[0].record["id"] != "m70"
    without = after(USER, asks("flat", 2, "c1"), END, elsewhere={"c1": b"{}\n"})
    assert results(without)[0].text == TEXT


def test_calls_in_two_forms_get_their_result_in_the_form_of_the_others() -> None:
    ask = message(2, "assistant", [call("blocks", "c1"), call("blocks", "c2")], tool_calls=[call("flat", "c1")])
    content = after(USER, ask, answers("flat", 3, "c2"), END)
    assert [one.record["role"] for one in results(content)] == ["tool", "tool"]


def test_a_row_of_a_database_keeps_its_form() -> None:
    ask = message(2, "assistant", {"text": "b", "tool_calls": [call("flat", "c1")]})
    content = after(USER, ask, END)
    assert records(content)[2]["content"] == {"text": TEXT, "tool_call_id": "c1"}


def test_results_stand_before_what_the_user_says() -> None:
    mixed = message(3, "user", [block("c1"), {"type": "text", "text": "go on"}])
    content = after(USER, asks("blocks", 2, "c1", "c2"), mixed, END)
    assert [one.call_id for one in results(content)] == ["c2", "c1"]


@each_form
def test_a_result_goes_to_its_call_and_nothing_else_moves(form: str) -> None:
    lines = [USER, asks(form, 2, "c1", "c2"), answers(form, 3, "c1"), message(4, "user"), answers(form, 5, "c2"), END]
    patient = healed(*lines)
    assert ids(patient.contents()[LOG]) == ["m1", "m2", "m3", "m5", "m4", "m90"]
    assert patient.removed() == []


@each_form
@pytest.mark.parametrize("between", [message(4, "system"), message(4, "assistant"), message(4, "user")])
def test_results_behind_another_message(form: str, between: bytes) -> None:
    lines = [USER, asks(form, 2, "c1", "c2"), between, answers(form, 5, "c2"), answers(form, 6, "c1"), END]
    assert ids(after(*lines)) == ["m1", "m2", "m5", "m6", "m4", "m90"]


@each_form
def test_a_result_before_its_call(form: str) -> None:
    assert ids(after(USER, answers(form, 2, "c1"), asks(form, 3, "c1"), END)) == ["m1", "m3", "m2", "m90"]
    assert ids(after(USER, answers(form, 2, "c1"), asks(form, 3, "c1")[:-1])) == ["m1", "m3", "m2"]


def test_a_result_at_the_very_end_gets_a_line_end() -> None:
    lines = [USER, asks("flat", 2, "c1"), message(4, "user"), answers("flat", 5, "c1")[:-1]]
    assert ids(after(*lines)) == ["m1", "m2", "m5", "m4"]


def test_several_results_of_one_answer_move_in_their_record() -> None:
    both = message(5, "user", [block("c1"), block("c2")])
    patient = healed(USER, asks("blocks", 2, "c1", "c2"), message(4, "user"), both, END)
    assert ids(patient.contents()[LOG]) == ["m1", "m2", "m5", "m4", "m90"]
    assert patient.removed() == []


def test_one_of_several_blocks_moves_alone() -> None:
    mixed = message(6, "user", [block("c1", {"deep": [1e5]}), block("c2"), {"type": "text", "text": "go on"}])
    lines = [USER, asks("blocks", 2, "c1"), message(3, "assistant"), asks("blocks", 4, "c2"), mixed, END]
    content = after(*lines)
    kept = records(content)
    assert [one.call_id for one in results(content)] == ["c1", "c2"]
    assert kept[2]["content"] == [block("c1", {"deep": [1e5]})]
    assert kept[2]["id"] not in {"m6", None}
    assert [one["type"] for one in kept[5]["content"]] == ["tool_result", "text"]


@each_form
def test_a_result_without_a_call_is_set_aside(form: str) -> None:
    orphan = answers(form, 3, "c9")
    patient = healed(USER, message(2, "assistant"), orphan, END)
    assert ids(patient.contents()[LOG]) == ["m1", "m2", "m90"]
    assert patient.removed() == [orphan]


def test_only_the_block_is_set_aside_where_its_record_holds_more() -> None:
    mixed = message(3, "user", [block("c9", "lost"), block("c1"), {"type": "text", "text": "go on"}])
    patient = healed(USER, asks("blocks", 2, "c1"), mixed, END)
    assert json.loads(patient.contents()[LOG].split(b"\n")[2])["content"][0] == block("c1")
    assert patient.removed() == [json.dumps(block("c9", "lost"), separators=(",", ":")).encode() + b","]


@each_form
@pytest.mark.parametrize("text", ["found", "something else", TEXT])
def test_a_second_result_is_set_aside(form: str, text: str) -> None:
    patient = healed(USER, asks(form, 2, "c1"), answers(form, 3, "c1"), answers(form, 4, "c1", text), END)
    assert patient.removed() == [answers(form, 4, "c1", text)]


PLACEHOLDERS = [
    {"text": TEXT},
    {"text": "aborted"},
    {"text": [{"type": "text", "text": "No result provided"}]},
    {"text": "[openclaw] missing tool result in session history; made up"},
    {"text": "whatever", "jarvis_ops": {"synthetic": True}},
]


@each_form
@pytest.mark.parametrize("none", PLACEHOLDERS)
def test_a_real_result_beats_a_placeholder(form: str, none: dict[str, Any]) -> None:
    fake, real = answers(form, 3, "c1", **none), answers(form, 5, "c1", "real")
    lines = [USER, asks(form, 2, "c1"), fake, real, END]
    assert after(*lines) == USER + asks(form, 2, "c1") + real + END
    for between in (message(4, "user"), message(4, "assistant")):
        patient = healed(USER, asks(form, 2, "c1"), fake, between, real, END)
        assert patient.contents()[LOG] == USER + asks(form, 2, "c1") + real + between + END
        assert patient.removed() == [fake]


def test_a_real_block_takes_the_place_of_a_placeholder_in_another_record() -> None:
    first = message(3, "user", [block("c1", "aborted"), block("c2")])
    second = message(6, "user", [{"type": "text", "text": "late"}, block("c1", "real")])
    content = after(USER, asks("blocks", 2, "c1", "c2"), first, message(4, "assistant"), second, END)
    assert [(one.call_id, one.text) for one in results(content)] == [("c2", "found"), ("c1", "real")]
    both = message(3, "user", [block("c1", "aborted"), block("c1", "real")])
    assert results(after(USER, asks("blocks", 2, "c1"), both, END))[0].text == "real"


def test_a_late_copy_before_the_call_is_set_aside() -> None:
    early = answers("flat", 2, "c1", "early")
    patient = healed(USER, early, message(3, "assistant"), asks("flat", 4, "c1"), answers("flat", 5, "c1"), END)
    assert patient.removed() == [early]


@each_form
def test_a_record_twice(form: str) -> None:
    lines = [USER, asks(form, 2, "c1"), answers(form, 3, "c1")]
    patient = healed(*lines, *lines[1:], END)
    assert patient.contents()[LOG] == b"".join([*lines, END])


def test_what_only_the_provider_can_answer_is_refused() -> None:
    use = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
    for lines in (
        [USER, message(2, "assistant", [use]), END],
        [USER, message(2, "assistant", [use]), message(3, "user", [block("s1")]), END],
    ):
        patient = Patient({LOG: b"".join(lines)})
        patient.heal()
        assert patient.done == []
        assert {one.reason for one in patient.refused} == {
            "the provider itself answers this call, within its own answer, and nobody else can"
        }


def test_a_damaged_line_is_mended_first() -> None:
    lines = [USER, asks("flat", 2, "c1"), message(4, "user"), answers("flat", 5, "c1")[:-1] + END]
    finding = next(one for one in judged({LOG: b"".join(lines)}) if one.rule == "misplaced-result")
    refusal = Patient({LOG: b"".join(lines)}).answers([finding])[0]
    assert refusal is not None
    assert refusal[1] == "its line is damaged, and has to be mended first"


def test_looking_at_one_fault_reads_a_few_lines() -> None:
    from jarvis_ops.dialects.jarvis import Jarvis
    from jarvis_ops.plans.base import Ground
    from jarvis_ops.plans.linear import Linear
    from tests.plans.healing import MemoryPages

    turn = [USER, END] * 2_000
    lines = [*turn, asks("flat", 2, "c1", "c2"), answers("flat", 3, "c1"), END, *turn]
    finding = next(one for one in judged({LOG: b"".join(lines)}) if one.rule == "unanswered-call")
    pages = MemoryPages({LOG: b"".join(lines)})
    Linear(pages, Ground(dialect=Jarvis(), conversation="talk")).repair(finding)
    assert pages.read < 60


@each_form
def test_every_step_says_where_and_why(form: str) -> None:
    bad = [USER, asks(form, 2, "c1", "c2"), message(4, "user", "a secret"), answers(form, 5, "c2", "a secret"), END]
    patient = healed(*bad, answers(form, 6, "c9", "a secret"))
    steps = [step for repair in patient.done for step in repair.steps]
    assert {step.step for step in steps} == {"insert", "move", "set-aside"}
    for step in steps:
        assert step.position.offset is not None
        assert step.why
        assert "secret" not in step.why
        assert (step.to is not None) == (step.step == "move")
    assert sum(one.adds for one in patient.done) == sum(one.moves for one in patient.done) == 1
    assert [name for one in patient.done for name in one.inserted] == [
        one.record["id"] for one in results(patient.contents()[LOG]) if "jarvis_ops" in one.record
    ]


def test_arguments_stay_as_they_are_elsewhere() -> None:
    one, other = call("flat", "c1", {"n": 1}), call("flat", "c2", {"x": "é"})
    lines = [USER, asks_for("flat", 2, one, other, mood=1e5), answers("flat", 3, "c1"), END]
    assert after(*lines).startswith(b"".join(lines[:3]))


MARK = b"\xef\xbb\xbf"


def test_a_byte_order_mark_stays_at_the_beginning() -> None:
    early, ask = answers("flat", 2, "c1"), asks("flat", 3, "c1")
    assert after(MARK + early, ask, END) == MARK + ask + early + END
    assert after(MARK + early, END) == MARK + END
    nameless = asks("flat", 1, "unknown")
    assert after(MARK + nameless, answers("flat", 2, "unknown"), END).startswith(MARK + nameless[:40])


LONG = "x" * 300_000
BROAD = [{"type": "text", "text": LONG}]


@pytest.mark.parametrize(
    "lines",
    [
        [asks("blocks", 2, "c1"), END, message(5, "user", [block("c1", LONG), *BROAD])],
        [asks("blocks", 2, "c1"), message(5, "user", [block("c1", LONG), block("c9", LONG), *BROAD]), END],
        [asks("flat", 2, "c1"), answers("flat", 3, "c1", "aborted"), END, answers("flat", 5, "c1", LONG)],
        [asks_for("flat", 2, call("flat", None, {"q": LONG})), answers("flat", 3, None, LONG), END],
        [asks_for("flat", 2, call("flat", "c1", [LONG])), answers("flat", 3, "c1", LONG), END],
        [asks_for("flat", 2, call("flat", "c1", {"q": LONG}))],
        [END[:-1] + message(3, "user", LONG)],
        [message(3, "user", "%" + LONG).replace(b"%", rb"\ud83d"), END],
        [message(3, "user", "%" + LONG).replace(b"%", b"\xff\0"), END],
        [message(3, "user", "%" + LONG).replace(b"%", b"\n"), END],
    ],
)
def test_what_is_large_is_never_copied(lines: list[bytes]) -> None:
    patient = healed(USER, *lines)
    assert patient.done
    pieces = [piece for repair in patient.done for edit in repair.edits for piece in edit.pieces]
    assert sum(len(piece) for piece in pieces if isinstance(piece, bytes)) < 1_000
    assert all(len(step.bytes or "") < 1_000 for repair in patient.done for step in repair.steps)
