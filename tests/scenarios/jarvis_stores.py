"""Stores of JARVIS and Pippa, damaged and healthy, and what must be found in each."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.scenarios.made import START, Expected, Json, Scenario, answering, calling, encode, log, message

Write = Callable[[Path], None]
Records = Callable[[], list[Any]]
STORES: list[Scenario] = []
LOG = "talk.jsonl"


def E(rule: str, line: int | None = None, id: str | None = None, severity: str = "error", file: str = LOG) -> Expected:  # noqa: A002, N802
    return Expected(rule, line, id, severity, file)


def store(*expected: Expected, never: tuple[str, ...] = (), **settings: Any) -> Callable[[Write], Write]:
    """Enter a store with what must be found in it."""

    def enter(write: Write) -> Write:
        STORES.append(Scenario(write.__name__, write, expected, settings, never))
        return write

    return enter


def records(*expected: Expected, never: tuple[str, ...] = (), **settings: Any) -> Callable[[Records], Records]:
    """Enter a function that gives the records of one conversation."""

    def enter(make: Records) -> Records:
        def write(folder: Path) -> None:
            log(folder, "talk", *make(), metadata={})

        STORES.append(Scenario(make.__name__, write, expected, settings, never))
        return make

    return enter


def block_call(call: Any, **more: Any) -> Json:
    return {"type": "tool_use", "id": call, "name": "search", "input": {"q": "x"}, **more}


def block_result(call: Any, content: Any = "found") -> Json:
    return {"type": "tool_result", "tool_use_id": call, "content": content}


def openai_call(call: Any, arguments: Any = '{"q":"x"}') -> Json:
    return {"id": call, "type": "function", "function": {"name": "search", "arguments": arguments}}


# Healthy ------------------------------------------------------------------------------------------------------------


@records(never=("id-reused-across-turns",))
def all_role_names() -> list[Any]:
    made: list[Any] = [message(0, "system", "be kind")]
    for number, role in enumerate(("tool", "tool_result", "toolResult")):
        start = number * 10 + 1
        made += [message(start, "user"), calling(start + 1, f"c{number}")]
        made += [{**answering(start + 2, f"c{number}"), "role": role}, message(start + 3, "assistant")]
    return made


@records()
def openai_nesting() -> list[Any]:
    return [
        {"role": "developer", "content": "be kind"},
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": None, "tool_calls": [openai_call("c1"), openai_call("c2", {"q": "x"})]},
        {"role": "tool", "tool_call_id": "c2", "content": "y"},
        {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "y"}]},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b"},
    ]


@records()
def openai_arguments_that_are_empty() -> list[Any]:
    return [
        message(1, "user"),
        message(2, "assistant", None, tool_calls=[openai_call("c1", "{}"), {"id": "c2", "name": "now"}]),
        answering(3, "c1"),
        answering(4, "c2"),
        message(5, "assistant"),
    ]


@records()
def anthropic_blocks_in_both_roles() -> list[Any]:
    text = {"type": "text", "text": "x"}
    return [
        message(1, "user", [text]),
        message(2, "assistant", [text, block_call("c1"), block_call("c2")]),
        message(3, "user", [block_result("c2"), block_result("c1"), text]),
        message(4, "assistant", [block_call("c3")]),
        message(5, "tool", [block_result("c3")]),
        message(6, "assistant", [text]),
    ]


@records()
def anthropic_server_blocks() -> list[Any]:
    use = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    result = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    return [message(1, "user"), message(2, "assistant", [use, result, {"type": "text", "text": "x"}])]


@records()
def content_as_an_object() -> list[Any]:
    call = {"id": "c1", "name": "search", "arguments": {}}
    return [
        message(1, "user", {"text": "a"}),
        message(2, "assistant", {"text": "b", "tool_calls": [call]}),
        message(3, "tool", {"text": "c", "tool_call_id": "c1"}),
        message(4, "assistant", {"text": "d"}),
    ]


@records()
def the_same_call_in_both_places() -> list[Any]:
    """Calls inside the content as well as beside it, as some writers store them: one call."""
    call = {"id": "c1", "name": "search", "arguments": {}}
    return [
        message(1, "user"),
        message(2, "assistant", [block_call("c1")], tool_calls=[call]),
        answering(3, "c1"),
        message(4, "assistant"),
    ]


@records()
def the_same_result_in_both_places() -> list[Any]:
    return [
        message(1, "user"),
        calling(2, "c1"),
        message(3, "tool", [block_result("c1")], tool_call_id="c1"),
        message(4, "assistant"),
    ]


@records()
def ids_that_are_numbers() -> list[Any]:
    call = {"id": "7", "name": "search", "arguments": {}}
    return [
        {"id": 1, "role": "user", "content": "a", "timestamp": START // 1000},
        {"id": 2, "role": "assistant", "content": "", "tool_calls": [call], "timestamp": START / 1000 + 0.5},
        {"id": 3, "role": "tool", "tool_call_id": "7", "content": "x", "timestamp": "2026-03-10T09:00:02Z"},
        {"id": 4, "role": "assistant", "content": "b", "timestamp": "2026-03-10T09:00:02.5+00:00"},
    ]


@records()
def no_ids_and_no_times() -> list[Any]:
    again = {"role": "user", "content": "ping"}
    return [again, {"role": "assistant", "content": "pong"}, again, {"role": "assistant", "content": "pong"}]


@records(never=("repeated-record", "duplicate-id"))
def a_proactive_message_stored_twice() -> list[Any]:
    bell = message(3, "assistant", "🔔 stand up", proactive=True)
    return [message(1, "user"), message(2, "assistant"), bell, bell, {**bell, "content": "🔔 stand up!"}]


@records()
def a_proactive_message_between_call_and_result() -> list[Any]:
    """JARVIS appends a turn at its end, so such a message stands before or behind the turn, never in it."""
    return [
        message(1, "user"),
        message(2, "assistant", "🔔", proactive=True),
        calling(3, "c1"),
        answering(4, "c1"),
        message(5, "assistant"),
    ]


@records(E("id-reused-across-turns", 6, "call_0", "info"))
def call_ids_counted_anew() -> list[Any]:
    return [
        message(1, "user"),
        calling(2, "call_0"),
        answering(3, "call_0"),
        message(4, "assistant"),
        message(5, "user"),
        calling(6, "call_0"),
        answering(7, "call_0"),
        message(8, "assistant"),
    ]


@records(never=("bad-call-id",))
def ids_with_odd_letters() -> list[Any]:
    """A JARVIS store belongs to no one provider."""
    return [
        message(1, "user"),
        calling(2, "functions.search:0"),
        answering(3, "functions.search:0"),
        message(4, "assistant"),
    ]


@records()
def unknown_fields_and_unknown_markers() -> list[Any]:
    return [
        {"type": "turn_accepted", "turn_id": "t1", "timestamp": START},
        message(1, "user", turn_id="t1", mood="calm"),
        {"type": "pippa_mood", "mood": "calm"},
        message(2, "assistant", turn_id="t1"),
        {"type": "turn_end", "turn_id": "t1", "timestamp": START + 9},
        {"type": "somebody_elses_note", "x": 1},
    ]


@store()
def branches_and_sub_agents(folder: Path) -> None:
    talk = [message(1, "user"), calling(2, "c1"), answering(3, "c1"), message(4, "assistant")]
    log(folder, "home", *talk, metadata={"agent_id": "pippa", "parent_id": None})
    log(folder, "home-2", *talk[:4], message(5, "user"), message(6, "assistant"), metadata={"parent_id": "home"})
    log(folder, "away", *talk, metadata={"parent_id": "long-gone"})
    log(folder, "agent_scout__task_1", *talk, metadata={"agent_id": "scout"})
    log(folder, "agent_scout__home", *talk, metadata={"agent_id": "scout", "parent_id": "home"})
    log(folder, "agent_scout", metadata={"agent_id": "scout"})
    (folder / "empty.meta.json").write_text('{"id":"empty"}')
    (folder / "empty.meta.json").chmod(0o600)
    log(folder, "바다", *talk, metadata={})


# Pairs --------------------------------------------------------------------------------------------------------------


@records(E("unanswered-call", 2, "c1"))
def call_then_the_next_turn() -> list[Any]:
    return [message(1, "user"), calling(2, "c1"), message(3, "user"), message(4, "assistant")]


@records(E("unanswered-call", 2, "c2"))
def one_of_two_results_is_missing() -> list[Any]:
    return [message(1, "user"), calling(2, "c1", "c2"), answering(3, "c1"), message(4, "assistant")]


@records(E("misplaced-result", 5, "c2"))
def a_result_behind_the_next_answer() -> list[Any]:
    return [message(1, "user"), calling(2, "c1", "c2"), answering(3, "c1"), message(4, "assistant"), answering(5, "c2")]


@records(E("misplaced-result", 4, "c1"))
def a_user_message_between() -> list[Any]:
    return [message(1, "user"), calling(2, "c1"), message(3, "user"), answering(4, "c1"), message(5, "assistant")]


@records(E("misplaced-result", 4, "c1"))
def a_system_message_between() -> list[Any]:
    return [message(1, "user"), calling(2, "c1"), message(3, "system"), answering(4, "c1"), message(5, "assistant")]


@records(E("misplaced-result", 4, "c1"))
def a_proactive_message_inside_a_pair() -> list[Any]:
    bell = message(3, "assistant", "🔔", proactive=True)
    return [message(1, "user"), calling(2, "c1"), bell, answering(4, "c1"), message(5, "assistant")]


@records(E("misplaced-result", 4, "c2"), E("misplaced-result", 5, "c1"))
def results_interleaved_with_the_next_answer() -> list[Any]:
    return [
        message(1, "user"),
        calling(2, "c1", "c2"),
        message(3, "user"),
        answering(4, "c2"),
        answering(5, "c1"),
        message(6, "assistant"),
    ]


@records(E("misplaced-result", 2, "c1"))
def the_result_comes_first() -> list[Any]:
    return [message(1, "user"), answering(2, "c1"), calling(3, "c1"), message(4, "assistant")]


@records(E("orphan-result", 2, "c9"))
def no_call_anywhere() -> list[Any]:
    return [message(1, "user"), answering(2, "c9"), message(3, "assistant")]


@records(E("duplicate-result", 4, "c1"))
def two_results() -> list[Any]:
    return [
        message(1, "user"),
        calling(2, "c1"),
        answering(3, "c1"),
        answering(4, "c1", "other"),
        message(5, "assistant"),
    ]


@records(E("duplicate-call-id", 2, "c1"), E("duplicate-result", 4, "c1"))
def one_id_on_two_calls() -> list[Any]:
    return [
        message(1, "user"),
        calling(2, "c1", "c1"),
        answering(3, "c1"),
        answering(4, "c1", "b"),
        message(5, "assistant"),
    ]


@records(E("bad-call-id", 2))
def ids_are_null() -> list[Any]:
    return [
        message(1, "user"),
        message(2, "assistant", "", tool_calls=[openai_call(None)]),
        answering(3, None),
        message(4, "assistant"),
    ]


@records(E("bad-call-id", 2))
def ids_are_blank() -> list[Any]:
    return [message(1, "user"), calling(2, " "), answering(3, " "), message(4, "assistant")]


@records(E("bad-call-id", 3))
def a_result_without_any_id() -> list[Any]:
    return [
        message(1, "user"),
        calling(2, "c1"),
        {"id": "m3", "role": "tool", "content": "x", "timestamp": START},
        answering(4, "c1"),
        message(5, "assistant"),
    ]


@records(
    E("bad-arguments", 2, "c1"), E("bad-arguments", 2, "c2"), E("bad-arguments", 2, "c3"), E("bad-arguments", 2, "c4")
)
def bad_arguments_of_every_kind() -> list[Any]:
    calls = [openai_call("c1", '{"q": "x'), openai_call("c2", "[]"), openai_call("c3", ""), openai_call("c4", None)]
    return [
        message(1, "user"),
        message(2, "assistant", "", tool_calls=calls),
        *(answering(number + 2, f"c{number}") for number in range(1, 5)),
        message(8, "assistant"),
    ]


@records(E("bad-arguments", 2, "c1"))
def text_as_the_input_of_a_block() -> list[Any]:
    """Anthropic's blocks take an object and nothing else (ANT-8)."""
    return [
        message(1, "user"),
        message(2, "assistant", [block_call("c1", input='{"q":"x"}')]),
        message(3, "user", [block_result("c1")]),
        message(4, "assistant"),
    ]


