"""Claude Code stores of several files, and what must be found in each."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.scenarios.made import MAIN, NOW, PROJECT, SESSION, START, Expected, Scenario, Transcript, stamp

Write = Callable[[Path], None]
STORES: list[Scenario] = []
E = Expected
OTHER = "22222222-0000-4000-8000-000000000002"
AGENT = f"{PROJECT}/{SESSION}/subagents/agent-a1.jsonl"
# The process that runs the tests: it is alive while it asks.
ALIVE = os.getpid()
GONE = 2**22 + 12345


def store(*expected: Expected, never: tuple[str, ...] = (), **settings: Any) -> Callable[[Write], Write]:
    """Enter a store with what must be found in it."""

    def enter(write: Write) -> Write:
        STORES.append(Scenario(write.__name__, write, expected, settings, never))
        return write

    return enter


def talk(folder: Path, session: str = SESSION, *, cwd: str = "/home/user/demo") -> Transcript:
    """A healthy main transcript."""
    t = Transcript(session, prefix=session[:8])
    t.cwd = cwd
    t.user()
    t.say("m1")
    t.write(folder, f"{PROJECT}/{session}.jsonl")
    return t


def sub_agent() -> Transcript:
    t = Transcript(prefix="bbbbbbbb", agent="a1")
    t.user("look", None)
    t.call("s1", "toolu_S")
    t.result("toolu_S")
    t.say("s2")
    return t


def open_call(folder: Path) -> None:
    t = Transcript()
    t.user()
    t.call("m1", "toolu_OPEN")
    t.write(folder)


def registry(folder: Path, pid: int, session: str = SESSION, status: str = "busy") -> None:
    (folder / "sessions").mkdir(parents=True, exist_ok=True)
    entry = {"pid": pid, "sessionId": session, "cwd": "/home/user/demo", "startedAt": START, "status": status}
    (folder / "sessions" / f"{pid}.json").write_text(json.dumps(entry))


@store(E("missing-transcript", file=f"{PROJECT}/{OTHER}"))
def a_transcript_is_gone(folder: Path) -> None:
    talk(folder)
    sub_agent().write(folder, f"{PROJECT}/{OTHER}/subagents/agent-a1.jsonl")


@store(E("metadata-only", file=MAIN))
def a_transcript_was_emptied(folder: Path) -> None:
    path = folder / MAIN
    path.parent.mkdir(parents=True)
    path.write_bytes(b"")
    path.chmod(0o600)
    sub_agent().write(folder, AGENT)


@store(E("deleted-session-traces", severity="info", file=f"{PROJECT}/{OTHER}"), never=("missing-transcript",))
def only_saved_outputs_are_left(folder: Path) -> None:
    talk(folder)
    (folder / PROJECT / OTHER / "tool-results").mkdir(parents=True)
    (folder / PROJECT / OTHER / "tool-results/toolu_1.txt").write_text("x")


@store(E("deleted-session-traces", severity="info", file=f"{PROJECT}/{OTHER}.jsonl"))
def only_prompts_are_left(folder: Path) -> None:
    talk(folder)
    t = Transcript(OTHER)
    t.bare("last-prompt", lastPrompt="one")
    t.bare("ai-title", aiTitle="x")
    t.write(folder, f"{PROJECT}/{OTHER}.jsonl")


@store(E("deleted-session-traces", 2, severity="info", file="history.jsonl"))
def only_the_prompt_history_is_left(folder: Path) -> None:
    talk(folder)
    lines = [{"display": "x", "timestamp": START, "sessionId": each} for each in (SESSION, OTHER, OTHER)]
    (folder / "history.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


@store(E("attachment-missing", 3))
def a_saved_output_is_gone(folder: Path) -> None:
    t = Transcript()
    t.user()
    t.call("m1", "toolu_01")
    saved = f"/home/user/.claude/{PROJECT}/{SESSION}/tool-results/toolu_01.txt"
    t.result("toolu_01", toolUseResult={"stdout": "", "persistedOutputPath": saved})
    t.say("m2")
    t.write(folder)


@store(E("attachment-missing", 3), E("attachment-missing", 6))
def saved_outputs_named_in_text_are_gone(folder: Path) -> None:
    t = Transcript()
    words = "<persisted-output>\nOutput too large (54KB). Full output saved to: {}/tool-results/{}.txt\n\nPreview:\nx\n"
    words += "</persisted-output>"
    t.user()
    t.call("m1", "toolu_01")
    t.result("toolu_01", content=words.format(f"/home/user/.claude/{PROJECT}/{SESSION}", "toolu_01"))
    t.say("m2")
    t.call("m3", "toolu_02")
    t.result("toolu_02", content=[{"type": "text", "text": words.format(SESSION, "b1c2")}])
    t.call("m4", "toolu_03")
    t.result("toolu_03", content=words.format(f"/root/.claude/projects/-root/{SESSION}", "toolu_03"))
    t.say("m5")
    t.write(folder)
    saved = folder / PROJECT / SESSION / "tool-results"
    saved.mkdir(parents=True)
    (saved / "toolu_03.txt").write_text("x")


@store(E("retention-risk", severity="warning", file="settings.json"))
def transcripts_are_kept_for_one_day(folder: Path) -> None:
    talk(folder)
    (folder / "settings.json").write_text('{"cleanupPeriodDays": 1}')


@store(E("retention-risk", severity="warning", file="settings.json"))
def transcripts_are_kept_for_no_day(folder: Path) -> None:
    talk(folder)
    (folder / "settings.json").write_text('{"cleanupPeriodDays": 0}')


@store(E("retention-risk", severity="warning", file="settings.json"), now=NOW + 40 * 86_400_000)
def settings_do_not_say_how_long(folder: Path) -> None:
    talk(folder)
    (folder / "settings.json").write_text('{"model": "opus"}')


@store()
def transcripts_are_kept_long_enough(folder: Path) -> None:
    talk(folder)
    (folder / "settings.json").write_text('{"cleanupPeriodDays": 30}')


@store(
    E("index-stale", severity="warning", file=f"{PROJECT}/sessions-index.json", id=OTHER),
    E("index-stale", severity="warning", file=f"{PROJECT}/sessions-index.json", id=SESSION),
)
def the_index_lacks_one_and_names_one_that_is_gone(folder: Path) -> None:
    talk(folder)
    (folder / PROJECT / "sessions-index.json").write_text(
        json.dumps({"version": 1, "entries": [{"sessionId": OTHER, "messageCount": 7}]})
    )


@store(E("index-stale", severity="warning", file=f"{PROJECT}/sessions-index.json", id=SESSION))
def the_index_has_old_counts(folder: Path) -> None:
    """A transcript of two messages, and an index that has counted seventy."""
    talk(folder)
    entries = [{"sessionId": SESSION, "fullPath": f"/home/user/.claude/{MAIN}", "messageCount": 70}]
    (folder / PROJECT / "sessions-index.json").write_text(json.dumps({"version": 1, "entries": entries}))


@store()
def the_index_has_right_counts(folder: Path) -> None:
    talk(folder)
    entries = [{"sessionId": SESSION, "fullPath": f"/home/user/.claude/{MAIN}", "messageCount": 2}]
    (folder / PROJECT / "sessions-index.json").write_text(json.dumps({"version": 1, "entries": entries}))


@store()
def the_index_leaves_out_sub_agents(folder: Path) -> None:
    talk(folder)
    sub_agent().write(folder, f"{PROJECT}/agent-a1.jsonl")
    entries = [{"sessionId": SESSION}]
    (folder / PROJECT / "sessions-index.json").write_text(json.dumps({"version": 1, "entries": entries}))


@store(E("project-dir-collision", severity="warning", file=PROJECT))
def two_projects_in_one_folder(folder: Path) -> None:
    talk(folder)
    talk(folder, OTHER, cwd="/home/user.demo")


@store()
def a_session_that_changed_its_directory(folder: Path) -> None:
    t = Transcript()
    t.user()
    t.cwd = "/home/user/demo/inner"
    t.say("m1")
    t.write(folder)


@store(E("leftover-file", severity="info", file=f"{PROJECT}/{SESSION}.jsonl.bak"))
def a_backup_lies_about(folder: Path) -> None:
    talk(folder)
    (folder / f"{MAIN}.bak").write_text("x")


@store(E("file-mode", severity="warning", file=f"{PROJECT}/{OTHER}.jsonl"))
def one_file_is_open_to_all(folder: Path) -> None:
    talk(folder)
    talk(folder, OTHER)
    (folder / f"{PROJECT}/{OTHER}.jsonl").chmod(0o644)


@store(E("unanswered-call", 2, "toolu_X", file=AGENT))
def a_sub_agent_stopped_at_a_call(folder: Path) -> None:
    talk(folder)
    t = Transcript(prefix="bbbbbbbb", agent="a1")
    t.user("look", None)
    t.call("s1", "toolu_X")
    t.write(folder, AGENT)


@store(E("dangling-parent", 3, file=AGENT))
def a_sub_agent_with_a_phantom_parent(folder: Path) -> None:
    talk(folder)
    t = Transcript(prefix="bbbbbbbb", agent="a1")
    t.user("look", None)
    t.say("s1")
    t.user("more", "dddddddd-0000-4000-8000-000000000404")
    t.say("s2")
    t.write(folder, AGENT)


@store(
    E("foreign-record", 3, severity="warning"),
    E("foreign-record", 4, severity="warning"),
    E("foreign-record", 6, severity="warning"),
)
def records_of_a_session_that_is_there(folder: Path) -> None:
    talk(folder, OTHER)
    t = Transcript()
    t.user()
    t.say("m1")
    t.call("n1", "toolu_F", f"{OTHER[:8]}-0000-4000-8000-{2:012d}", sessionId=OTHER)
    t.result("toolu_F", sessionId=OTHER)
    t.user("three", 2)
    t.say("n2", parent=4, sessionId=OTHER)
    t.say("m2", parent=5)
    t.write(folder)


@store(E("open-call", 2, "toolu_OPEN", severity="info"))
def the_process_of_an_open_call_is_alive(folder: Path) -> None:
    open_call(folder)
    registry(folder, ALIVE)


@store(E("open-call", 2, "toolu_OPEN", severity="info"), assume_idle=True)
def a_living_process_is_a_hard_sign(folder: Path) -> None:
    """`--assume-idle` overrides soft signs only."""
    open_call(folder)
    registry(folder, ALIVE, status="idle")


@store(E("unanswered-call", 2, "toolu_OPEN"), E("stale-running", severity="warning", file=f"sessions/{GONE}.json"))
def the_process_of_an_open_call_is_gone(folder: Path) -> None:
    open_call(folder)
    registry(folder, GONE)


@store(E("unanswered-call", 2, "toolu_OPEN"))
def a_living_process_of_another_session(folder: Path) -> None:
    open_call(folder)
    registry(folder, ALIVE, OTHER)


@store(E("unanswered-call", 2, "toolu_OPEN"))
def a_registry_file_that_is_half_written(folder: Path) -> None:
    open_call(folder)
    (folder / "sessions").mkdir()
    (folder / f"sessions/{ALIVE}.json").write_text('{"pid": 12')


@store(E("open-call", 2, "toolu_OPEN", severity="info"), now=START + 60_000)
def a_registry_file_of_a_dead_pid_that_is_young(folder: Path) -> None:
    """Another pid namespace looks dead: within the time-out it is a soft sign, and no stale mark."""
    open_call(folder)
    (folder / "sessions").mkdir()
    entry = {"pid": GONE, "sessionId": SESSION, "startedAt": START, "status": "busy"}
    (folder / f"sessions/{GONE}.json").write_text(json.dumps(entry))
    os.utime(folder / f"sessions/{GONE}.json", ((START + 50_000) / 1000,) * 2)


@store(E("unanswered-call", 2, "toolu_OPEN"), now=START + 60_000, assume_idle=True)
def assumed_idle(folder: Path) -> None:
    open_call(folder)


@store(E("unanswered-call", 2, "toolu_OPEN"), now=START + 2 * 3_600_000)
def an_open_call_of_two_hours_ago(folder: Path) -> None:
    open_call(folder)


@store(E("unanswered-turn", 1, severity="info"))
def a_prompt_that_nothing_answers(folder: Path) -> None:
    t = Transcript()
    t.user()
    t.write(folder)


@store(E("pair-split", id="toolu_SPLIT"))
def the_kept_messages_lack_a_call(folder: Path) -> None:
    """The compaction kept the result and left the call behind."""
    t = Transcript()
    t.user()
    t.call("m1", "toolu_SPLIT")
    t.result("toolu_SPLIT")
    t.say("m2")
    names = [t.uuid(3), t.uuid(4)]
    t.compact(preservedMessages={"anchorUuid": t.uuid(6), "uuids": names, "allUuids": names})
    t.user("next")
    t.say("m3")
    t.write(folder)


@store()
def a_fork_shares_the_saved_outputs_of_its_source(folder: Path) -> None:
    """A fork keeps the path that its source wrote, and the file is where that path says."""
    t = Transcript()
    t.user()
    t.call("m1", "toolu_01")
    saved = f"/home/user/.claude/{PROJECT}/{SESSION}/tool-results/toolu_01.txt"
    t.result("toolu_01", toolUseResult={"persistedOutputPath": saved})
    t.say("m2")
    t.write(folder)
    (folder / PROJECT / SESSION / "tool-results").mkdir(parents=True)
    (folder / PROJECT / SESSION / "tool-results/toolu_01.txt").write_text("x")
    t.session = OTHER
    t.user()
    t.say("m3")
    t.write(folder, f"{PROJECT}/{OTHER}.jsonl")


@store()
def a_sub_agents_saved_output(folder: Path) -> None:
    """A sub-agent's outputs lie in the folder of the session that it works for."""
    talk(folder)
    saved = f"/home/user/.claude/{PROJECT}/{SESSION}/tool-results/toolu_S.txt"
    t = Transcript(prefix="bbbbbbbb", agent="a1")
    t.user("look", None)
    t.call("s1", "toolu_S")
    t.result("toolu_S", toolUseResult={"persistedOutputPath": saved})
    t.say("s2")
    t.write(folder, AGENT)
    (folder / PROJECT / SESSION / "tool-results").mkdir()
    (folder / PROJECT / SESSION / "tool-results/toolu_S.txt").write_text("x")


