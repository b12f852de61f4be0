"""Healthy Claude Code stores in which much is going on: nothing is wrong with any of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.scenarios.claude_faults import Make
from tests.scenarios.made import PROJECT, SESSION, START, Scenario, Transcript, stamp

HEALTHY: list[Scenario] = []


def healthy(**settings: Any) -> Callable[[Make], Make]:
    """Enter a transcript in which nothing may be found."""

    def enter(make: Make) -> Make:
        def write(folder: Path) -> None:
            transcript = Transcript()
            make(transcript)
            transcript.write(folder)

        HEALTHY.append(Scenario(make.__name__, write, (), settings, ("unanswered-turn",) if settings else ()))
        return make

    return enter


@healthy()
def hooks_between_call_and_result(t: Transcript) -> None:
    t.user()
    t.call("m1", "toolu_01")
    t.node("progress", {"data": {"type": "hook_progress"}, "toolUseID": "toolu_01", "parentToolUseID": "toolu_01"})
    t.node("attachment", {"attachment": {"type": "hook_success", "hookName": "PreToolUse:Bash"}})
    t.result("toolu_01")
    t.node("attachment", {"attachment": {"type": "hook_success", "hookName": "PostToolUse:Bash"}})
    t.say("m2")
    t.system("stop_hook_summary", hookCount=1)
    t.system("turn_duration", durationMs=1200)
    t.user()
    t.say("m3")


@healthy()
def progress_records_carry_parallel_results(t: Transcript) -> None:
    """The result of the first call hangs on a progress record that hangs on its call, beside the chain."""
    t.user()
    t.call("m1", "toolu_A")
    t.call("m1", "toolu_B")
    t.node("progress", {"data": {"type": "bash_progress"}, "toolUseID": "toolu_A", "parentToolUseID": "toolu_A"}, 2)
    t.result("toolu_A", parent=4, sourceToolAssistantUUID=t.uuid(2))
    t.result("toolu_B", parent=3, sourceToolAssistantUUID=t.uuid(3))
    t.say("m2")


@healthy()
def an_attachment_carries_a_parallel_result(t: Transcript) -> None:
    t.user()
    t.call("m1", "toolu_A")
    t.call("m1", "toolu_B")
    t.node("attachment", {"attachment": {"type": "hook_success", "toolUseID": "toolu_A"}}, 2)
    t.result("toolu_A", parent=4, sourceToolAssistantUUID=t.uuid(2))
    t.result("toolu_B", parent=3, sourceToolAssistantUUID=t.uuid(3))
    t.say("m2")


@healthy()
def parallel_results_in_any_order(t: Transcript) -> None:
    t.user()
    t.answer("m1", {"type": "thinking", "thinking": "hm", "signature": "c2ln"})
    t.say("m1", "three at once", stop="tool_use")
    for name in ("toolu_A", "toolu_B", "toolu_C"):
        t.call("m1", name)
    t.result("toolu_C", parent=6)
    t.result("toolu_A", parent=4)
    t.result("toolu_B", parent=5)
    t.say("m2", parent=8)
    t.user()
    t.say("m3")


@healthy()
def results_between_the_calls_of_one_answer(t: Transcript) -> None:
    """Tools that start while the answer is still streaming."""
    t.user()
    t.call("m1", "toolu_A")
    t.result("toolu_A")
    t.call("m1", "toolu_B")
    t.result("toolu_B")
    t.call("m1", "toolu_C", parent=4)
    t.result("toolu_C")
    t.say("m2")


@healthy()
def results_of_siblings_while_the_answer_streams(t: Transcript) -> None:
    t.user()
    t.call("m1", "toolu_A")
    t.result("toolu_A")
    t.call("m1", "toolu_B", parent=2)
    t.result("toolu_B")
    t.say("m2")


@healthy()
def queued_command_as_an_attachment(t: Transcript) -> None:
    t.user()
    t.call("m1", "toolu_01")
    t.bare("queue-operation", operation="enqueue", timestamp=stamp(START), content="and then?")
    t.result("toolu_01")
    t.node("attachment", {"attachment": {"type": "queued_command", "prompt": "and then?"}})
    t.bare("queue-operation", operation="remove", timestamp=stamp(START))
    t.call("m2", "toolu_02")
    t.node("attachment", {"attachment": {"type": "queued_command", "prompt": "faster"}})
    t.result("toolu_02")
    t.say("m3")


@healthy()
def api_errors_and_a_retry(t: Transcript) -> None:
    t.user()
    t.system("api_error", level="error", error={"status": 529}, retryAttempt=1)
    t.system("api_error", level="error", error={"status": 529}, retryAttempt=2)
    t.say("m1")
    t.user()
    t.say("8c1d0000-0000-4000-8000-000000000001", "API Error: 500", isApiErrorMessage=True, error="server_error")
    t.user("again")
    t.say("m2")


@healthy()
def api_error_between_a_result_and_the_next_answer(t: Transcript) -> None:
    t.user()
    t.call("m1", "toolu_01")
    t.result("toolu_01")
    t.say("synthetic", "API Error: Overloaded", isApiErrorMessage=True)
    t.user("continue")
    t.call("m2", "toolu_02")
    t.result("toolu_02")
    t.say("m3")


@healthy()
def a_rejected_tool_use(t: Transcript) -> None:
    """Escape: the call gets a result that says so, and a user line notes the interruption."""
    t.user()
    t.call("m1", "toolu_01")
    t.call("m1", "toolu_02")
    said = "The user doesn't want to proceed with this tool use."
    t.result("toolu_01", parent=2, content=said)
    t.result("toolu_02", parent=3, content=said)
    t.user([{"type": "text", "text": "[Request interrupted by user for tool use]"}])
    t.user("use git")
    t.say("m2")


@healthy()
def a_result_with_text_behind_it_in_one_record(t: Transcript) -> None:
    t.user()
    t.call("m1", "toolu_01")
    t.user([{"type": "tool_result", "tool_use_id": "toolu_01", "content": "x"}, {"type": "text", "text": "note"}])
    t.say("m2")


@healthy()
def compacted_twice(t: Transcript) -> None:
    t.user()
    for number in range(2):
        t.call(f"m{number}a", f"toolu_{number}")
        t.result(f"toolu_{number}")
        t.say(f"m{number}b")
        t.compact()
        t.say(f"m{number}c")
        t.user()
    t.say("m9")


@healthy()
def compacted_by_hand_with_its_command(t: Transcript) -> None:
    t.user()
    t.say("m1")
    t.user("<command-name>/compact</command-name>")
    t.system("local_command", content="<local-command-stdout>Compacted</local-command-stdout>")
    t.compact(trigger="manual")
    t.user("<local-command-caveat>Caveat: the messages below…</local-command-caveat>", isMeta=True)
    t.user("<command-name>/compact</command-name>\n<command-message>compact</command-message>")
    t.user("<local-command-stdout>Compacted.</local-command-stdout>")
    t.user("next")
    t.say("m2")


@healthy()
def compaction_while_a_turn_runs(t: Transcript) -> None:
    """Automatic compaction after results: the next answer follows the summary."""
    t.user()
    t.call("m1", "toolu_01")
    t.result("toolu_01")
    t.compact()
    t.call("m2", "toolu_02")
    t.result("toolu_02")
    t.say("m3")


@healthy()
def micro_compaction(t: Transcript) -> None:
    t.user()
    t.call("m1", "toolu_01")
    t.result("toolu_01")
    t.system("microcompact_boundary", content="Context microcompacted", microcompactMetadata={"trigger": "auto"})
    t.say("m2")
    t.user()
    t.say("m3")


@healthy()
def micro_compaction_between_call_and_result(t: Transcript) -> None:
    t.user()
    t.call("m1", "toolu_01")
    t.system("microcompact_boundary", content="Context microcompacted", microcompactMetadata={"trigger": "auto"})
    t.result("toolu_01")
    t.say("m2")


@healthy()
def compaction_that_kept_a_segment(t: Transcript) -> None:
    """The kept records keep their old parents on disk; the reader hangs them behind the summary."""
    t.user()
    t.say("m1")
    t.user("kept from here")
    t.call("m2", "toolu_01")
    t.result("toolu_01")
    boundary = len(t.lines) + 1
    kept = {"headUuid": t.uuid(3), "anchorUuid": t.uuid(boundary + 1), "tailUuid": t.uuid(5)}
    t.compact(preservedSegment=kept)
    t.say("m3", parent=5)
    t.user()
    t.say("m4")


@healthy()
def compaction_that_kept_messages(t: Transcript) -> None:
    t.user()
    t.say("m1")
    t.user("kept from here")
    t.call("m2", "toolu_01")
    t.result("toolu_01")
    boundary = len(t.lines) + 1
    named = [t.uuid(line) for line in (3, 4, 5)]
    kept = {"anchorUuid": t.uuid(boundary + 1), "uuids": named, "allUuids": named}
    t.compact(preservedMessages=kept)
    t.say("m3")
    t.user()
    t.say("m4")


@healthy()
def compaction_that_kept_the_call_of_a_later_result(t: Transcript) -> None:
    t.user()
    t.say("m1")
    t.user("kept from here")
    t.call("m2", "toolu_01")
    boundary = len(t.lines) + 1
    kept = {"headUuid": t.uuid(3), "anchorUuid": t.uuid(boundary + 1), "tailUuid": t.uuid(4)}
    t.compact(preservedSegment=kept)
    t.result("toolu_01", parent=4)
    t.say("m3")


@healthy()
def compaction_replayed_with_fresh_ids(t: Transcript) -> None:
    """Branch kind (b): copies of the last messages behind the summary, same times, fresh ids."""
    t.user()
    t.say("m1")
    t.user("copied")
    t.call("m2", "toolu_01")
    t.result("toolu_01")
    t.compact()
    first = t.last
    t.user("copied", timestamp=stamp(START + 3 * 2000))
    t.call("m2", "toolu_01", timestamp=stamp(START + 4 * 2000))
    t.result("toolu_01", timestamp=stamp(START + 5 * 2000))
    t.say("m3")
    assert first == 7


@healthy()
def rewound_to_different_places(t: Transcript) -> None:
    t.user("a")
    t.say("m1")
    t.user("b")
    t.call("m2", "toolu_01")
    t.result("toolu_01")
    t.say("m3")
    t.user("b, edited", parent=2)
    t.say("m4")
    t.user("c")
    t.say("m5")
    t.user("b, once more", parent=2)
    t.say("m6")
    t.user("a, edited", parent=None)
    t.lines.pop()
    t.last = 12
    t.user("d")
    t.say("m7")


@healthy()
def rewound_while_a_call_was_open(t: Transcript) -> None:
    """The branch that the user left ends with a call; it is not what the agent sends."""
    t.user("a")
    t.say("m1")
    t.user("b")
    t.call("m2", "toolu_01")
    t.user("b, edited", parent=2)
    t.say("m3")


@healthy(scope="full")
def rewound_away_from_parallel_results(t: Transcript) -> None:
    """On the branch that was left, too, the result of the first call hangs beside the way."""
    t.user("a")
    t.say("m1")
    t.user("b")
    t.call("m2", "toolu_A")
    t.call("m2", "toolu_B")
    t.result("toolu_A", 4)
    t.result("toolu_B", 5)
    t.say("m3")
    t.user("b, edited", 2)
    t.say("m4")


@healthy()
def rewound_to_before_a_compaction(t: Transcript) -> None:
    t.user("a")
    t.say("m1")
    t.user("b")
    t.say("m2")
    t.compact()
    t.user("c")
    t.say("m3")
    t.user("b, edited", 2)
    t.say("m4")


@healthy()
def rewound_behind_an_attachment(t: Transcript) -> None:
    t.user("a")
    t.say("m1")
    t.system("turn_duration", durationMs=5)
    t.user("b")
    t.node("attachment", {"attachment": {"type": "hook_success"}})
    t.say("m2")
    t.user("b, edited", parent=3)
    t.node("attachment", {"attachment": {"type": "hook_success"}})
    t.say("m3")


@healthy()
def the_first_prompt_was_edited(t: Transcript) -> None:
    """The edited first prompt is a second root: the user's own branch (a rewind to the very start)."""
    t.node("attachment", {"attachment": {"type": "hook_success", "hookEvent": "SessionStart"}}, None)
    t.user("a")
    t.say("m1")
    t.user("a, edited", parent=1)
    t.say("m2")