@records(E("unanswered-turn", 3, severity="info"))
def ends_on_a_user_message() -> list[Any]:
    return [message(1, "user"), message(2, "assistant"), message(3, "user")]


@records(E("turn-without-answer", 3, severity="info"))
def no_answer_behind_the_results() -> list[Any]:
    return [message(1, "user"), calling(2, "c1"), answering(3, "c1"), message(4, "user"), message(5, "assistant")]


@records(E("repeated-record", 3), E("repeated-record", 4))
def a_pair_is_stored_twice() -> list[Any]:
    pair = [calling(2, "c1"), answering(3, "c1")]
    return [pair[0], pair[1], pair[0], pair[1], message(4, "assistant")]


@records(E("duplicate-id", 3, "m2"))
def one_id_on_two_messages() -> list[Any]:
    return [message(1, "user"), message(2, "assistant"), message(2, "user", "b"), message(4, "assistant")]


@records(E("bad-shape", 2), E("bad-shape", 3))
def objects_of_no_form() -> list[Any]:
    return [
        message(1, "user"),
        {"hello": "world"},
        message(2, "assistant", 5),
        message(3, "user"),
        message(4, "assistant"),
    ]


# Bytes --------------------------------------------------------------------------------------------------------------


@records(E("glued-lines", 2))
def call_and_result_on_one_line() -> list[Any]:
    return [message(1, "user"), encode(calling(2, "c1"))[:-1], answering(3, "c1"), message(4, "assistant")]


