"""A compaction whose boundary lies between a call and its result."""

from __future__ import annotations

from typing import Any

import pytest

from tests.plans.healing import LOG, Patient, healed
from tests.plans.talk import FORMS, answers, asks, encode, message, records

TURN = [message(1, "user"), message(2, "assistant")]
END = message(90, "assistant", "that is all")


def compaction(through: str, first: Any = "m1", **more: Any) -> bytes:
    return encode(
        {"type": "pippa_compaction", "id": "k1", "summary": "é", "from_id": first, "through_id": through, **more}
    )


def moved(*lines: bytes) -> dict[str, Any]:
    """The compaction after healing; nothing else has changed."""
    patient = healed(*lines)
    before, after = records(b"".join(lines)), records(patient.contents()[LOG])
    marker = next(one for one in after if one.get("type") == "pippa_compaction")
    assert [one for one in after if one != marker] == [one for one in before if one.get("type") != "pippa_compaction"]
    return marker


@pytest.mark.parametrize("form", FORMS)
def test_it_moves_back_to_the_beginning_of_the_turn(form: str) -> None:
    turn = [message(3, "user"), message(4, "assistant"), asks(form, 5, "c1", "c2"), answers(form, 6, "c1")]
    marker = moved(*TURN, *turn, compaction("m6", count=6), answers(form, 7, "c2"), END)
    assert (marker["through_id"], marker["count"], marker["summary"]) == ("m2", 2, "é")
    marker = moved(*TURN, *turn, answers(form, 7, "c2"), END, compaction("m5"))
    assert (marker["through_id"], marker.get("count")) == ("m2", None)


def test_a_count_that_cannot_be_right_stays() -> None:
    turn = [message(3, "user"), asks("flat", 4, "c1"), answers("flat", 5, "c1"), END]
    assert moved(*TURN, *turn, compaction("m4", count=1))["count"] == 1


def test_where_the_turn_is_the_first_it_moves_to_its_answer() -> None:
    turn = [message(1, "user"), asks("flat", 2, "c1"), answers("flat", 3, "c1"), END]
    assert moved(*turn, compaction("m2", count=2))["through_id"] == "m1"
    later = [message(3, "user"), message(4, "assistant"), asks("flat", 5, "c1"), answers("flat", 6, "c1"), END]
    assert moved(*TURN, *later, compaction("m5", first="m3"))["through_id"] == "m4"


def test_proactive_messages_and_those_without_an_id_are_no_boundary() -> None:
    bell = message(8, "assistant", "bell", proactive=True)
    bare = b'{"role":"system","content":"x"}\n'
    turn = [message(3, "user"), asks("flat", 4, "c1"), answers("flat", 5, "c1"), END]
    assert moved(*TURN, bell, bare, *turn, compaction("m4", count=5))["through_id"] == "m2"


@pytest.mark.parametrize("first", ["m1", None])
def test_with_nothing_before_the_call_it_is_refused(first: Any) -> None:
    lines = [asks("flat", 1, "c1"), answers("flat", 2, "c1"), END, compaction("m1", first=first)]
    patient = Patient({LOG: b"".join(lines)})
    patient.heal()
    assert patient.done == []
    assert [one.reason for one in patient.refused] == [
        "no message stands before the call, with which the compaction could end"
    ]


def test_several_pairs_across_one_boundary() -> None:
    turn = [message(3, "user"), asks("flat", 4, "c1", "c2"), answers("flat", 5, "c1"), answers("flat", 6, "c2"), END]
    assert moved(*TURN, *turn, compaction("m4", count=4))["count"] == 2


def test_a_result_behind_the_boundary_and_another_message() -> None:
    turn = [message(3, "user"), asks("flat", 4, "c1"), message(5, "user"), answers("flat", 6, "c1"), END]
    patient = healed(*TURN, *turn, compaction("m5", count=5))
    after = records(patient.contents()[LOG])
    assert [one["id"] for one in after] == ["m1", "m2", "m3", "m4", "m6", "m5", "m90", "k1"]
    assert (after[-1]["through_id"], after[-1]["count"]) == ("m2", 2)
