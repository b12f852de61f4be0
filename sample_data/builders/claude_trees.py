"""Samples of damage that only Claude Code's transcripts can have: trees, sessions and side files."""

from __future__ import annotations

from builders.dialog import Transcript
from builders.folder import Folder, line, sample

PROJECT = "projects/-home-mina-garden"
FIRST = "10000000-0000-4000-8000-000000000001"
SECOND = "20000000-0000-4000-8000-000000000002"
THIRD = "30000000-0000-4000-8000-000000000003"


def path(session: str) -> str:
    return f"{PROJECT}/{session}.jsonl"


def planting(session: str = FIRST) -> Transcript:
    """Five healthy lines: a prompt, a text, a call, its result, an answer."""
    log = Transcript(session)
    log.user("List the seed packets, please.")
    log.say("msg_1", "I look into the shed.")
    log.call("msg_1", f"toolu_{session[0]}seeds", "ls shed")
    log.result(f"toolu_{session[0]}seeds", "peas\nbeans\nmarigold")
    log.say("msg_2", "Peas, beans and marigold.")
    return log


@sample("dangling-parent")
def dangling_parent(folder: Folder) -> None:
    log = planting()
    lost = log.uuid(99)
    child = log.user("Sow the peas first.", parent=lost)
    log.say("msg_3", "They are in the ground.")
    folder.put(path(FIRST), *log.lines)
    folder.expect("dangling-parent", "error", path(FIRST), 6, id=child, parent=lost)


@sample("parent-cycle")
def parent_cycle(folder: Folder) -> None:
    log = planting()
    turned = log.user("Sow the peas first.", parent=log.uuid(7))
    log.say("msg_3", "They are in the ground.")
    folder.put(path(FIRST), *log.lines)
    folder.expect("parent-cycle", "error", path(FIRST), 6, id=turned, lines=[6, 7])


@sample("extra-root")
def extra_root(folder: Folder) -> None:
    log = planting()
    root = log.user("그리고 콩은 언제 심지?", parent=None)
    log.say("msg_3", "오월 초에 심어요.")
    folder.put(path(FIRST), *log.lines)
    folder.expect("extra-root", "warning", path(FIRST), 6, id=root)


@sample("unreachable-record")
def unreachable_record(folder: Folder) -> None:
    log = planting()
    question = log.user("What grows next to the beans?")
    hidden = log.say("msg_3", "Savory: it keeps the beetles away.")
    log.node("system", question, subtype="stop_hook_summary", hookCount=1)
    log.user("And next to the peas?")
    log.say("msg_4", "Carrots.")
    folder.put(path(FIRST), *log.lines)
    folder.expect("unreachable-record", "warning", path(FIRST), 7, id=hidden)


@sample("compaction-splits-pair")
def compaction_splits_pair(folder: Folder) -> None:
    log = planting()
    log.user("Measure the bed.")
    log.call("msg_3", "toolu_measure", "measure bed")
    boundary = {"subtype": "compact_boundary", "content": "Conversation compacted", "level": "info"}
    boundary |= {"logicalParentUuid": log.last, "compactMetadata": {"trigger": "auto", "preTokens": 150000}}
    log.node("system", None, **boundary)
    log.user("So far: seeds were listed.", isCompactSummary=True, isVisibleInTranscriptOnly=True)
    log.result("toolu_measure", "4 m by 1.2 m")
    log.say("msg_4", "The bed is 4 m long.")
    folder.put(path(FIRST), *log.lines)
    folder.expect("pair-split", "error", path(FIRST), 10, id="toolu_measure")


@sample("api-id-used-twice")
def api_id_used_twice(folder: Folder) -> None:
    log = planting()
    log.user("Look once more.")
    log.call("msg_3", "toolu_1seeds", "ls shed")
    log.result("toolu_1seeds", "peas\nbeans")
    log.say("msg_4", "The marigold is gone.")
    folder.put(path(FIRST), *log.lines)
    folder.expect("duplicate-call-id", "error", path(FIRST), 7, id="toolu_1seeds")


@sample("parallel-result-lost")
def parallel_result_lost(folder: Folder) -> None:
    log = Transcript(FIRST)
    log.user("Check the soil, the water and the light.")
    soil = log.call("msg_1", "toolu_soil", "check soil")
    log.call("msg_1", "toolu_water", "check water")
    light = log.call("msg_1", "toolu_light", "check light")
    log.result("toolu_soil", "moist", parent=soil)
    log.result("toolu_light", "six hours", parent=light)
    log.say("msg_2", "Moist soil and six hours of light.")
    folder.put(path(FIRST), *log.lines)
    folder.expect("unanswered-call", "error", path(FIRST), 3, id="toolu_water")


