"""Calls and results in a tree come together by relinking, and a missing result is put in where it is sent."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.plans.tree_patient import Patient
from tests.plans.tree_talk import answer_to, changed, healed, records, rules, sound, use, ways
from tests.scenarios.made import SESSION, Transcript, encode

OTHER = "99999999-2222-4333-8444-555555555555"


def made(patient: Patient) -> list[dict[str, object]]:
    return [one for one in records(patient) if "jarvis_ops" in one]


def test_the_result_hangs_on_the_last_record_of_its_answer_on_the_way() -> None:
    """Results of parallel calls hang at their calls; only the last is on the way."""
    t = Transcript()
    t.user()
    one, two = t.call("m1", "toolu_1"), t.call("m1", "toolu_2")
    t.call("m1", "toolu_3", two)
    t.result("toolu_1", one)
    t.result("toolu_2", two)
    t.say("m2")
    patient = sound(t)
    assert changed(patient) == ["+1<6", "7<+1"]
    assert patient.lines.index(encode(made(patient)[0])) == 6


def test_open_calls_at_the_end_are_closed_and_the_conversation_goes_on_behind_them() -> None:
    t = Transcript()
    t.user()
    for name in ("toolu_1", "toolu_2", "toolu_3"):
        t.call("m1", name)
    patient = sound(t)
    assert len(made(patient)) == 3
    assert patient.look.reachable == 7


def test_a_branch_that_the_user_left_behind_the_call_hangs_on_the_result_too() -> None:
    t = Transcript()
    t.user()
    call = t.call("m1", "toolu_1")
    t.user("left", call)
    t.say("m2")
    t.user("taken", call)
    t.say("m3")
    patient = sound(t)
    assert changed(patient) == ["+1<2", "3<+1", "5<+1"]
    assert not any(one.rule == "unreachable-record" for one in patient.look.findings)


def test_a_call_of_a_failed_answer_is_never_answered() -> None:
    t = Transcript()
    t.user()
    t.answer("m1", use("toolu_1"), isApiErrorMessage=True)
    t.user()
    t.say("m2")
    assert healed(t).done == []


def test_a_sub_agent_in_the_file_gets_its_result_in_its_own_thread() -> None:
    t = Transcript()
    t.user()
    main = t.say("m1")
    t.user("look", None, isSidechain=True, agentId="a1")
    t.call("m2", "toolu_1", isSidechain=True, agentId="a1")
    t.say("m3", isSidechain=True, agentId="a1")
    t.user("next", main)
    t.say("m4")
    patient = sound(t)
    assert changed(patient) == ["+1<4", "5<+1"]
    assert [(one["isSidechain"], one["agentId"]) for one in made(patient)] == [(True, "a1")]


def test_a_sub_agent_in_a_file_of_its_own_is_mended_as_a_conversation_is() -> None:
    t = Transcript(agent="a1")
    t.user("look")
    t.call("m1", "toolu_1")
    t.user("on")
    t.say("m2")
    t.result("toolu_9")
    patient = Patient(b"".join(t.lines), session="agent-a1").heal()
    assert patient.errors == []
    assert changed(patient) == ["+1<2", "3<+1"]
    assert patient.look.reachable == 5
    assert [(one["isSidechain"], one["agentId"]) for one in made(patient)] == [(True, "a1")]


def test_where_a_compaction_lists_what_it_keeps_the_result_hangs_at_its_call() -> None:
    t = Transcript()
    t.user()
    t.say("m1")
    first = t.user("kept")
    call = t.call("m2", "toolu_1")
    last = t.user("on")
    names = [t.uuid(line) for line in (first, call, last)]
    summary = len(t.lines) + 2
    t.compact(preservedMessages={"anchorUuid": t.uuid(summary), "uuids": names, "allUuids": names})
    t.last = last
    t.say("m3")
    patient = sound(t)
    assert changed(patient) == ["+1<4"]


def test_what_is_put_in_is_written_as_its_neighbours_are() -> None:
    t = Transcript()
    t.user()
    t.call("m1", "toolu_1")
    t.user()
    t.lines = [json.dumps(json.loads(line)).encode() + b"\r\n" for line in t.lines]
    patient = sound(t)
    new = patient.lines[2]
    assert new == json.dumps(json.loads(new)).encode() + b"\r\n"
    assert list(json.loads(new))[:3] == ["parentUuid", "isSidechain", "userType"]


def test_two_runs_put_in_the_same_bytes() -> None:
    t = Transcript()
    t.user()
    t.call("m1", "toolu_1")
    t.user()
    assert sound(t).content == sound(t).content


def test_a_result_that_hangs_on_another_branch_is_brought_to_its_call() -> None:
    t = Transcript()
    t.user()
    call = t.call("m1", "toolu_1")
    t.user("left", call)
    t.result("toolu_1")
    t.say("m2")
    t.user("taken", call)
    t.say("m3")
    patient = sound(t)
    assert changed(patient) == ["4<2", "5<3"]
    assert made(patient) == []


def test_the_real_result_of_another_store_is_put_in_before_one_is_made() -> None:
    other = Transcript(session=OTHER, prefix="bbbbbbbb")
    other.user([answer_to("toolu_1", "found"), answer_to("toolu_2", "again")])
    t = Transcript()
    t.user()
    t.answer("m1", use("toolu_1"), use("toolu_2"))
    t.result("toolu_2")
    t.say("m2")
    patient = sound(t, elsewhere={"toolu_1": other.lines[0]})
    assert changed(patient) == ["+1<3", "4<+1"]
    (new,) = [one for one in records(patient) if one.get("uuid", "").startswith("bbbbbbbb")]
    assert new["message"]["content"] == [answer_to("toolu_1", "found")]
    assert new["sessionId"] == SESSION
    assert made(patient) == []


def test_a_result_from_elsewhere_never_becomes_the_newest_record() -> None:
    """The agent resumes at the newest record, which must stay the same one."""
    t = Transcript()
    t.user()
    t.call("m1", "toolu_1")
    t.user()
    late = Transcript(prefix="cccccccc")
    for _ in range(30):
        late.user()
    late.result("toolu_1")
    patient = sound(t, elsewhere={"toolu_1": late.lines[-1]})
    assert patient.look.reachable == 4


def test_a_call_that_only_the_provider_can_answer_goes_aside() -> None:
    t = Transcript()
    t.user()
    t.answer("m1", {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}})
    t.say("m1")
    t.user()
    t.say("m2")
    patient = sound(t)
    assert changed(patient) == ["3<1"]
    assert patient.removed[0] == t.lines[1]


def test_a_result_behind_the_next_answer_moves_and_nothing_else_changes_its_order() -> None:
    t = Transcript()
    t.user()
    t.call("m1", "toolu_1")
    t.call("m1", "toolu_2")
    t.result("toolu_1")
    t.say("m2")
    t.result("toolu_2")
    t.say("m3")
    patient = sound(t)
    assert changed(patient) == ["5<6", "6<4", "7<5"]
    assert len(patient.lines) == len(t.lines)


def test_a_result_before_its_call_moves_behind_it() -> None:
    t = Transcript()
    t.user()
    t.result("toolu_1")
    t.call("m1", "toolu_1")
    t.say("m2")
    patient = sound(t)
    assert changed(patient) == ["2<3", "3<1", "4<2"]


def test_when_the_newest_record_moves_a_note_says_where_the_conversation_goes_on() -> None:
    t = Transcript()
    t.user()
    t.call("m1", "toolu_1")
    t.user("meanwhile")
    t.result("toolu_1")
    patient = sound(t)
    assert changed(patient) == ["3<4", "4<2"]
    note = json.loads(patient.lines[-1])
    assert note == {"type": "last-prompt", "leafUuid": t.uuid(3), "sessionId": SESSION}
    assert patient.look.reachable == 4


def test_a_branch_that_hung_on_a_moved_result_stays_where_it_was() -> None:
    t = Transcript()
    t.user()
    t.call("m1", "toolu_1")
    between = t.say("m2")
    result = t.result("toolu_1")
    t.user("left", result)
    t.say("m3")
    t.user("taken", result)
    t.say("m4")
    patient = sound(t)
    assert changed(patient) == ["3<4", "4<2", "5<3", "7<3"]
    assert between == 3
    assert [one.rule for one in patient.look.findings if one.severity != "info"] == []


def test_a_thread_that_counts_by_its_lines_is_left_alone() -> None:
    t = Transcript()
    t.user()
    main = t.say("m1")
    side: dict[str, Any] = {"isSidechain": True, "agentId": "a1"}
    t.user("look", None, **side)
    t.call("m2", "toolu_1", **side)
    t.say("m3", **side)
    t.result("toolu_1", **side)
    t.user("next", main)
    patient = healed(t)
    assert patient.done == []
    assert len(patient.refused) == 1


def test_a_compacted_call_loses_its_late_result_from_the_replay_and_the_line_stays() -> None:
    t = Transcript()
    t.user()
    t.call("m1", "toolu_1")
    t.compact()
    t.result("toolu_1")
    t.say("m2")
    t.user()
    patient = healed(t)
    assert rules(patient) == ["pair-split"]
    assert patient.errors == []
    assert changed(patient) == ["6<4"]
    assert t.lines[4] in patient.lines
    assert patient.removed == [t.lines[5][14:52]]


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("calls", [("toolu_1",), ("toolu_1", "toolu_2")])
def test_a_compaction_that_keeps_a_result_keeps_its_call_as_well(calls: tuple[str, ...], *, listed: bool) -> None:
    t = Transcript()
    t.user()
    asking = [t.call("m1", call) for call in calls]
    replies = [t.result(call) for call in calls]
    last = t.say("m2")
    names, summary = [t.uuid(line) for line in (replies[-1], last)], t.uuid(len(t.lines) + 2)
    if listed:
        t.compact(preservedMessages={"anchorUuid": summary, "uuids": names, "allUuids": names})
    else:
        t.compact(preservedSegment={"headUuid": names[0], "anchorUuid": summary, "tailUuid": names[1]})
    t.user("next", last)
    patient = sound(t)
    assert rules(patient) == ["pair-split"]
    assert [one.safety for one in patient.done] == ["safe"]
    assert changed(patient) == []
    kept = records(patient)[last]["compactMetadata"]
    if listed:
        every = [t.uuid(line) for line in (*asking, *replies, last)]
        assert kept["preservedMessages"] == {"anchorUuid": summary, "uuids": every, "allUuids": every}
    else:
        assert kept["preservedSegment"]["headUuid"] == t.uuid(asking[0])


def test_a_record_with_results_of_two_answers_is_divided() -> None:
    t = Transcript()
    t.user()
    t.call("m1", "toolu_1")
    t.call("m2", "toolu_2")
    t.user([answer_to("toolu_1", "one"), answer_to("toolu_2", "two")])
    t.say("m3")
    patient = sound(t)
    assert changed(patient) == ["+1<2", "3<+1"]
    assert rules(patient) == ["misplaced-result"]
    assert [one.safety for one in patient.done] == ["safe"]
    contents = [one["message"]["content"] for one in records(patient)]
    assert contents[2] == [answer_to("toolu_1", "one")]
    assert contents[4] == [answer_to("toolu_2", "two")]


def test_a_record_with_results_of_two_answers_and_a_text_stays_whole() -> None:
    t = Transcript()
    t.user()
    t.call("m1", "toolu_1")
    t.call("m2", "toolu_2")
    t.user([answer_to("toolu_1", "one"), answer_to("toolu_2", "two"), {"type": "text", "text": "and on"}])
    patient = healed(t)
    assert patient.done == []
    assert [one.reason for one in patient.refused] == ["its record holds results of several answers, and more"]


@pytest.mark.parametrize("goes_on", [True, False])
def test_what_the_answer_says_behind_the_result_of_a_server_tool_moves_with_it(*, goes_on: bool) -> None:
    t = Transcript()
    t.user()
    t.answer("m1", {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}})
    t.user("typed meanwhile")
    t.answer("m1", {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []})
    t.say("m1")
    t.say("m1", "more")
    if goes_on:
        t.user("next")
    patient = sound(t)
    assert changed(patient) == ["3<6", "4<2", *(["7<3"] if goes_on else [])]
    assert (b"last-prompt" in patient.lines[-1]) is not goes_on


def test_a_late_result_at_the_end_goes_to_its_call() -> None:
    t = Transcript()
    t.user()
    t.call("m1", "toolu_1")
    t.compact()
    t.result("toolu_1")
    patient = healed(t)
    assert patient.errors == []
    assert changed(patient) == ["5<2"]
    assert json.loads(patient.lines[-1])["leafUuid"] == t.uuid(4)


def test_ways_are_told_by_the_lines_of_the_original() -> None:
    t = Transcript()
    t.user()
    t.say("m1")
    assert ways(healed(t)) == ["1<0", "2<1"]