@records(E("glued-lines", 2))
def torn_then_the_full_retry() -> list[Any]:
    whole = encode(calling(2, "c1"))
    return [message(1, "user"), whole[:60], whole, answering(3, "c1"), message(4, "assistant")]


@records(E("glued-lines", 2), E("orphan-result", 3, "c1"))
def a_torn_call_and_its_result_behind_it() -> list[Any]:
    """The call is lost with the torn piece (its id can be read there, but no call is whole)."""
    whole = encode(calling(2, "c1"))
    return [message(1, "user"), whole[:40], message(9, "user"), answering(3, "c1"), message(4, "assistant")]


@records(E("torn-tail", 3), E("unanswered-call", 2, "c1"))
def a_torn_result_at_the_end() -> list[Any]:
    return [message(1, "user"), calling(2, "c1"), encode(answering(3, "c1"))[:50]]


@records(E("split-line", 2))
def a_raw_line_feed_in_arguments() -> list[Any]:
    call = message(2, "assistant", "", tool_calls=[openai_call("c1", {"q": "a%b"})])
    return [message(1, "user"), encode(call).replace(b"%", b"\n"), answering(3, "c1"), message(4, "assistant")]


@records(E("nul-run", 3))
def nuls_behind_a_call() -> list[Any]:
    return [message(1, "user"), calling(2, "c1"), b"\0" * 512 + encode(answering(3, "c1")), message(4, "assistant")]