@store(E("parent-cycle"), E("parent-cycle"))
def two_cycles(folder: Path) -> None:
    t = Transcript()
    t.user("a", 2)
    t.say("m1")
    t.user("b", 4)
    t.say("m2")
    t.user("c", 4, timestamp=stamp(START + 99_000))
    t.say("m3")
    t.write(folder)


@store(E("nul-run", 2))
def two_records_with_nuls_between_them(folder: Path) -> None:
    t = Transcript()
    t.user()
    t.call("m1", "toolu_01")
    t.result("toolu_01")
    t.say("m2")
    t.lines[1:3] = [t.lines[1][:-1] + b"\0" * 300 + t.lines[2]]
    t.write(folder)


@store()
def text_before_a_result_in_one_record(folder: Path) -> None:
    """Claude Code's reader joins: a text block before a result is no fault here."""
    t = Transcript()
    t.user()
    t.call("m1", "toolu_01")
    t.user([{"type": "text", "text": "x"}, {"type": "tool_result", "tool_use_id": "toolu_01", "content": "x"}])
    t.say("m2")
    t.write(folder)


@store()
def the_chain_goes_through_the_result_of_the_first_call(folder: Path) -> None:
    """#31330, #37779: the second call and its result hang beside the chain and are sent all the same."""
    t = Transcript()
    t.user()
    t.call("m1", "toolu_A")
    t.call("m1", "toolu_B")
    t.call("m1", "toolu_C")
    t.result("toolu_A", 2)
    t.result("toolu_B", 3)
    t.result("toolu_C", 4)
    t.say("m2", parent=5)
    t.user()
    t.say("m3")
    t.write(folder)


@store(E("unanswered-call", 3, "toolu_B"))
def the_call_beside_the_chain_has_no_result(folder: Path) -> None:
    t = Transcript()
    t.user()
    t.call("m1", "toolu_A")
    t.call("m1", "toolu_B")
    t.result("toolu_A", 2)
    t.say("m2", parent=4)
    t.user()
    t.say("m3")
    t.write(folder)


@store(E("unanswered-call", 4, "toolu_X"))
def the_newest_prompt_was_written_after_a_branch(folder: Path) -> None:
    """A rewind: the branch that was left is whole, the one that is sent is not."""
    t = Transcript()
    t.user("a")
    t.say("m1")
    t.user("b", 2)
    t.call("m2", "toolu_X")
    t.user("stop it")
    t.say("m3")
    t.user("other", 2)
    t.say("m4")
    t.user("on", 6)
    t.say("m5")
    t.write(folder)