@healthy()
def resumed_with_a_copied_prefix(t: Transcript) -> None:
    """The first lines keep their ids and the session that they were written in."""
    old = "99999999-0000-4000-8000-000000000009"
    t.user(sessionId=old)
    t.call("m1", "toolu_01", sessionId=old)
    t.result("toolu_01", sessionId=old)
    t.say("m2", sessionId=old)
    t.user()
    t.say("m3")


@healthy()
def a_skill_adds_a_meta_message(t: Transcript) -> None:
    t.user()
    t.call("m1", "toolu_01")
    t.result("toolu_01", content="Launching skill: x")
    t.user([{"type": "text", "text": "Base directory for this skill"}], isMeta=True, sourceToolUseID="toolu_01")
    t.say("m2")
    t.user("<system-reminder>x</system-reminder>", isMeta=True)
    t.user("next")
    t.say("m3")


@healthy()
def two_skills_at_once(t: Transcript) -> None:
    t.user()
    t.call("m1", "toolu_01")
    t.call("m1", "toolu_02")
    t.result("toolu_01", parent=2)
    t.user([{"type": "text", "text": "Base directory"}], isMeta=True, sourceToolUseID="toolu_01")
    t.result("toolu_02", parent=3)
    t.user([{"type": "text", "text": "Base directory"}], isMeta=True, sourceToolUseID="toolu_02")
    t.say("m2")


