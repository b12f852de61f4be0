"""Findings that no longer fit, results in unusual places, and lines that cannot be taken apart."""

from __future__ import annotations

from typing import Any

import pytest

from jarvis_ops.model.finding import Finding
from jarvis_ops.model.plan import Refusal, Repair
from jarvis_ops.model.record import Position
from jarvis_ops.rules.findings import found
from tests.plans.healing import LOG, Patient, healed, judged
from tests.plans.talk import answers, asks, asks_for, block, call, encode, message, records, results

USER = message(1, "user")
END = message(90, "assistant", "that is all")


def answer(lines: list[bytes], finding: Finding) -> Repair | Refusal | None:
    return Patient({LOG: b"".join(lines)}).answers([finding])[0]


def at(offset: int, path: str | None = None) -> Position:
    return Position(LOG, None, offset, path)


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("unanswered-call", "the call is not where it was found"),
        ("bad-arguments", "the call is not where it was found"),
        ("orphan-result", "the result is not where it was found"),
        ("misplaced-result", "the result is not where it was found"),
        ("pair-split", "the boundary does not say where it lies"),
        ("split-line", "the lines do not make one record"),
        ("lone-surrogate", "no lone half is written as an escape in the line"),
        ("byte-order-mark", "the file does not begin with a byte order mark"),
    ],
)
def test_a_finding_that_no_longer_fits_is_refused(rule: str, reason: str) -> None:
    said = answer([USER, END], found(rule, at(0, "content"), "", call_id="c1"))
    assert isinstance(said, Refusal)
    assert said.reason == reason


def test_a_misplaced_result_without_a_known_call_is_refused() -> None:
    said = answer([USER, answers("flat", 2, "c1")], found("misplaced-result", at(len(USER), ""), "", call_id="c1"))
    assert isinstance(said, Refusal)
    assert said.reason == "its call is not where it was found"


def test_a_result_that_stands_in_its_place_is_not_moved() -> None:
    lines = [USER, asks("flat", 2, "c1"), answers("flat", 3, "c1")]
    facts = {"call_file": LOG, "call_offset": len(USER)}
    said = answer(lines, found("misplaced-result", at(len(lines[0] + lines[1]), ""), "", call_id="c1", facts=facts))
    assert isinstance(said, Refusal)
    assert said.reason == "it stands behind its call already"


@pytest.mark.parametrize("rule", ["duplicate-id", "bad-shape", "meta-missing"])
def test_what_has_no_repair_here_gets_none(rule: str) -> None:
    assert answer([USER, END], found(rule, at(0), "")) is None
    assert answer([USER, END], found("bad-line", Position(LOG), "")) is None
    assert answer([USER, END], found("orphan-result", Position(LOG), "")) is None


def test_a_line_that_one_reader_takes_and_another_does_not_is_refused() -> None:
    deep = b'"deep":' + b"[" * 1_000 + b"]" * 1_000
    ask = asks_for("flat", 2, {"name": "look", "id": None, "arguments": {}}).replace(b'"role"', deep + b',"role"')
    patient = Patient({LOG: USER + ask + answers("flat", 3, None) + END})
    patient.heal()
    assert patient.contents() == patient.original
    assert {one.reason for one in patient.refused} <= {"its line is of a form that cannot be changed safely"}


def test_a_result_inside_an_answer_moves_into_a_message_of_its_own() -> None:
    inside = message(4, "assistant", [block("c1", "real")], tool_call_id="c1", model="m")
    patient = healed(USER, asks("blocks", 2, "c1"), message(3, "user"), inside, END)
    moved = results(patient.contents()[LOG])[0]
    assert (moved.text, moved.record["role"], moved.record["tool_call_id"]) == ("real", "user", "c1")
    assert [one["role"] for one in records(patient.contents()[LOG])] == [
        "user",
        "assistant",
        "user",
        "user",
        "assistant",
    ]
    assert (patient.done[0].adds, patient.done[0].removes, patient.done[0].moves) == (1, 1, 1)


def test_a_carried_block_of_a_record_without_an_id_gets_none() -> None:
    mixed = encode({"role": "user", "content": [block("c1"), block("c2"), {"type": "text", "text": "x"}]})
    patient = healed(asks("blocks", 2, "c1"), message(3, "assistant"), asks("blocks", 4, "c2"), mixed, END)
    assert results(patient.contents()[LOG])[0].record == {"role": "user", "content": [block("c1")]}
    assert [one.inserted for one in patient.done] == [()]


@pytest.mark.parametrize("key", ["toolCallId", "tool_call_id"])
def test_the_key_of_an_old_store_stays(key: str) -> None:
    def result(number: int, call_id: Any) -> bytes:
        return encode({"id": f"m{number}", "role": "toolResult", key: call_id, "content": "x"})

    content = healed(USER, asks("flat", 2, "c1", "c2"), result(3, "c1"), END).contents()[LOG]
    assert records(content)[3][key] == "c2"
    content = healed(USER, asks("flat", 2, ""), result(3, ""), END).contents()[LOG]
    assert records(content)[2][key] == records(content)[1]["tool_calls"][0]["id"]


def test_a_pair_of_database_rows_gets_an_id() -> None:
    ask = message(2, "assistant", {"text": "b", "tool_calls": [call("flat", "unknown")]})
    content = healed(USER, ask, message(3, "tool", {"text": "c", "tool_call_id": "unknown"}), END).contents()[LOG]
    _, asked, told, _ = records(content)
    assert told["content"]["tool_call_id"] == asked["content"]["tool_calls"][0]["id"] != "unknown"


def test_an_id_that_the_provider_refuses_changes_on_both_sides() -> None:
    lines = [USER, asks("flat", 2, "a b"), answers("flat", 3, "a b"), END]
    said = answer(lines, found("bad-call-id", at(len(USER), "tool_calls[0]"), "", call_id="a b"))
    assert isinstance(said, Repair)
    assert len(said.edits) == 2
    assert said.safety == "safe"


def test_a_call_waits_for_the_result_that_only_lacks_its_id() -> None:
    lines = [USER, asks("flat", 2, "c1"), answers("flat", 3, ""), END]
    finding = next(one for one in judged({LOG: b"".join(lines)}) if one.rule == "unanswered-call")
    assert answer(lines, finding) is None


def test_a_second_result_behind_broken_lines_is_still_beside_the_first() -> None:
    fake, real = answers("flat", 3, "c1", "aborted"), answers("flat", 4, "c1", "real")
    lines = [USER, asks("flat", 2, "c1"), fake, b"\n", b"kernel: oops\n", real, END]
    patient = Patient({LOG: b"".join(lines)})
    finding = next(one for one in judged(patient.contents()) if one.rule == "duplicate-result")
    (said,) = patient.answers([finding])
    assert isinstance(said, Repair)
    patient.apply(said)
    assert patient.removed() == [fake]
