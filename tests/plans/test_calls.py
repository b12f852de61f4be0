"""What becomes of bad ids and bad arguments."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jarvis_ops.plans.placeholders import TEXT
from tests.plans.healing import LOG, Patient, healed
from tests.plans.talk import FORMS, answers, asks, asks_for, block, call, encode, message, records, results

each_form = pytest.mark.parametrize("form", FORMS)
USER = message(1, "user")
END = message(90, "assistant", "that is all")
NAMELESS = (None, "", " ", "unknown")


def after(*lines: bytes) -> bytes:
    return healed(*lines).contents()[LOG]


def call_ids(content: bytes, number: int = 1) -> list[Any]:
    record = records(content)[number]
    calls = record.get("tool_calls") or [one for one in record["content"] if one["type"] == "tool_use"]
    return [one["id"] for one in calls]


@each_form
def test_the_same_call_twice_is_set_aside(form: str) -> None:
    lines = [asks(form, 2, "c1", "c1", "c2"), answers(form, 3, "c1"), answers(form, 4, "c1"), answers(form, 5, "c2")]
    patient = healed(USER, *lines, END)
    assert call_ids(patient.contents()[LOG]) == ["c1", "c2"]
    assert [one.call_id for one in results(patient.contents()[LOG])] == ["c1", "c2"]
    assert {one.safety for one in patient.done} == {"lossy"}


@each_form
def test_another_call_with_that_id_is_renamed_with_its_result(form: str) -> None:
    pair = [call(form, "c1", {"n": 1}), call(form, "c1", {"n": 2})]
    patient = healed(USER, asks_for(form, 2, *pair), answers(form, 3, "c1", "one"), answers(form, 4, "c1", "two"), END)
    first, second = call_ids(patient.contents()[LOG])
    assert first == "c1" != second
    assert [(one.call_id, one.text) for one in results(patient.contents()[LOG])] == [("c1", "one"), (second, "two")]
    assert [one.safety for one in patient.done] == ["safe"]


@each_form
def test_a_renamed_call_without_a_result_gets_one_that_says_so(form: str) -> None:
    calls = [call(form, "c1", {"n": number}) for number in range(3)]
    content = after(USER, asks_for(form, 2, *calls), answers(form, 3, "c1", "one"), END)
    assert [one.call_id for one in results(content)] == call_ids(content)
    assert [one.text for one in results(content)] == ["one", TEXT, TEXT]


def test_two_results_in_one_record_are_told_apart() -> None:
    pair = [call("blocks", "c1", {"n": 1}), call("blocks", "c1", {"n": 2})]
    content = after(
        USER, asks_for("blocks", 2, *pair), message(3, "user", [block("c1", "one"), block("c1", "two")]), END
    )
    assert [(one.call_id, one.text) for one in results(content)] == list(
        zip(call_ids(content), ("one", "two"), strict=True)
    )


def test_a_call_in_two_forms_is_renamed_in_both() -> None:
    blocks = [call("blocks", "c1", {"n": 1}), call("blocks", "c1", {"n": 2})]
    listed = [call("openai", "c1", {"n": 1}), call("openai", "c1", {"n": 2})]
    ask = message(2, "assistant", [{"type": "text", "text": "c1"}, *blocks], tool_calls=listed)
    content = after(USER, ask, answers("flat", 3, "c1"), answers("flat", 4, "c1"), END)
    record = records(content)[1]
    assert [one["id"] for one in record["tool_calls"]] == [one["id"] for one in record["content"][1:]]
    assert len({one.call_id for one in results(content)}) == 2


@each_form
@pytest.mark.parametrize("bad", NAMELESS)
def test_a_pair_without_an_id_gets_one(form: str, bad: Any) -> None:
    patient = healed(USER, asks(form, 2, bad), answers(form, 3, bad), END)
    (name,) = call_ids(patient.contents()[LOG])
    assert name
    assert [one.call_id for one in results(patient.contents()[LOG])] == [name]
    assert patient.removed() == ([] if bad is None else [json.dumps(bad).encode()] * 2) or bad is None


def test_ids_that_are_not_even_there() -> None:
    ask = message(2, "assistant", "", tool_calls=[{"name": "look", "arguments": {}}])
    content = after(USER, ask, message(3, "tool", "x"), END)
    assert call_ids(content) == [results(content)[0].call_id]
    spaced = b'{"id": "m3", "role": "user", "content": [{"type": "tool_result", "content": "x"}]}\n'
    ask = message(2, "assistant", [{"type": "tool_use", "name": "look", "input": {}}])
    content = after(USER, ask, spaced, END)
    assert call_ids(content) == [results(content)[0].call_id]
    assert b'[{"tool_use_id": "call_' in content


def test_several_pairs_are_told_apart_by_spelling_or_name() -> None:
    calls = [call("flat", "", name="one"), call("flat", "unknown", name="two")]
    content = after(
        USER, asks_for("flat", 2, *calls), answers("flat", 3, "unknown", "2"), answers("flat", 4, "", "1"), END
    )
    assert [one.call_id for one in results(content)] == list(reversed(call_ids(content)))
    calls = [call("flat", None, name="one"), call("flat", None, name="two")]
    named = [answers("flat", 3, None, "2", name="two"), answers("flat", 4, None, "1", name="one")]
    content = after(USER, asks_for("flat", 2, *calls), *named, END)
    assert [one.call_id for one in results(content)] == list(reversed(call_ids(content)))


@each_form
def test_what_cannot_be_told_apart_is_refused(form: str) -> None:
    lines = [USER, asks(form, 2, None, None), answers(form, 3, None), answers(form, 4, None), END]
    patient = Patient({LOG: b"".join(lines)})
    patient.heal()
    assert patient.done == []
    assert {one.reason for one in patient.refused} == {
        "no result belongs to this call for certain, so it gets no id by itself"
    }


@each_form
def test_a_result_without_an_id_goes_to_the_one_open_call(form: str) -> None:
    content = after(USER, asks(form, 2, "c1", "c2"), answers(form, 3, "c2"), answers(form, 4, None, "real"), END)
    assert [(one.call_id, one.text) for one in results(content)] == [("c2", "found"), ("c1", "real")]


@each_form
def test_a_result_that_no_open_call_can_own_is_set_aside(form: str) -> None:
    lost = answers(form, 3, "unknown", "lost")
    patient = healed(USER, asks(form, 2, "c1"), lost, answers(form, 4, "c1"), END)
    assert patient.removed() == [lost]
    assert healed(USER, lost, END).removed() == [lost]


@each_form
def test_a_result_that_two_open_calls_could_own_is_refused(form: str) -> None:
    patient = Patient({LOG: b"".join([USER, asks(form, 2, "c1", "c2"), answers(form, 3, None), END])})
    patient.heal()
    assert patient.done == []
    assert {one.reason for one in patient.refused} == {
        "a result without a usable id stands there, and several calls could own it"
    }


def test_a_result_that_stands_far_away_keeps_its_call() -> None:
    lines = [
        USER,
        asks("flat", 2, "c1"),
        answers("flat", 3, ""),
        message(4, "assistant"),
        answers("flat", 5, "c1", "real"),
        END,
    ]
    assert [(one.call_id, one.text) for one in results(after(*lines))] == [("c1", "real")]


def arguments(form: str, given: Any) -> Any:
    """What becomes of these arguments."""
    one = call(form, "c1", {})
    if form == "openai":
        one["function"]["arguments"] = given
    else:
        one["input" if form == "blocks" else "arguments"] = given
    content = after(USER, asks_for(form, 2, one), answers(form, 3, "c1"), END)
    record = records(content)[1]
    if form == "blocks":
        return record["content"][0]["input"]
    held = record["tool_calls"][0]
    return held["function"]["arguments"] if form == "openai" else held["arguments"]


@pytest.mark.parametrize(
    ("form", "given", "wanted"),
    [
        ("flat", None, {}),
        ("flat", [], {}),
        ("flat", 7, {"_unparsed": 7}),
        ("flat", True, {"_unparsed": True}),
        ("flat", [1e5], {"_unparsed": [1e5]}),
        ("flat", '{"q": "cut 정', '{"_unparsed": "{\\"q\\": \\"cut 정"}'),
        ("flat", "[1]", '{"_unparsed": "[1]"}'),
        ("flat", "", "{}"),
        ("openai", None, "{}"),
        ("openai", "null", "{}"),
        ("openai", " ", "{}"),
        ("openai", [1], '{"_unparsed": [1]}'),
        ("openai", '{"q": "cut', '{"_unparsed": "{\\"q\\": \\"cut"}'),
        ("blocks", None, {}),
        ("blocks", "", {}),
        ("blocks", [1, "a"], {"_unparsed": [1, "a"]}),
        ("blocks", '{"q": "cut', {"_unparsed": '{"q": "cut'}),
        ("blocks", '{\n"q": "정원"}', {"q": "정원"}),
    ],
)
def test_arguments_become_an_object(form: str, given: Any, wanted: Any) -> None:
    assert arguments(form, given) == wanted


def test_missing_input_becomes_an_empty_object() -> None:
    ask = message(2, "assistant", [{"type": "tool_use", "id": "c1", "name": "look"}])
    assert records(after(USER, ask, answers("blocks", 3, "c1"), END))[1]["content"][0]["input"] == {}


def test_numbers_keep_their_spelling() -> None:
    ask = encode(
        {"id": "m2", "role": "assistant", "content": "", "tool_calls": [call("flat", "c1", {})], "timestamp": 3}
    )
    ask = ask.replace(b'"arguments":{}', b'"arguments":[1e5, 1.0]').replace(b'"content":""', b'"x":1e5,"content":""')
    content = after(USER, ask, answers("flat", 3, "c1"), END)
    assert b'"arguments":{"_unparsed":[1e5, 1.0]}' in content
    assert b'"x":1e5' in content