@records(E("lone-surrogate", 3))
def half_an_emoji_in_a_result() -> list[Any]:
    return [
        message(1, "user"),
        calling(2, "c1"),
        encode(answering(3, "c1")).replace(b"found", rb"\ud83d"),
        message(4, "assistant"),
    ]


@records(E("bad-line", 2))
def not_a_number() -> list[Any]:
    return [
        message(1, "user"),
        encode(message(2, "assistant", score=1)).replace(b'"score":1', b'"score":NaN'),
        message(3, "user"),
        message(4, "assistant"),
    ]


@store(E("empty-file", severity="info"), never=("meta-missing",))
def a_log_of_no_bytes(folder: Path) -> None:
    log(folder, "talk", metadata={})


# Running ------------------------------------------------------------------------------------------------------------


def open_turn(folder: Path, **metadata: Any) -> None:
    log(folder, "talk", message(1, "user"), calling(2, "c1"), metadata=metadata)


@store(E("open-call", 2, "c1", "info"), now=START + 60_000)
def a_young_open_call(folder: Path) -> None:
    open_turn(folder, state="running", turn_started_at=START)


@store(E("unanswered-call", 2, "c1"), E("stale-running", severity="warning", file="talk.meta.json"))
def an_old_open_call_that_runs(folder: Path) -> None:
    open_turn(folder, state="running", turn_started_at=START)


@store(
    E("unanswered-call", 2, "c1"),
    E("stale-running", severity="warning", file="talk.meta.json"),
    now=START + 60_000,
    assume_idle=True,
)
def a_young_open_call_assumed_idle(folder: Path) -> None:
    open_turn(folder, state="running", turn_started_at=START)


@store(E("open-call", 3, "c1", "info"), now=START + 60_000)
def an_accepted_turn_that_has_not_ended(folder: Path) -> None:
    log(
        folder,
        "talk",
        {"type": "turn_accepted", "turn_id": "t1", "timestamp": START},
        message(1, "user"),
        calling(2, "c1"),
        metadata={"state": "idle"},
    )