@sample("foreign-record")
def foreign_record(folder: Folder) -> None:
    log = planting()
    other = planting(SECOND)
    stray = other.user("Is the ladder in the shed?")
    log.lines.append(other.lines.pop())
    log.user("Thank you.")
    log.say("msg_3", "With pleasure.")
    folder.put(path(FIRST), *log.lines)
    folder.put(path(SECOND), *other.lines)
    folder.expect("foreign-record", "warning", path(FIRST), 6, id=stray, session=SECOND)


@sample("missing-transcript")
def missing_transcript(folder: Folder) -> None:
    helper = Transcript(SECOND, agent="a1")
    helper.user("Count the pots.")
    helper.say("msg_1", "Eleven pots.")
    folder.put(path(FIRST), *planting().lines)
    folder.put(f"{PROJECT}/{SECOND}/subagents/agent-a1.jsonl", *helper.lines)
    folder.put(f"{PROJECT}/{SECOND}/subagents/agent-a1.meta.json", line({"agentType": "general-purpose"}))
    folder.expect("missing-transcript", "error", f"{PROJECT}/{SECOND}")


@sample("metadata-only")
def metadata_only(folder: Folder) -> None:
    helper = Transcript(THIRD, agent="c1")
    helper.user("화분을 세어 줘.")
    helper.say("msg_1", "열한 개예요.")
    log = Transcript(THIRD)
    log.bare(type="ai-title", aiTitle="pots")
    log.bare(type="mode", mode="default")
    folder.put(path(THIRD), *log.lines)
    folder.put(f"{PROJECT}/{THIRD}/subagents/agent-c1.jsonl", *helper.lines)
    folder.put(f"{PROJECT}/{THIRD}/subagents/agent-c1.meta.json", line({"agentType": "general-purpose"}))
    folder.expect("metadata-only", "error", path(THIRD))


@sample("project-dir-collision")
def project_dir_collision(folder: Folder) -> None:
    for session, place in ((FIRST, "/home/mina/정원/봄"), (SECOND, "/home/mina/텃밭/꽃")):
        log = Transcript(session, cwd=place)
        log.user("What is in bloom?")
        log.say("msg_1", "The first crocuses.")
        folder.put(f"projects/-home-mina-----/{session}.jsonl", *log.lines)
    cwds = {"/home/mina/정원/봄": 1, "/home/mina/텃밭/꽃": 1}
    folder.expect("project-dir-collision", "warning", "projects/-home-mina-----/", cwds=cwds)


@sample("index-stale")
def index_stale(folder: Folder) -> None:
    folder.put(path(FIRST), *planting().lines)
    folder.put(path(SECOND), *planting(SECOND).lines)
    entry = {"sessionId": FIRST, "fullPath": f"/home/mina/.claude/{path(FIRST)}", "messageCount": 5}
    gone = {"sessionId": THIRD, "fullPath": f"/home/mina/.claude/{path(THIRD)}", "messageCount": 12}
    index = {"version": 1, "entries": [entry, gone], "originalPath": "/home/mina/garden"}
    folder.put(f"{PROJECT}/sessions-index.json", line(index))
    for session in (SECOND, THIRD):
        folder.expect("index-stale", "warning", f"{PROJECT}/sessions-index.json", id=session)


@sample("attachment-missing")
def attachment_missing(folder: Folder) -> None:
    log = Transcript(FIRST)
    log.user("Read the whole seed catalogue.")
    log.call("msg_1", "toolu_catalogue", "cat catalogue.txt")
    saved = f"/home/mina/.claude/{PROJECT}/{FIRST}/tool-results/toolu_catalogue.txt"
    text = f"<persisted-output>\nOutput too large (212 KB). Full output saved to: {saved}\n</persisted-output>"
    result = log.result("toolu_catalogue", text)
    log.say("msg_2", "There are 212 kB of seeds to dream of.")
    folder.put(path(FIRST), *log.lines)
    folder.expect("attachment-missing", "error", path(FIRST), 3, id=result)


@sample("tool-use-stop-without-call")
def stop_without_call(folder: Folder) -> None:
    log = planting()
    log.user("Water the beans.")
    log.say("msg_3", "I fetch the can.")
    log.lines[-1] = log.lines[-1].replace(b'"stop_reason":"end_turn"', b'"stop_reason":"tool_use"')
    log.user("Did you?")
    log.say("msg_4", "Not yet.")
    folder.put(path(FIRST), *log.lines)
    folder.expect("tool-use-stop-without-call", "warning", path(FIRST), 7)


@sample("retention-risk")
def retention_risk(folder: Folder) -> None:
    folder.put(path(FIRST), *planting().lines)
    folder.put("settings.json", line({"cleanupPeriodDays": 14}))
    folder.expect("retention-risk", "warning", "settings.json")


@sample("deleted-session-traces")
def deleted_session_traces(folder: Folder) -> None:
    folder.put(path(FIRST), *planting().lines)
    folder.text(f"{PROJECT}/{SECOND}/tool-results/toolu_1pots.txt", "eleven pots\n")
    folder.expect("deleted-session-traces", "info", f"{PROJECT}/{SECOND}")