@healthy()
def unknown_types_and_side_records(t: Transcript) -> None:
    t.bare("summary", summary="A title", leafUuid=t.uuid(3))
    t.bare("mode", mode="default")
    t.user()
    t.bare("file-history-snapshot", messageId=t.uuid(3), snapshot={"messageId": t.uuid(3)}, isSnapshotUpdate=False)
    t.node("brand-new-thing", {"payload": [1, 2]})
    t.say("m1")
    t.bare("never-seen-before", value=1)
    t.bare("last-prompt", leafUuid=t.uuid(6), lastPrompt="go on")
    t.bare("ai-title", aiTitle="x")
    t.bare("pr-link", prNumber=1, prUrl="https://example.invalid/1")


@healthy()
def a_server_tool(t: Transcript) -> None:
    t.user()
    t.answer("m1", {"type": "thinking", "thinking": "", "signature": "c2ln"})
    t.answer("m1", {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}})
    t.answer("m1", {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []})
    t.say("m1")
    t.user()
    t.say("m2")


@healthy()
def server_and_client_calls_in_one_answer(t: Transcript) -> None:
    t.user()
    t.answer("m1", {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}})
    t.answer("m1", {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []})
    t.call("m1", "toolu_01")
    t.result("toolu_01")
    t.say("m2")


