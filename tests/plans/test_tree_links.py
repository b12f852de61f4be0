"""Broken links are mended when somebody asks, and what hung on a lost record is relinked with its line."""

from __future__ import annotations

import json

import pytest

from tests.plans.tree_talk import changed, healed, rules, sound
from tests.scenarios.made import Transcript, encode

PHANTOM = "ffffffff-0000-4000-8000-000000000000"


def test_a_missing_parent_is_replaced_by_the_record_before_only_when_asked() -> None:
    t = Transcript()
    t.user()
    t.say("m1")
    t.user("on", PHANTOM)
    t.say("m2")
    assert healed(t).done == []
    patient = sound(t, "dangling-parent")
    assert changed(patient) == ["3<2"]
    assert patient.look.reachable == 4


def test_a_circle_opens_at_the_record_whose_parent_comes_later() -> None:
    t = Transcript()
    t.user()
    t.user("round", "aaaaaaaa-0000-4000-8000-000000000003")
    t.say("m1")
    assert changed(sound(t, "parent-cycle")) == ["2<1"]
    first = Transcript()
    first.user("round", "aaaaaaaa-0000-4000-8000-000000000002")
    first.say("m1")
    assert changed(sound(first, "parent-cycle")) == ["1<0"]


def test_a_second_root_is_linked_when_asked() -> None:
    t = Transcript()
    t.user()
    t.say("m1")
    t.user("on", None)
    t.say("m2")
    assert changed(sound(t, "extra-root")) == ["3<2"]


def test_nothing_is_linked_where_the_record_before_has_another_child() -> None:
    t = Transcript()
    t.user()
    t.say("m1")
    t.user("on", PHANTOM)
    t.user("other", 2)
    patient = healed(t, "dangling-parent")
    assert patient.done == []
    assert len(patient.refused) == 1


def test_a_reply_is_not_put_before_a_message_of_the_user() -> None:
    t = Transcript()
    question = t.user()
    t.say("m1")
    t.user("next", question)
    t.say("m2")
    patient = healed(t, "unreachable-record")
    assert patient.done == []
    assert [one.finding.rule for one in patient.refused] == ["unreachable-record"]


def test_the_later_of_two_notes_gets_an_id_and_the_message_keeps_its_children() -> None:
    t = Transcript()
    t.user()
    t.say("m1")
    note = json.loads(t.lines[-1])
    t.raw(encode({**note, "type": "saved_hook_context", "message": None, "content": ["x"]}))
    t.user("on", 2)
    assert healed(t).done == []
    patient = sound(t, "duplicate-id")
    assert changed(patient) == ["+1<1"]
    assert patient.look.reachable == patient.first.reachable + 1


def test_two_messages_with_one_id_and_a_child_are_left_alone() -> None:
    t = Transcript()
    t.user()
    t.say("m1")
    t.raw(t.lines[-1].replace(b'"ok"', b'"other"'))
    t.user("on", 2)
    patient = healed(t, "duplicate-id")
    assert patient.done == []
    assert len(patient.refused) == 1


@pytest.mark.parametrize("what", ["head", "tail", "hole", "nothing but NUL"])
def test_what_hung_on_a_lost_record_hangs_on_its_parent(what: str) -> None:
    t = Transcript()
    t.user()
    t.say("m1")
    t.user("lost, however long it was")
    t.say("m2")
    raw = t.lines[2]
    middle = len(raw) // 2
    t.lines[2] = {
        "head": raw[middle:],
        "tail": raw[:middle] + b"\n",
        "hole": raw[:150] + b"\0" * (len(raw) - 250) + raw[-100:],
        "nothing but NUL": b"\0" * len(raw) + b"\n",
    }[what]
    patient = sound(t)
    assert json.loads(patient.lines[2])["parentUuid"] == t.uuid(2)
    assert len(patient.lines) == 3
    assert patient.look.reachable == 3


def test_the_parent_that_a_torn_line_names_counts_before_the_record_before_it() -> None:
    t = Transcript()
    t.user()
    asked = t.say("m1")
    t.user("left", asked)
    t.say("m2")
    t.user("taken", asked)
    t.say("m3")
    t.lines[4] = t.lines[4][:150] + b"\n"
    patient = sound(t)
    assert json.loads(patient.lines[4])["parentUuid"] == t.uuid(asked)


def test_a_record_behind_a_torn_piece_on_its_own_line_is_relinked() -> None:
    t = Transcript()
    t.user()
    t.say("m1")
    t.user("lost")
    t.say("m2")
    t.lines[2:] = [t.lines[2][:150] + t.lines[3]]
    patient = sound(t)
    assert rules(patient) == ["glued-lines"]
    assert json.loads(patient.lines[2])["parentUuid"] == t.uuid(2)
    assert patient.lines[2] == t.lines[2][150:].replace(t.uuid(3).encode(), t.uuid(2).encode())


def test_a_compaction_behind_a_lost_record_names_the_one_before() -> None:
    t = Transcript()
    t.user()
    t.say("m1")
    t.say("m2")
    t.compact()
    t.lines[2] = t.lines[2][len(t.lines[2]) // 2 :]
    patient = sound(t)
    assert json.loads(patient.lines[2])["logicalParentUuid"] == t.uuid(2)


def test_a_whole_record_that_nobody_can_keep_is_taken_out_of_the_chain() -> None:
    """NaN is no JSON, though some read it."""
    t = Transcript()
    t.user()
    t.say("m1")
    t.say("m2")
    t.lines[1] = t.lines[1].replace(b'"input_tokens":10', b'"input_tokens":NaN')
    patient = healed(t)
    assert changed(patient) == ["3<1"]


def test_where_the_record_before_has_another_child_the_line_goes_and_the_link_stays_broken() -> None:
    t = Transcript()
    t.user()
    t.say("m1")
    t.user("lost")
    t.say("m2")
    t.user("other", 2)
    t.lines[2] = t.lines[2][len(t.lines[2]) // 2 :]
    patient = healed(t)
    assert patient.errors == ["dangling-parent"]
    assert len(patient.lines) == 4
