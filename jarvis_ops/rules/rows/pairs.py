"""Rows about tool calls, their results, and turns."""

from __future__ import annotations

from jarvis_ops.rules.rule import Rule

PAIRS = "pairs"
TURNS = "turns"
BROKEN = "playbooks/broken-conversation.md"

ROWS: tuple[Rule, ...] = (
    Rule(
        name="unanswered-call",
        severity="error",
        group=PAIRS,
        what="A tool call has no result before the conversation goes on, or at its end while nothing runs any more. "
        "The provider refuses the next request, and every one after it.",
        repair="An error result is put in right behind the other results of that answer; it says that no result was "
        "recorded and that the call may or may not have run.",
        safety="safe",
        playbook=BROKEN,
        provider_rules=("ANT-1", "OAI-1", "RSP-1", "GEM-2", "BED-1", "MIS-2", "DSK-2"),
    ),
    Rule(
        name="misplaced-result",
        severity="error",
        group=PAIRS,
        what="The result of a call is there but in the wrong place: another message stands between the two, or the "
        "result comes first. The provider treats the call as unanswered and refuses the request.",
        repair="The result is moved to its call; nothing else changes its place.",
        safety="safe",
        playbook=BROKEN,
        provider_rules=("ANT-2", "ANT-4", "OAI-3", "GEM-1", "GEM-3", "DSK-5"),
    ),
    Rule(
        name="orphan-result",
        severity="error",
        group=PAIRS,
        what="A tool result answers a call that is nowhere in the whole record. The provider refuses a result without "
        "its call.",
        repair="The result goes to quarantine.",
        safety="lossy",
        playbook=BROKEN,
        provider_rules=("ANT-2", "OAI-2", "RSP-2", "GEM-3", "BED-2", "MIS-4", "DSK-4"),
    ),
    Rule(
        name="duplicate-result",
        severity="error",
        group=PAIRS,
        what="One call has two results. The provider takes exactly one and refuses the request.",
        repair="Of two equal results the later is set aside; a real one is kept before a placeholder; of two real "
        "ones the first is kept.",
        safety="lossy",
        playbook=BROKEN,
        provider_rules=("ANT-3", "OAI-4", "BED-3", "MIS-4", "DSK-3"),
    ),
    Rule(
        name="duplicate-call-id",
        severity="error",
        group=PAIRS,
        what="Two calls share one id where it has to be unique, so nobody can tell whose result is whose, and the "
        "provider refuses the request.",
        repair="A second call that is the same in name and arguments is set aside; otherwise the later pair gets "
        "another id.",
        safety="lossy",
        playbook=BROKEN,
        provider_rules=("ANT-6", "OAI-5", "BED-3", "MIS-4"),
    ),
    Rule(
        name="bad-call-id",
        severity="error",
        group=PAIRS,
        what="The id of a call or result is missing, empty, a stand-in such as `unknown`, or has characters that this "
        "agent's own provider refuses.",
        repair="Both sides get a good id when it is certain that they belong together; a result that no open call can "
        "own is set aside.",
        safety="safe",
        playbook=BROKEN,
        provider_rules=("ANT-7", "RSP-7", "BED-8", "MIS-3"),
    ),
    Rule(
        name="bad-arguments",
        severity="error",
        group=PAIRS,
        what="The arguments of a call are not a JSON object, often because the stream broke off inside them. "
        "Providers refuse the message that holds the call.",
        repair="Null or an empty list becomes `{}`; a cut-off text is kept whole under one key.",
        safety="safe",
        playbook=BROKEN,
        provider_rules=("ANT-8", "OAI-11"),
    ),
    Rule(
        name="pair-split",
        severity="error",
        group=PAIRS,
        what="A compaction, a branch or a cut history has a call on one side of its boundary and the result on the "
        "other, so what is sent holds half of the pair.",
        repair="The boundary moves back to the answer that holds the call; where it cannot, the late result leaves "
        "the replay, or the result is taken from the parent.",
        safety="safe",
        playbook=BROKEN,
        provider_rules=("ANT-1", "ANT-2", "OAI-1", "OAI-2"),
    ),
    Rule(
        name="open-call",
        severity="info",
        group=PAIRS,
        what="The last call has no result yet because the turn is still running or waits for a person. This is no "
        "damage and is left alone.",
    ),
    Rule(
        name="result-of-aborted-call",
        severity="error",
        group=PAIRS,
        what="A result answers a call of an answer that failed or was broken off. The agent leaves that answer out "
        "when it sends the conversation, so the result stands there without a call.",
        repair="The result is set aside.",
        safety="lossy",
        playbook=BROKEN,
        provider_rules=("ANT-2", "OAI-2"),
    ),
    Rule(
        name="call-in-failed-answer",
        severity="info",
        group=PAIRS,
        what="A call without a result stands in an answer that failed or was broken off. The agent never sends that "
        "answer, so the call needs no result and must not get one.",
    ),
    Rule(
        name="id-reused-across-turns",
        severity="info",
        group=PAIRS,
        what="A later answer uses a call id again. That is legal: ids are told apart answer by answer, and each call "
        "has its own result.",
        provider_rules=("ANT-6",),
    ),
    Rule(
        name="id-not-portable",
        severity="warning",
        group=PAIRS,
        what="A call id suits the provider that made it but is refused by the one named with `--provider`, so the "
        "conversation cannot go on there as it is.",
        repair="Each such id is mapped to one that the target takes, on both sides of the pair.",
        safety="asked",
        provider_rules=("ANT-7", "OAI-10", "RSP-6", "RSP-8", "BED-8", "MIS-3"),
    ),
    Rule(
        name="split-results",
        severity="warning",
        group=PAIRS,
        what="The results of one answer's calls lie in several user messages. Some endpoints want all of them in one.",
        provider_rules=("ANT-5", "BED-1"),
    ),
    Rule(
        name="text-before-result",
        severity="warning",
        group=PAIRS,
        what="A text stands before a tool result in the same message. Some endpoints want results first and then "
        "count the call as unanswered.",
        provider_rules=("ANT-4",),
    ),
    Rule(
        name="unanswered-turn",
        severity="info",
        group=TURNS,
        what="The record ends with a user message and nothing is running: the agent stopped before it answered. The "
        "conversation still opens.",
    ),
    Rule(
        name="turn-without-answer",
        severity="info",
        group=TURNS,
        what="Tool results are followed by the next user message; the model never answered in between. Providers "
        "accept it.",
    ),
    Rule(
        name="tool-use-stop-without-call",
        severity="warning",
        group=TURNS,
        what="An answer says that it stopped for a tool call, but no call is in it: the record of the call may have "
        "been lost.",
    ),
    Rule(
        name="result-recorded-twice",
        severity="info",
        group=TURNS,
        what="The agent wrote one result in two of its own record forms and sends only one of them. Nothing is wrong.",
    ),
)