@healthy()
def a_stop_for_tools_with_a_server_call_alone(t: Transcript) -> None:
    use = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
    t.user()
    t.answer("m1", use, stop="tool_use")
    t.answer("m1", {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}, stop="tool_use")
    t.say("m2")


@healthy()
def side_chains_in_the_main_file(t: Transcript) -> None:
    """As old versions wrote them: two sub-agents at once, their lines interleaved."""
    t.user()
    t.call("m1", "toolu_T1")
    t.call("m1", "toolu_T2")
    t.user("look", None, isSidechain=True, agentId="a1")
    t.user("seek", None, isSidechain=True, agentId="a2")
    t.call("s1", "toolu_S1", 4, isSidechain=True, agentId="a1")
    t.call("s2", "toolu_S2", 5, isSidechain=True, agentId="a2")
    t.result("toolu_S1", 6, isSidechain=True, agentId="a1")
    t.result("toolu_S2", 7, isSidechain=True, agentId="a2")
    t.say("s3", "found", 8, isSidechain=True, agentId="a1")
    t.say("s4", "found", 9, isSidechain=True, agentId="a2")
    t.result("toolu_T1", 2)
    t.result("toolu_T2", 3)
    t.say("m2")


@healthy()
def side_chains_without_an_agent_id(t: Transcript) -> None:
    """Before agents had ids: only the parents tell the two threads apart."""
    t.user()
    t.call("m1", "toolu_T1")
    t.call("m1", "toolu_T2")
    t.user("look", None, isSidechain=True)
    t.user("seek", None, isSidechain=True)
    t.call("s1", "toolu_S1", 4, isSidechain=True)
    t.call("s2", "toolu_S2", 5, isSidechain=True)
    t.result("toolu_S1", 6, isSidechain=True)
    t.result("toolu_S2", 7, isSidechain=True)
    t.say("s3", "found", 8, isSidechain=True)
    t.say("s4", "found", 9, isSidechain=True)
    t.result("toolu_T1", 2)
    t.result("toolu_T2", 3)
    t.say("m2")


@healthy()
def a_side_chain_with_parallel_calls(t: Transcript) -> None:
    side: dict[str, Any] = {"isSidechain": True, "agentId": "a1"}
    t.user()
    t.call("m1", "toolu_T1")
    t.user("look", None, **side)
    t.call("s1", "toolu_S1", **side)
    t.call("s1", "toolu_S2", **side)
    t.result("toolu_S1", 4, **side)
    t.result("toolu_S2", 5, **side)
    t.say("s2", **side)
    t.result("toolu_T1", 2)
    t.say("m2")


@healthy()
def an_answer_whose_lines_have_different_request_ids(t: Transcript) -> None:
    t.user()
    t.answer("m1", {"type": "redacted_thinking", "data": "x"})
    t.say("m1", stop=None)
    t.call("m1", "toolu_01", stop=None)
    t.result("toolu_01")
    t.answer("m2", {"type": "text", "text": "done"}, stop="stop_sequence")


