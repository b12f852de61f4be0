"""The two stores without a fault: everything in them looks odd to somebody, and nothing is."""

from __future__ import annotations

from builders.claude_trees import FIRST, PROJECT, SECOND, path
from builders.dialog import Dialog, Transcript, call, openai_call
from builders.folder import Folder, line, sample, seal

TRIP = "jeju-trip"


def first_chapter() -> bytes:
    """Turns with flat calls, two of them in parallel, and text in Korean."""
    talk = Dialog()
    talk.record(role="system", content="You plan quiet journeys.")
    talk.user("제주도에 사흘 동안 갈 만한 곳을 알려 줘.", turn_id="t1")
    both = call("call_1", "weather", place="제주"), call("call_2", "roads", place="제주")
    talk.answer("날씨와 길을 함께 볼게요.", *both, turn_id="t1")
    talk.result("call_2", "1132번 도로: 한산함", name="roads", is_error=False, turn_id="t1")
    talk.result("call_1", "맑음, 21도 ☀️", name="weather", is_error=False, turn_id="t1")
    talk.answer("첫날은 성산, 둘째 날은 오름, 셋째 날은 바닷길이 좋아요.", turn_id="t1")
    talk.raw(b"\n")
    talk.user("Is the lighthouse open on Mondays?", turn_id="t2")
    talk.answer(None, openai_call("call_3", "opening_hours", place="lighthouse"), turn_id="t2")
    talk.result("call_3", "closed on Mondays", turn_id="t2")
    talk.answer("No, it is closed on Mondays. Go on Tuesday.", turn_id="t2")
    return b"".join(talk.lines)


def second_chapter(first: bytes) -> bytes:
    """Anthropic's blocks, a message on the agent's own account, and a compaction of the first chapter."""
    talk = Dialog(first_id=11, time=1_768_553_000_000)
    talk.user([{"type": "text", "text": "Show me the ferry times \U0001f6a2"}], turn_id="t3")
    use = {"type": "tool_use", "id": "toolu_ferry", "name": "ferry", "input": {"day": "Tuesday"}}
    talk.answer([{"type": "text", "text": "One moment."}, use], turn_id="t3")
    talk.user([{"type": "tool_result", "tool_use_id": "toolu_ferry", "content": "08:10, 13:40"}], turn_id="t3")
    talk.answer([{"type": "text", "text": "08:10 and 13:40."}], turn_id="t3")
    notice = talk.answer("🔔 The 08:10 ferry is now at 08:25.", proactive=True)
    talk.raw(talk.lines[notice - 1])
    summary = "The user plans three days on Jeju; the lighthouse is closed on Mondays."
    mark = {"type": "pippa_compaction", "id": "s1", "summary": summary, "from_id": "m1", "through_id": "m10"}
    talk.raw(line({**mark, "count": 10, "compacted_at": talk.time + 5}))
    return seal(TRIP, 1, first) + b"".join(talk.lines)


def live_chapter(second: bytes) -> bytes:
    """The live file: a turn with its own start and end marks."""
    talk = Dialog(first_id=16, time=1_768_640_000_000)
    talk.raw(line({"type": "turn_accepted", "turn_id": "t4", "timestamp": talk.time + 1}))
    talk.user('짐을 쌀 때 "우산"도 챙길까?\n아니면 우비?', turn_id="t4")
    talk.answer("비 올 확률을 볼게요.", call("call_4", "rain", days=3), turn_id="t4")
    talk.record(role="tool_result", tool_call_id="call_4", content="10%", turn_id="t4")
    talk.answer("우비 하나면 충분해요. }{ and [brackets] in a text are fine, too.", turn_id="t4")
    talk.raw(line({"type": "turn_end", "turn_id": "t4", "timestamp": talk.time + 1}))
    return seal(TRIP, 2, second) + b"".join(talk.lines)


def branch() -> Dialog:
    talk = Dialog()
    talk.user("What if we stay a week?")
    talk.answer("Then add the southern coast and a day without any plan.")
    return talk


def helper(question: str, answer: str) -> Dialog:
    talk = Dialog()
    talk.user(question)
    talk.answer("", call("call_1", "lookup", q=question))
    talk.result("call_1", answer)
    talk.answer(answer)
    return talk