@store(never=("unanswered-turn",), now=START + 60_000)
def a_young_user_message(folder: Path) -> None:
    log(folder, "talk", message(1, "user"), metadata={})


@store(E("meta-invalid", severity="warning", file="talk.meta.json"))
def metadata_of_another(folder: Path) -> None:
    log(folder, "talk", message(1, "user"), message(2, "assistant"), metadata={"id": "walk"})


@store(E("meta-missing", severity="warning"))
def no_metadata_beside_others(folder: Path) -> None:
    log(folder, "talk", message(1, "user"), message(2, "assistant"))
    log(folder, "walk", message(1, "user"), message(2, "assistant"), metadata={})


# Segments, compaction, branches --------------------------------------------------------------------------------------


def seal(folder: Path, name: str, number: int, *lines: Json | bytes, **marker: Any) -> Json:
    """Write a segment; give the marker that the next file begins with."""
    data = b"".join(one if isinstance(one, bytes) else encode(one) for one in lines)
    path = folder / f"{name}.segments" / f"{number:06d}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(0o400)
    fields = {"type": "pippa_segment_sealed", "conversation_id": name, "seq": number, "segment": path.name}
    fields |= {"bytes": len(data), "lines": len(lines), "sha256": hashlib.sha256(data).hexdigest()}
    return fields | marker


TURN = [message(1, "user"), calling(2, "c1"), answering(3, "c1"), message(4, "assistant")]
MORE = [message(5, "user"), message(6, "assistant")]


@store()
def healthy_segments(folder: Path) -> None:
    first = seal(folder, "talk", 1, *TURN)
    second = seal(folder, "talk", 2, first, *MORE)
    log(folder, "talk", second, message(7, "user"), message(8, "assistant"), metadata={})


@store()
def the_first_segment_is_number_zero(folder: Path) -> None:
    log(folder, "talk", seal(folder, "talk", 0, *TURN), *MORE, metadata={})


@store()
def a_marker_that_says_little(folder: Path) -> None:
    seal(folder, "talk", 1, *TURN)
    log(folder, "talk", {"type": "pippa_segment_sealed"}, *MORE, metadata={})


@store(
    E("segment-gap", file="talk.segments/000002.jsonl"),
    E("turn-split", 2, severity="warning", file="talk.segments/000003.jsonl"),
    never=("orphan-result",),
)
def a_segment_is_missing(folder: Path) -> None:
    """A result whose call may lie in the missing part is not called an orphan."""
    seal(folder, "talk", 1, *TURN)
    third = seal(folder, "talk", 3, {"type": "pippa_segment_sealed", "seq": 2}, answering(20, "c_lost"), *MORE)
    log(folder, "talk", third, message(7, "user"), message(8, "assistant"), metadata={})


@store(E("segment-gap", file="talk.segments/000001.jsonl"))
def the_only_segment_is_gone(folder: Path) -> None:
    marker = seal(folder, "talk", 1, *TURN)
    (folder / "talk.segments/000001.jsonl").unlink()
    log(folder, "talk", marker, *MORE, metadata={})


@store(E("segment-changed", file="talk.segments/000001.jsonl"))
def a_segment_of_other_bytes(folder: Path) -> None:
    marker = seal(folder, "talk", 1, *TURN, sha256="0" * 64)
    log(folder, "talk", marker, *MORE, metadata={})


@store(E("segment-changed", file="talk.segments/000001.jsonl"))
def a_segment_that_shrank(folder: Path) -> None:
    marker = seal(folder, "talk", 1, *TURN, message(9, "user"), message(10, "assistant"))
    path = folder / "talk.segments/000001.jsonl"
    path.chmod(0o600)
    path.write_bytes(b"".join(encode(one) for one in TURN))
    path.chmod(0o400)
    log(folder, "talk", marker, *MORE, metadata={})


@store(E("late-lines", severity="warning", file="talk.segments/000001.jsonl"))
def a_segment_that_grew(folder: Path) -> None:
    marker = seal(folder, "talk", 1, *TURN)
    path = folder / "talk.segments/000001.jsonl"
    path.chmod(0o600)
    path.write_bytes(path.read_bytes() + encode(message(30, "user")) + encode(message(31, "assistant")))
    path.chmod(0o400)
    log(folder, "talk", marker, *MORE, metadata={})


