"""Damaged Claude Code transcripts, after faults that people reported in public."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.scenarios.made import Expected, Scenario, Transcript, encode

FAULTS: list[Scenario] = []
E = Expected
Make = Callable[[Transcript], None]


def fault(*expected: Expected, never: tuple[str, ...] = (), **settings: Any) -> Callable[[Make], Make]:
    """Enter a transcript with what must be found in it."""

    def enter(make: Make) -> Make:
        def write(folder: Path) -> None:
            transcript = Transcript()
            make(transcript)
            transcript.write(folder)

        FAULTS.append(Scenario(make.__name__, write, expected, settings, never))
        return make

    return enter


def replaced(raw: bytes, old: bytes, new: bytes) -> bytes:
    assert old in raw
    return raw.replace(old, new)


# Pairs -------------------------------------------------------------------------------------------------------------


@fault(E("orphan-result", 3, "toolu_GONE"))
def orphan_result(t: Transcript) -> None:
    t.user()
    t.say("m1")
    t.result("toolu_GONE")
    t.say("m2")


@fault(E("orphan-result", 4, "toolu_LATE"))
def orphan_after_compaction_whose_call_is_in_no_line(t: Transcript) -> None:
    t.user()
    t.say("m1")
    t.compact()
    t.lines.pop()
    t.last = 3
    t.result("toolu_LATE")
    t.say("m2")


@fault(E("pair-split", id="toolu_SPLIT"))
def compaction_splits_pair(t: Transcript) -> None:
    """#8484: the call lies before the compaction, its result behind it."""
    t.user()
    t.call("m1", "toolu_SPLIT")
    t.compact()
    t.result("toolu_SPLIT")
    t.say("m2")
    t.user()
    t.say("m3")


@fault(E("pair-split", id="toolu_SPLIT"))
def compaction_splits_parallel_pairs(t: Transcript) -> None:
    t.user()
    t.call("m1", "toolu_FINE")
    t.call("m1", "toolu_SPLIT")
    t.result("toolu_FINE", parent=2)
    t.last = 3
    t.compact()
    t.result("toolu_SPLIT")
    t.say("m2")


@fault(E("misplaced-result", 4, "toolu_01"))
def user_text_between(t: Transcript) -> None:
    t.user()
    t.call("m1", "toolu_01")
    t.user("and hurry up")
    t.result("toolu_01")
    t.say("m2")


@fault(E("misplaced-result", 5, "toolu_B"))
def user_text_between_parallel_results(t: Transcript) -> None:
    t.user()
    t.answer("m1", *[{"type": "tool_use", "id": i, "name": "Bash", "input": {}} for i in ("toolu_A", "toolu_B")])
    t.result("toolu_A")
    t.user("hurry up")
    t.result("toolu_B")
    t.say("m2")


@fault(E("misplaced-result", 6, "toolu_B"))
def late_parallel_result_behind_the_next_answer(t: Transcript) -> None:
    t.user()
    t.call("m1", "toolu_A")
    t.call("m1", "toolu_B")
    t.result("toolu_A")
    t.say("m2")
    t.result("toolu_B")
    t.say("m3")


@fault(E("misplaced-result", 2, "toolu_01"))
def result_before_its_call(t: Transcript) -> None:
    t.user()
    t.result("toolu_01")
    t.call("m1", "toolu_01")
    t.say("m2")


