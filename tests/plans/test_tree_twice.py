"""What stands in a tree too often, or without a partner, goes aside; what hung on it is relinked."""

from __future__ import annotations

import json
from typing import Any

from tests.plans.tree_talk import answer_to, changed, healed, records, rules, signed, sound, use
from tests.scenarios.made import Transcript, encode

PLACEHOLDER = (
    "No result was recorded for this call. It may or may not have run; check the current state before repeating it."
)


def test_an_orphan_goes_and_its_child_hangs_on_its_parent() -> None:
    t = Transcript()
    t.user()
    t.result("toolu_9")
    t.say("m1")
    patient = sound(t)
    assert changed(patient) == ["3<1"]
    assert patient.removed[0] == t.lines[1]


def test_only_the_orphan_block_leaves_a_record_that_holds_more() -> None:
    t = Transcript()
    t.user()
    t.call("m1", "toolu_1")
    t.user([answer_to("toolu_9"), answer_to("toolu_1"), answer_to("toolu_8")])
    t.say("m2")
    patient = sound(t)
    assert changed(patient) == []
    assert json.loads(patient.lines[2])["message"]["content"] == [answer_to("toolu_1")]
    assert patient.lines[2] == encode(json.loads(patient.lines[2]))


def test_an_orphan_whose_call_was_left_on_another_branch_goes_to_it() -> None:
    t = Transcript()
    before = t.user()
    t.user("left", before)
    call = t.call("m1", "toolu_1")
    t.user("taken", before)
    t.result("toolu_1")
    t.say("m2")
    patient = healed(t)
    assert patient.errors == []
    assert changed(patient) == [f"5<{call}", "6<4"]
    assert patient.removed == [t.lines[4][14:52], t.lines[5][14:52]]


def test_when_the_newest_record_goes_the_conversation_goes_on_at_the_one_before_it() -> None:
    """Without the note the agent would resume on the branch that the user left."""
    t = Transcript()
    before = t.user()
    t.user("taken", before)
    t.say("m1")
    t.lines[-1] = t.lines[-1].replace(b'"timestamp":"2026-03-10T09:00:06', b'"timestamp":"2026-03-10T08:00:00')
    t.user("left", before)
    t.result("toolu_9", 3)
    patient = sound(t)
    assert json.loads(patient.lines[-1])["leafUuid"] == t.uuid(3)
    assert patient.look.reachable == 3


def test_a_compaction_that_named_the_orphan_names_its_parent() -> None:
    t = Transcript()
    t.user()
    t.say("m1")
    t.result("toolu_9")
    t.compact()
    t.say("m2")
    patient = healed(t)
    assert patient.done == []  # compacted, so it is an info
    t = Transcript()
    t.user()
    first = t.user("kept")
    t.say("m1")
    last = t.result("toolu_9")
    summary = len(t.lines) + 2
    t.compact(preservedSegment={"headUuid": t.uuid(first), "anchorUuid": t.uuid(summary), "tailUuid": t.uuid(last)})
    t.last = last
    t.user()
    t.say("m2")
    patient = sound(t)
    boundary = next(one for one in records(patient) if one.get("subtype") == "compact_boundary")
    assert boundary["logicalParentUuid"] == t.uuid(last - 1)
    assert boundary["compactMetadata"]["preservedSegment"]["tailUuid"] == t.uuid(last - 1)
    assert patient.look.reachable == patient.first.reachable - 1


def test_a_compaction_that_listed_the_orphan_lists_it_no_longer() -> None:
    t = Transcript()
    t.user()
    first = t.user("kept")
    orphan = t.result("toolu_9")
    last = t.say("m1")
    names = [t.uuid(line) for line in (first, orphan, last)]
    summary = len(t.lines) + 2
    t.compact(preservedMessages={"anchorUuid": t.uuid(summary), "uuids": names, "allUuids": names})
    t.last = last
    t.user()
    patient = sound(t)
    boundary = next(one for one in records(patient) if one.get("subtype") == "compact_boundary")
    assert boundary["compactMetadata"]["preservedMessages"]["uuids"] == [t.uuid(first), t.uuid(last)]
    assert boundary["compactMetadata"]["preservedMessages"]["allUuids"] == [t.uuid(first), t.uuid(last)]