@healthy()
def images_and_documents(t: Transcript) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
    t.user([{"type": "text", "text": "see"}, image], imagePasteIds=[1])
    t.call("m1", "toolu_01")
    t.result("toolu_01", content=[{"type": "text", "text": "x"}, image])
    t.user([{"type": "document", "source": {"type": "text", "data": "x"}}], isMeta=True)
    t.say("m2")


@healthy()
def blank_lines(t: Transcript) -> None:
    t.user()
    t.raw(b"\n")
    t.raw(b"   \t\n")
    t.say("m1", parent=1)


@healthy(now=START + 60_000)
def a_running_tool(t: Transcript) -> None:
    t.user()
    t.call("m1", "toolu_01")


@healthy(now=START + 60_000)
def a_running_tool_with_a_hook_behind_the_call(t: Transcript) -> None:
    t.user()
    t.call("m1", "toolu_01")
    t.node("progress", {"data": {"type": "hook_progress"}, "toolUseID": "toolu_01", "parentToolUseID": "toolu_01"})


@healthy(now=START + 60_000)
def one_of_two_running_tools_is_done(t: Transcript) -> None:
    t.user()
    t.call("m1", "toolu_01")
    t.call("m1", "toolu_02")
    t.result("toolu_01", 2)


@healthy(now=START + 50 * 60_000)
def a_tool_that_runs_for_fifty_minutes(t: Transcript) -> None:
    t.user()
    t.call("m1", "toolu_01")


@healthy(now=START + 60_000)
def a_prompt_that_is_being_answered(t: Transcript) -> None:
    t.user()
    t.say("m1")
    t.user("next")


def many_sessions(folder: Path) -> None:
    """Main files, a resumed one with copied ids, sub-agents in both layouts, side files, an index, a registry."""
    main = Transcript()
    main.user()
    main.call("m1", "toolu_T")
    main.result("toolu_T", toolUseResult={"agentId": "a1"})
    main.call("m2", "toolu_BIG")
    saved = f"/home/user/.claude/{PROJECT}/{SESSION}/tool-results/toolu_BIG.txt"
    main.result(
        "toolu_BIG",
        content=f"<persisted-output>\nOutput too large (90KB). Full output saved to: {saved}\n\nPreview (first 2KB):\n",
        toolUseResult={"persistedOutputPath": saved, "persistedOutputSize": 90_000},
    )
    main.say("m3")
    main.write(folder)
    below = folder / PROJECT / SESSION
    agent = Transcript(prefix="bbbbbbbb", agent="a1")
    agent.user("look", None)
    agent.call("s1", "toolu_S")
    agent.result("toolu_S")
    agent.say("s2")
    agent.write(folder, f"{PROJECT}/{SESSION}/subagents/agent-a1.jsonl")
    agent.write(folder, f"{PROJECT}/{SESSION}/subagents/workflows/run1/agent-a9.jsonl")
    (below / "subagents/agent-a1.meta.json").write_text('{"agentType":"Explore","toolUseId":"toolu_T"}')
    (below / "subagents/journal.jsonl").write_text('{"event":"start"}\n')
    (below / "tool-results").mkdir()
    (below / "tool-results/toolu_BIG.txt").write_text("x")
    (below / "workflows").mkdir()
    (below / "workflows/wf_1.json").write_text("{}")
    old = Transcript(prefix="cccccccc", agent="old1")
    old.user("look", None)
    old.say("s1")
    old.write(folder, f"{PROJECT}/agent-old1.jsonl")
    fork = Transcript("22222222-0000-4000-8000-000000000002")
    fork.lines = list(main.lines)
    fork.last = 6
    fork.user()
    fork.say("m4")
    fork.write(folder, f"{PROJECT}/{fork.session}.jsonl")
    entries: list[dict[str, Any]] = [{"sessionId": SESSION}, {"sessionId": fork.session}]
    (folder / PROJECT / "sessions-index.json").write_text(json.dumps({"version": 1, "entries": entries}))
    (folder / PROJECT / "memory").mkdir()
    (folder / PROJECT / "memory/MEMORY.md").write_text("x")
    (folder / PROJECT / ".session-aliases").write_text("-home-user-demo-b\n")
    (folder / "todos").mkdir()
    (folder / "todos/x.json").write_text("[]")
    (folder / "history.jsonl").write_text(json.dumps({"display": "x", "sessionId": SESSION, "timestamp": START}) + "\n")
    (folder / "settings.json").write_text('{"cleanupPeriodDays": 365}')


HEALTHY.append(Scenario("many_sessions", many_sessions))