@fault(E("misplaced-result", 4, "srvtoolu_H"))
def hook_message_inside_a_server_pair(t: Transcript) -> None:
    """#89348: a hook's message landed between the call of a server tool and its result."""
    t.user()
    t.answer("m1", {"type": "server_tool_use", "id": "srvtoolu_H", "name": "web_search", "input": {"query": "x"}})
    t.user("<system-reminder>hook says hello</system-reminder>", isMeta=True)
    t.answer("m1", {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_H", "content": []})
    t.say("m1")
    t.user()
    t.say("m2")


@fault(E("misplaced-result", 4, "toolu_01"))
def local_command_inside_a_pair(t: Transcript) -> None:
    t.user()
    t.call("m1", "toolu_01")
    t.system("local_command", content="<command-name>/usage</command-name>")
    t.result("toolu_01")
    t.say("m2")


@fault(E("unanswered-call", 2, "srvtoolu_X"))
def server_call_without_result(t: Transcript) -> None:
    t.user()
    t.answer("m1", {"type": "server_tool_use", "id": "srvtoolu_X", "name": "web_search", "input": {"query": "x"}})
    t.user("stop")
    t.say("m2")


@fault(E("orphan-result", 2, "srvtoolu_Y"))
def server_result_without_call(t: Transcript) -> None:
    t.user()
    t.answer("m1", {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_Y", "content": []})
    t.say("m1")


@fault(E("unanswered-call", 2, "toolu_END"))
def call_at_the_very_end(t: Transcript) -> None:
    t.user()
    t.call("m1", "toolu_END")


@fault(E("unanswered-call", 3, "toolu_B"), E("unanswered-call", 4, "toolu_C"))
def two_of_three_parallel_calls_unanswered(t: Transcript) -> None:
    t.user()
    t.call("m1", "toolu_A")
    t.call("m1", "toolu_B")
    t.call("m1", "toolu_C")
    t.result("toolu_A", parent=2)
    t.user("why?", parent=4)
    t.say("m2")


@fault(E("duplicate-result", 4, "toolu_01"))
def identical_result_twice(t: Transcript) -> None:
    t.user()
    t.call("m1", "toolu_01")
    t.result("toolu_01")
    t.result("toolu_01")
    t.say("m2")


@fault(E("duplicate-result", id="toolu_01"))
def result_again_many_turns_later(t: Transcript) -> None:
    t.user()
    t.call("m1", "toolu_01")
    t.result("toolu_01")
    t.say("m2")
    t.user()
    t.say("m3")
    t.result("toolu_01")
    t.say("m4")


@fault(E("duplicate-call-id", 6, "toolu_01"))
def api_id_again_in_a_later_answer(t: Transcript) -> None:
    t.user()
    t.call("m1", "toolu_01")
    t.result("toolu_01")
    t.say("m2")
    t.user()
    t.call("m3", "toolu_01")
    t.result("toolu_01")
    t.say("m4")


@fault(E("id-reused-across-turns", 6, "functions.Bash_0", severity="info"), E("bad-call-id", 2), E("bad-call-id", 6))
def other_id_with_a_dot_again(t: Transcript) -> None:
    """A dot is a character that the Anthropic API refuses (ANT-7)."""
    t.user()
    t.call("m1", "functions.Bash_0")
    t.result("functions.Bash_0")
    t.say("m2")
    t.user()
    t.call("m3", "functions.Bash_0")
    t.result("functions.Bash_0")
    t.say("m4")


@fault(E("id-reused-across-turns", 6, "call_0", severity="info"))
def other_id_again_in_a_later_answer(t: Transcript) -> None:
    t.user()
    t.call("m1", "call_0")
    t.result("call_0")
    t.say("m2")
    t.user()
    t.call("m3", "call_0")
    t.result("call_0")
    t.say("m4")


@fault(E("bad-call-id", 2))
def empty_ids_on_both_sides(t: Transcript) -> None:
    t.user()
    t.call("m1", "")
    t.result("")
    t.say("m2")


@fault(E("bad-call-id", 2))
def null_ids_on_both_sides(t: Transcript) -> None:
    t.user()
    t.call("m1", None)
    t.result(None)
    t.say("m2")


@fault(E("bad-call-id", 2))
def unknown_ids_on_both_sides(t: Transcript) -> None:
    t.user()
    t.call("m1", "unknown")
    t.result("unknown")
    t.say("m2")


@fault(E("bad-call-id", 3, "unknown"))
def result_with_an_unknown_id_and_no_call(t: Transcript) -> None:
    t.user()
    t.say("m1")
    t.result("unknown")
    t.say("m2")


@fault(E("bad-call-id", 4, "unknown"))
def result_with_an_unknown_id_beside_a_good_pair(t: Transcript) -> None:
    t.user()
    t.call("m1", "toolu_01")
    t.result("toolu_01")
    t.result("unknown")
    t.say("m2")


@fault(E("bad-arguments", 2, "toolu_01"))
def arguments_null(t: Transcript) -> None:
    t.user()
    t.call("m1", "toolu_01", input=None)
    t.result("toolu_01")
    t.say("m2")


@fault(E("bad-arguments", 2, "toolu_01"))
def arguments_are_a_list(t: Transcript) -> None:
    t.user()
    t.call("m1", "toolu_01", input=[])
    t.result("toolu_01")
    t.say("m2")


@fault(E("bad-arguments", 2, "toolu_01"))
def arguments_cut_off(t: Transcript) -> None:
    t.user()
    t.call("m1", "toolu_01", input='{"command": "ls')
    t.result("toolu_01")
    t.say("m2")


@fault(E("bad-arguments", 2, "toolu_01"))
def arguments_as_json_text(t: Transcript) -> None:
    """The Anthropic API takes an object and nothing else for `input` (ANT-8)."""
    t.user()
    t.call("m1", "toolu_01", input='{"command": "ls"}')
    t.result("toolu_01")
    t.say("m2")


@fault(E("tool-use-stop-without-call", 2, severity="warning"))
def stop_for_a_call_that_is_not_there(t: Transcript) -> None:
    t.user()
    t.say("m1", "I will look.", stop="tool_use")
    t.user("well?")
    t.say("m2")


# Trees --------------------------------------------------------------------------------------------------------------


@fault(E("dangling-parent", 3))
def phantom_parent(t: Transcript) -> None:
    """#22526, #61188: a parent that is nowhere cuts the history."""
    t.user()
    t.say("m1")
    t.user("three", parent="dddddddd-0000-4000-8000-000000000404")
    t.say("m2")


@fault(E("dangling-parent", 4))
def phantom_parent_hides_a_call(t: Transcript) -> None:
    """What a broken chain hides is counted in its own finding: no orphan-result, no unanswered-call."""
    t.user()
    t.say("m1")
    t.call("m2", "toolu_01")
    t.result("toolu_01", parent="dddddddd-0000-4000-8000-000000000404")
    t.say("m3")


@fault(E("dangling-parent", 3), E("dangling-parent", 5))
def two_phantom_parents(t: Transcript) -> None:
    t.user()
    t.say("m1")
    t.user("three", parent="dddddddd-0000-4000-8000-000000000404")
    t.say("m2")
    t.user("five", parent="dddddddd-0000-4000-8000-000000000405")
    t.say("m3")


@fault(E("parent-cycle"))
def cycle_of_three(t: Transcript) -> None:
    t.user(parent=3)
    t.say("m1")
    t.user()
    t.say("m2")


@fault(E("parent-cycle"))
def parent_of_itself(t: Transcript) -> None:
    t.user()
    t.say("m1")
    t.user("three", parent=3)
    t.say("m2")


@fault(E("extra-root", 3, severity="warning"))
def second_root(t: Transcript) -> None:
    t.user()
    t.say("m1")
    t.user("three", parent=None)
    t.say("m2")


@fault(E("unreachable-record", 2, severity="warning"))
def progress_forks_the_chain(t: Transcript) -> None:
    """#35024: the next prompt hangs on a progress record beside the reply."""
    t.user()
    t.say("m1", parent=1)
    t.node("progress", {"data": {"type": "hook_progress"}, "toolUseID": "x", "parentToolUseID": "x"}, 1)
    t.user("next")
    t.say("m2")


@fault(E("unreachable-record", 5, severity="warning"))
def reply_hidden_by_a_late_api_error(t: Transcript) -> None:
    """#91113: a record of an API error was flushed late and carries the chain."""
    t.user()
    t.say("m1")
    t.user("more")
    t.system("api_error", 3, level="error", error={"status": 529})
    t.say("m2", parent=3)
    t.system("api_error", 4, level="error", error={"status": 529})
    t.user("next")
    t.say("m3")


@fault(E("unreachable-record", 5, severity="warning"))
def reply_lost_beside_parallel_results(t: Transcript) -> None:
    """The answer hangs on result A, the next prompt on result B: nobody rewound anything."""
    t.user()
    t.answer("m1", *[{"type": "tool_use", "id": i, "name": "Bash", "input": {}} for i in ("toolu_A", "toolu_B")])
    t.result("toolu_A")
    t.result("toolu_B", parent=2)
    t.say("m2", parent=3)
    t.user("next", parent=4)
    t.say("m3")


@fault(E("duplicate-id", 4))
def one_id_on_two_records(t: Transcript) -> None:
    t.user()
    t.say("m1")
    t.user("three")
    value = json.loads(t.lines[1])
    value["message"]["content"][0]["text"] = "something else"
    t.raw(encode(value))
    t.last = 3
    t.say("m2")


@fault(E("repeated-record", 3, severity="info"))
def record_twice_byte_for_byte(t: Transcript) -> None:
    t.user()
    t.say("m1")
    t.raw(t.lines[1])
    t.user("three", parent=2)
    t.say("m2")


@fault(E("repeated-record", 4, severity="info"), E("repeated-record", 5, severity="info"))
def pair_twice_byte_for_byte(t: Transcript) -> None:
    """One finding a line and no second pair finding."""
    t.user()
    t.call("m1", "toolu_01")
    t.result("toolu_01")
    t.raw(t.lines[1])
    t.raw(t.lines[2])
    t.last = 3
    t.say("m2")


# Bytes --------------------------------------------------------------------------------------------------------------


@fault(E("nul-run", 3))
def nul_run_between_lines(t: Transcript) -> None:
    """#49876: a run of NULs in the middle of the file, later lines fine."""
    t.user()
    t.say("m1")
    t.raw(b"\0" * 300 + b"\n")
    t.user("three", parent=2)
    t.say("m2")


@fault(E("nul-run", 3))
def nul_run_before_a_record(t: Transcript) -> None:
    t.user()
    t.say("m1")
    t.user("three", parent=2)
    t.lines[2] = b"\0" * 700 + t.lines[2]
    t.say("m2")


@fault(E("nul-run", 2))
def record_then_nuls_to_the_end(t: Transcript) -> None:
    """#76059: a whole record and NULs behind it, without a line feed."""
    t.user()
    t.say("m1")
    t.lines[1] = t.lines[1][:-1] + b"\0" * 9000


@fault(E("nul-run", 3))
def last_line_is_nothing_but_nuls(t: Transcript) -> None:
    t.user()
    t.say("m1")
    t.raw(b"\0" * 143_000)


@fault(E("nul-run", 3), E("dangling-parent", 4))
def nuls_in_the_place_of_half_a_record(t: Transcript) -> None:
    t.user()
    t.say("m1")
    t.user("three")
    t.lines[2] = t.lines[2][:90] + b"\0" * 500 + b"\n"
    t.say("m2", parent=3)


@fault(E("bad-utf8", 3))
def bytes_that_are_no_utf8(t: Transcript) -> None:
    t.user()
    t.say("m1")
    t.user("three")
    t.lines[2] = replaced(t.lines[2], b"three", b"thr\xe9e")
    t.say("m2")


@fault(E("lone-surrogate", 3))
def lone_low_half(t: Transcript) -> None:
    t.user()
    t.say("m1")
    t.user("three")
    t.lines[2] = replaced(t.lines[2], b"three", rb"thr\ude00ee")
    t.say("m2")


@fault(E("lone-surrogate", 3))
def lone_surrogate_in_a_key(t: Transcript) -> None:
    t.user()
    t.call("m1", "toolu_01")
    t.result("toolu_01")
    t.lines[2] = replaced(t.lines[2], b'"toolUseResult":"done"', rb'"toolUseResult":{"k\ud83d":1}')
    t.say("m2")


@fault(E("lone-surrogate", 2))
def lone_surrogate_in_arguments(t: Transcript) -> None:
    t.user()
    t.call("m1", "toolu_01")
    t.lines[1] = replaced(t.lines[1], b'"ls"', rb'"ls \uD83D"')
    t.result("toolu_01")
    t.say("m2")


@fault(E("split-line", 3))
def split_over_three_lines(t: Transcript) -> None:
    t.user()
    t.say("m1")
    t.user("one%two%three")
    t.lines[2] = replaced(t.lines[2], b"%", b"\n")
    t.say("m2")


@fault(E("split-line", 3))
def split_line_that_is_the_last(t: Transcript) -> None:
    t.user()
    t.say("m1")
    t.user("one%two")
    t.lines[2] = replaced(t.lines[2], b"%", b"\n")


@fault(E("split-line", 3))
def split_line_with_an_empty_line_inside(t: Transcript) -> None:
    t.user()
    t.say("m1")
    t.user('a%%{"type":"x"} ')
    t.lines[2] = replaced(t.lines[2], b"%", b"\n")
    t.say("m2")


@fault(E("glued-lines", 2))
def three_records_on_one_line(t: Transcript) -> None:
    t.user()
    t.say("m1")
    t.user("three")
    t.say("m2")
    t.lines[1:4] = [b"".join(line[:-1] for line in t.lines[1:4]) + b"\n"]


@fault(E("glued-lines", 2))
def call_and_result_on_one_line(t: Transcript) -> None:
    t.user()
    t.call("m1", "toolu_01")
    t.result("toolu_01")
    t.say("m2")
    t.lines[1:3] = [t.lines[1][:-1] + t.lines[2]]


@fault(E("glued-lines", 2))
def torn_head_then_its_full_retry(t: Transcript) -> None:
    t.user()
    t.say("m1")
    t.lines[1] = t.lines[1][:120] + t.lines[1]
    t.user("three")
    t.say("m2")


@fault(E("glued-lines", 3))
def two_torn_pieces_then_a_record(t: Transcript) -> None:
    t.user()
    t.say("m1")
    t.user("three")
    title = encode({"type": "ai-title", "aiTitle": "the title", "sessionId": t.session})
    t.lines[2] = title[:20] + title[:31] + t.lines[2]
    t.say("m2")


@fault(E("glued-lines", 2), E("dangling-parent", 3))
def record_then_a_torn_piece(t: Transcript) -> None:
    """The whole record comes first, and the torn one, which the next hangs on, behind it."""
    t.user()
    t.say("m1")
    t.user("three")
    t.say("m2")
    t.lines[1:3] = [t.lines[1][:-1] + t.lines[2][:200] + b"\n"]


@fault(E("torn-tail", 3))
def torn_user_record_at_the_end(t: Transcript) -> None:
    t.user()
    t.say("m1")
    t.user("three")
    t.lines[2] = t.lines[2][:150]


@fault(E("torn-tail", 3))
def torn_in_the_middle_of_a_letter(t: Transcript) -> None:
    t.user()
    t.say("m1")
    t.user("정원")
    t.lines[2] = t.lines[2][: t.lines[2].index("원".encode()) + 1]


@fault(E("no-final-newline", 2, severity="warning"))
def no_line_feed_at_the_end(t: Transcript) -> None:
    t.user()
    t.say("m1")
    t.lines[1] = t.lines[1][:-1]


@fault(E("byte-order-mark", 1, severity="warning"))
def byte_order_mark(t: Transcript) -> None:
    t.user()
    t.lines[0] = b"\xef\xbb\xbf" + t.lines[0]
    t.say("m1")


@fault(E("crlf", severity="info"))
def carriage_returns(t: Transcript) -> None:
    t.user()
    t.say("m1")
    t.lines[:] = [line[:-1] + b"\r\n" for line in t.lines]


@fault(E("line-separator-char", severity="info"))
def unicode_line_separators(t: Transcript) -> None:
    t.user("a\u2028b\u2029c\u0085d")
    t.say("m1")


@fault(E("nul-char", 3, severity="warning"))
def escaped_nul(t: Transcript) -> None:
    t.user()
    t.call("m1", "toolu_01")
    t.result("toolu_01", content="a\0b")
    t.say("m2")


@fault(E("bad-line", 3))
def a_line_of_garbage(t: Transcript) -> None:
    t.user()
    t.say("m1")
    t.raw(b"Segmentation fault (core dumped)\n")
    t.user("three")
    t.say("m2")


@fault(E("bad-line", 3), E("bad-line", 4), E("bad-line", 5))
def json_that_is_no_object(t: Transcript) -> None:
    t.user()
    t.say("m1")
    t.raw(b"[1,2]\n")
    t.raw(b"null\n")
    t.raw(b'"text"\n')


@fault(E("bad-shape", 3), E("bad-shape", 4))
def records_of_a_wrong_shape(t: Transcript) -> None:
    t.user()
    t.say("m1")
    t.node("user", {"message": None})
    t.node("user", {"message": {"role": "user", "content": 5}})
    t.say("m2")


@fault(E("foreign-record", 3, severity="warning"), E("foreign-record", 4, severity="warning"))
def records_of_another_session(t: Transcript) -> None:
    """#29342."""
    t.user()
    t.say("m1")
    other = "22222222-0000-4000-8000-000000000002"
    t.user("lost", parent="bbbbbbbb-0000-4000-8000-000000000009", sessionId=other)
    t.say("n1", sessionId=other)
    t.user("three", parent=2)
    t.say("m2")