def test_of_two_real_results_the_first_stays() -> None:
    t = Transcript()
    t.user()
    t.call("m1", "toolu_1")
    t.result("toolu_1", content="first")
    t.result("toolu_1", content="second")
    t.say("m2")
    patient = sound(t)
    assert changed(patient) == ["5<3"]
    assert patient.removed[0] == t.lines[3]


def test_a_real_result_wins_over_one_that_was_made_up_before_it() -> None:
    t = Transcript()
    t.user()
    t.call("m1", "toolu_1")
    t.result("toolu_1", content=PLACEHOLDER, jarvis_ops={"synthetic": True})
    t.user("go on")
    t.result("toolu_1", content="late but real")
    t.say("m2")
    patient = sound(t)
    assert rules(patient) == ["duplicate-result", "misplaced-result"]
    assert patient.removed[0] == t.lines[2]
    assert changed(patient) == ["4<5", "5<2", "6<4"]


def test_a_second_call_word_for_word_goes_with_its_result() -> None:
    t = Transcript()
    t.user()
    t.answer("m1", use("toolu_1"), use("toolu_1"))
    t.user([answer_to("toolu_1", "first"), answer_to("toolu_1", "second")])
    t.say("m2")
    patient = sound(t)
    values = records(patient)
    assert values[1]["message"]["content"] == [use("toolu_1")]
    assert values[2]["message"]["content"] == [answer_to("toolu_1", "first")]


def test_another_call_with_the_same_id_gets_its_own_with_the_result_that_hangs_on_it() -> None:
    t = Transcript()
    t.user()
    one = t.call("m1", "toolu_1", input={"command": "ls"})
    two = t.call("m1", "toolu_1", input={"command": "pwd"})
    t.result("toolu_1", two, "of pwd")
    t.result("toolu_1", one, "of ls")
    t.say("m2")
    patient = sound(t)
    assert rules(patient) == ["duplicate-call-id"]
    values = records(patient)
    new = values[2]["message"]["content"][0]["id"]
    assert new.startswith("toolu_1_")
    assert [one["message"]["content"][0]["tool_use_id"] for one in values[3:5]] == [new, "toolu_1"]


def test_the_line_of_the_call_that_a_result_names_counts_most() -> None:
    t = Transcript()
    t.user()
    t.call("m1", "toolu_1", input={"command": "ls"})
    t.call("m1", "toolu_1", input={"command": "pwd"})
    t.result("toolu_1", content="of pwd", sourceToolAssistantUUID=t.uuid(3))
    t.result("toolu_1", content="of ls", sourceToolAssistantUUID=t.uuid(2))
    t.say("m2")
    values = records(sound(t))
    assert values[3]["message"]["content"][0]["tool_use_id"] == values[2]["message"]["content"][0]["id"] != "toolu_1"


def test_one_result_for_two_calls_of_one_id_is_given_to_nobody() -> None:
    t = Transcript()
    t.user()
    t.answer("m1", use("toolu_1", command="ls"), use("toolu_1", command="pwd"))
    t.result("toolu_1")
    t.say("m2")
    patient = healed(t)
    assert patient.done == []
    assert [one.reason for one in patient.refused] == [
        "two calls share this id and have one result, and nobody can tell whose it is"
    ]


