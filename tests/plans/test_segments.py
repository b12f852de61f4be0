"""Conversations in several files: sealed segments, then the live file."""

from __future__ import annotations

from jarvis_ops.model.pieces import Span
from tests.generate import seal
from tests.plans.healing import Files, Patient, errors
from tests.plans.talk import answers, asks, message

LIVE, SEALED = "talk.jsonl", "talk.segments/000001.jsonl"
END = message(90, "assistant", "that is all")


def cut(head: list[bytes], tail: list[bytes]) -> Files:
    sealed = b"".join(head)
    return {SEALED: sealed, LIVE: seal("talk", 1, sealed) + b"".join(tail)}


def healed(files: Files) -> Patient:
    patient = Patient(files)
    assert errors(patient.heal()) == []
    assert Patient(patient.contents()).answers([]) == []
    return patient


def test_a_result_moves_from_the_live_file_to_its_call_in_a_segment() -> None:
    head = [message(1, "user"), asks("flat", 2, "c1"), message(3, "assistant")]
    late = answers("flat", 4, "c1")
    files = cut(head, [message(5, "user"), late, END])
    patient = healed(files)
    after = patient.contents()
    assert after[SEALED] == head[0] + head[1] + late + head[2]
    assert after[LIVE] == files[LIVE].replace(late, b"")
    assert {edit.file for repair in patient.done for edit in repair.edits} == {LIVE, SEALED}
    assert patient.tables[SEALED].pieces[1] == Span(LIVE, files[LIVE].index(late), files[LIVE].index(late) + len(late))


def test_results_that_stand_in_the_next_file_stay_there() -> None:
    head = [message(1, "user"), asks("flat", 2, "c1", "c2")]
    files = cut(head, [answers("flat", 3, "c1"), END])
    after = healed(files).contents()
    assert after[SEALED] == files[SEALED]
    assert after[LIVE].index(b'"tool_call_id":"c2"') > after[LIVE].index(b'"tool_call_id":"c1"')


def test_a_call_at_the_end_of_a_segment_is_answered_there() -> None:
    files = cut([message(1, "user"), asks("flat", 2, "c1")], [message(5, "user"), END])
    after = healed(files).contents()
    assert after[SEALED].startswith(files[SEALED])
    assert after[SEALED].count(b"synthetic") == 1
    assert after[LIVE] == files[LIVE]


def test_bytes_of_a_segment_are_mended_in_it() -> None:
    head = [message(1, "user")[:-1], message(2, "assistant")]
    files = cut(head, [message(5, "user"), END])
    assert healed(files).contents()[SEALED] == message(1, "user") + message(2, "assistant")
    torn = cut([message(1, "user"), message(2, "assistant")[:20]], [message(5, "user"), END])
    assert healed(torn).contents()[SEALED] == message(1, "user")


def test_a_placeholder_in_a_segment_gives_way_to_the_real_result() -> None:
    head = [message(1, "user"), asks("blocks", 2, "c1"), answers("blocks", 3, "c1", "aborted"), message(4, "assistant")]
    real = answers("blocks", 6, "c1", "real")
    files = cut(head, [message(5, "user"), real, END])
    after = healed(files).contents()
    assert after[SEALED] == b"".join([head[0], head[1], real, head[3]])
    assert after[LIVE] == files[LIVE].replace(real, b"")