@sample("healthy")
def healthy(folder: Folder) -> None:
    first = first_chapter()
    second = second_chapter(first)
    folder.put(f"{TRIP}.segments/000001.jsonl", first)
    folder.put(f"{TRIP}.segments/000002.jsonl", second)
    folder.log(TRIP, live_chapter(second), title="제주 여행")
    folder.log("jeju-trip-week", *branch().lines, parent_id=TRIP, title="A week instead")
    folder.log(f"agent_researcher__{TRIP}", *helper("Which trails are easy?", "The seventh trail.").lines)
    folder.log("agent_librarian", *helper("오름이 뭐야?", "작은 화산 언덕이에요.").lines)
    folder.log("test-smoke", *helper("ping", "pong").lines)
    folder.metadata("just-created", title="")


def garden_log() -> Transcript:
    """Parallel results as siblings, a progress record, attachments, an unknown type, a rewind."""
    log = Transcript(FIRST)
    log.bare(type="file-history-snapshot", messageId=log.uuid(1), snapshot={"messageId": log.uuid(1)})
    log.user("Check the soil and the water.")
    log.node("attachment", attachment={"type": "hook_success", "hookName": "SessionStart"})
    log.block("msg_1", {"type": "thinking", "thinking": "Two checks at once.", "signature": "c2lnbmF0dXJl"})
    soil = log.call("msg_1", "toolu_soil", "check soil")
    water = log.call("msg_1", "toolu_water", "check water")
    log.result("toolu_soil", "moist", parent=soil)
    log.result("toolu_water", "two cans left", parent=water)
    log.node("progress", data={"type": "hook_progress"}, toolUseID="toolu_water", parentToolUseID="toolu_water")
    log.say("msg_2", "The soil is moist and there is water for two days.")
    log.node("system", subtype="turn_duration", durationMs=5200, isMeta=True)
    turn = log.last
    log.user("Then pull the weeds.")
    log.say("msg_3", "That I cannot do without hands.")
    log.user("그럼 잡초 목록을 만들어 줘.", parent=turn)
    log.node("garden-weather", sky="clear")
    log.call("msg_4", "toolu_weeds", "ls weeds")
    log.result("toolu_weeds", "chickweed\nthistle")
    log.say("msg_4b", "별꽃과 엉겅퀴가 있어요.")
    return log


def compacted(log: Transcript) -> Transcript:
    """The same log, compacted and carried on."""
    boundary = {"subtype": "compact_boundary", "content": "Conversation compacted", "level": "info"}
    details = {"trigger": "manual", "preTokens": 120000}
    log.node("system", None, **boundary, logicalParentUuid=log.last, compactMetadata=details)
    log.user("So far: soil and water were checked.", isCompactSummary=True, isVisibleInTranscriptOnly=True)
    log.user("Ask a helper to count the pots.")
    log.block("msg_5", {"type": "tool_use", "id": "toolu_pots", "name": "Task", "input": {"prompt": "count the pots"}})
    log.result("toolu_pots", "eleven pots")
    log.say("msg_6", "There are eleven pots.")
    log.bare(type="ai-title", aiTitle="A walk through the garden")
    log.bare(type="last-prompt", leafUuid=log.last, lastPrompt="Ask a helper to count the pots.")
    return log


@sample("healthy-claude")
def healthy_claude(folder: Folder) -> None:
    log = compacted(garden_log())
    folder.put(path(FIRST), *log.lines)
    agent = Transcript(FIRST, agent="a1")
    agent.count = 500
    agent.user("count the pots")
    agent.call("msg_a1", "toolu_count", "ls pots | wc -l")
    agent.result("toolu_count", "11")
    agent.say("msg_a2", "Eleven pots.")
    folder.put(f"{PROJECT}/{FIRST}/subagents/agent-a1.jsonl", *agent.lines)
    meta = {"agentType": "general-purpose", "description": "count", "toolUseId": "toolu_pots"}
    folder.put(f"{PROJECT}/{FIRST}/subagents/agent-a1.meta.json", line(meta))
    short = Transcript(SECOND)
    short.user("안녕!")
    short.say("msg_1", "안녕하세요! 오늘은 무엇을 심을까요? 🌱")
    folder.put(path(SECOND), *short.lines)