def test_an_id_of_an_earlier_answer_is_changed_in_the_later_pair() -> None:
    t = Transcript()
    for name in ("m1", "m2"):
        t.user()
        t.call(name, "toolu_1")
        t.result("toolu_1")
    t.say("m3")
    patient = sound(t)
    values = records(patient)
    new = values[4]["message"]["content"][0]["id"]
    assert new == values[5]["message"]["content"][0]["tool_use_id"] != "toolu_1"
    assert patient.lines[:4] == t.lines[:4]
    assert patient.lines[6:] == t.lines[6:]


def test_an_id_before_signed_thinking_is_changed_only_when_asked() -> None:
    t = Transcript()
    for name in ("m1", "m2"):
        t.user()
        t.call(name, "toolu_1")
        t.result("toolu_1")
    t.answer("m3", signed())
    t.say("m3")
    assert healed(t).done == []
    assert healed(t).errors == ["duplicate-call-id"]
    assert rules(sound(t, "duplicate-call-id")) == ["duplicate-call-id"]


def test_a_refused_id_is_changed_on_both_sides() -> None:
    t = Transcript()
    t.user()
    t.call("m1", "call #7")
    t.result("call #7")
    t.say("m2")
    values = records(sound(t))
    new = values[1]["message"]["content"][0]["id"]
    assert new == values[2]["message"]["content"][0]["tool_use_id"]
    assert new.startswith("toolu_")


def test_calls_without_ids_get_them_where_each_result_hangs_on_its_own() -> None:
    t = Transcript()
    t.user()
    one, two = t.call("m1", None), t.call("m1", "")
    t.result("", two, "of two")
    t.result("unknown", one, "of one")
    t.say("m2")
    values = records(sound(t))
    ids = [
        value["message"]["content"][0].get("id") or value["message"]["content"][0]["tool_use_id"]
        for value in values[1:5]
    ]
    assert ids == [ids[0], ids[1], ids[1], ids[0]]
    assert ids[0] != ids[1]


def test_results_that_could_be_either_call_s_are_left_alone() -> None:
    t = Transcript()
    t.user()
    t.answer("m1", use(None), use(""))
    t.user([answer_to(None), answer_to("")])
    t.say("m2")
    patient = healed(t)
    assert patient.done == []
    assert {one.finding.rule for one in patient.refused} == {"bad-call-id"}


def test_a_result_without_an_id_goes_to_the_one_open_call_else_aside() -> None:
    t = Transcript()
    t.user()
    t.call("m1", "toolu_1")
    t.user([{"type": "tool_result", "content": "x"}])
    t.say("m2")
    patient = sound(t)
    assert rules(patient) == ["bad-call-id"]
    assert records(patient)[2]["message"]["content"] == [
        {"tool_use_id": "toolu_1", "type": "tool_result", "content": "x"}
    ]
    t = Transcript()
    t.user()
    t.say("m1")
    t.result("unknown")
    t.say("m2")
    patient = sound(t)
    assert changed(patient) == ["4<2"]
    assert patient.removed[0] == t.lines[2]


def test_arguments_become_an_object() -> None:
    broken: tuple[Any, ...] = (None, [], '{"a')
    t = Transcript()
    t.user()
    t.answer(
        "m1",
        *({"type": "tool_use", "id": f"toolu_{n}", "name": "B", "input": value} for n, value in enumerate(broken)),
    )
    t.user([answer_to(f"toolu_{n}") for n in range(3)])
    t.say("m2")
    inputs = [block["input"] for block in records(sound(t))[1]["message"]["content"]]
    assert inputs == [{}, {}, {"_unparsed": '{"a'}]


def test_a_record_that_stands_twice_is_changed_twice() -> None:
    """Changed once, the two would be different records with one id."""
    t = Transcript()
    t.user()
    t.answer("m1", {**use("toolu_1"), "input": None})
    t.raw(t.lines[-1])
    t.result("toolu_1", 2)
    t.say("m2", parent=4)
    patient = sound(t)
    assert patient.lines[1] == patient.lines[2] != t.lines[1]
    assert [one.severity for one in patient.look.findings if one.rule == "repeated-record"] == ["info"]