@store()
def a_segment_that_was_healed(folder: Path) -> None:
    marker = seal(folder, "talk", 1, *TURN, sha256="0" * 64)
    new = hashlib.sha256(b"".join(encode(one) for one in TURN)).hexdigest()
    healed = {"type": "pippa_segment_healed", "segment": "000001.jsonl", "old": "0" * 64, "new": new, "run": "r"}
    log(folder, "talk", marker, *MORE, healed, message(7, "user"), message(8, "assistant"), metadata={})


@store(E("segment-changed", file="talk.segments/000001.jsonl"))
def a_segment_changed_after_it_was_healed(folder: Path) -> None:
    marker = seal(folder, "talk", 1, *TURN)
    healed = {"type": "pippa_segment_healed", "segment": "000001.jsonl", "old": "0" * 64, "new": "1" * 64}
    log(folder, "talk", marker, *MORE, healed, metadata={})


@store(E("segment-marker-missing", 1, severity="warning"))
def no_marker_behind_a_segment(folder: Path) -> None:
    seal(folder, "talk", 1, *TURN)
    log(folder, "talk", *MORE, metadata={})


@store(E("live-missing", severity="warning", file="talk.segments/000001.jsonl"))
def no_live_file(folder: Path) -> None:
    seal(folder, "talk", 1, *TURN)
    (folder / "talk.meta.json").write_text('{"id":"talk"}')
    (folder / "talk.meta.json").chmod(0o600)


@store(E("turn-split", 2, severity="warning"))
def a_turn_over_two_files(folder: Path) -> None:
    marker = seal(folder, "talk", 1, *TURN[:2])
    log(folder, "talk", marker, *TURN[2:], metadata={})


@store(E("orphan-file", severity="warning", file="talk.segments/1.jsonl"))
def a_stranger_among_the_segments(folder: Path) -> None:
    marker = seal(folder, "talk", 1, *TURN)
    (folder / "talk.segments/1.jsonl").write_bytes(encode(message(1, "user")))
    log(folder, "talk", marker, *MORE, metadata={})


def compaction(through: str, first: str = "m1", **more: Any) -> Json:
    return {
        "type": "pippa_compaction",
        "id": "k1",
        "summary": "so far",
        "from_id": first,
        "through_id": through,
        "count": 2,
        "compacted_at": START,
        **more,
    }


@records()
def a_healthy_compaction() -> list[Any]:
    return [*TURN, compaction("m4"), *MORE]


@records(E("pair-split", 5, "c1"))
def a_compaction_between_call_and_result() -> list[Any]:
    return [*TURN, compaction("m2"), *MORE]


@records(E("compaction-dangling", 5, "k1"))
def a_compaction_that_names_nobody() -> list[Any]:
    return [*TURN, compaction("m404"), *MORE]


@records(E("unanswered-call", 2, "c1", "info"))
def a_fault_before_the_compaction() -> list[Any]:
    return [message(1, "user"), calling(2, "c1"), message(3, "user"), message(4, "assistant"), compaction("m4"), *MORE]


@records(E("unanswered-call", 2, "c1"), scope="full")
def a_fault_before_the_compaction_in_full() -> list[Any]:
    return [message(1, "user"), calling(2, "c1"), message(3, "user"), message(4, "assistant"), compaction("m4"), *MORE]


@store(E("pair-split", 2, "c1", file="copy.jsonl"))
def a_branch_that_lacks_a_result(folder: Path) -> None:
    log(folder, "talk", *TURN, metadata={})
    log(folder, "copy", *TURN[:2], message(9, "user"), message(10, "assistant"), metadata={"parent_id": "talk"})


@store(E("pair-split", 1, "c1", file="copy.jsonl"))
def a_branch_that_lacks_a_call(folder: Path) -> None:
    log(folder, "talk", *TURN, metadata={})
    log(folder, "copy", *TURN[2:], metadata={"parent_id": "talk"})


@store(E("unanswered-call", 2, "c1", file="copy.jsonl"))
def a_branch_whose_parent_is_gone(folder: Path) -> None:
    log(folder, "copy", *TURN[:2], message(9, "user"), message(10, "assistant"), metadata={"parent_id": "gone"})


@store(E("pair-split", 2, "c1", file="copy.jsonl"))
def a_branch_of_a_conversation_with_segments(folder: Path) -> None:
    log(folder, "talk", seal(folder, "talk", 1, *TURN), *MORE, metadata={})
    log(folder, "copy", *TURN[:2], message(9, "user"), message(10, "assistant"), metadata={"parent_id": "talk"})
