"""Stores that once stopped a run, cost it too much, or hid something from it."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from jarvis_ops.dialects.jarvis import Jarvis
from jarvis_ops.model.message import Message, ToolCall, ToolResult
from jarvis_ops.model.record import Record
from jarvis_ops.model.settings import Scope, Settings
from jarvis_ops.operations import judge as judging
from jarvis_ops.operations import verify as verifying
from jarvis_ops.rules import seams
from jarvis_ops.rules.pairing import Pairing
from jarvis_ops.rules.tree import Tree
from jarvis_ops.stores.open import open_store
from tests.generate import NOW
from tests.in_process import faults_in, findings_in

OLD = 1_577_836_800_000


def log(folder: Path, *records: object, name: str = "talk") -> None:
    (folder / f"{name}.jsonl").write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    (folder / f"{name}.meta.json").write_bytes(orjson.dumps({"id": name}))


def call(number: int) -> dict[str, object]:
    calls = [{"id": f"c{number}", "name": "search", "arguments": {}}]
    return {"id": f"a{number}", "role": "assistant", "content": "", "tool_calls": calls, "timestamp": OLD + number}


@pytest.mark.parametrize("scope", ["replay", "full", "last-turn"])
@pytest.mark.parametrize("earlier", [0, 500])
def test_a_call_at_the_end_is_missed_in_every_scope(scope: Scope, earlier: int, tmp_path: Path) -> None:
    talk = [
        {"id": f"{role}{number}", "role": role, "content": "x", "timestamp": OLD}
        for number in range(earlier)
        for role in ("user", "assistant")
    ]
    log(tmp_path, *talk, {"id": "u", "role": "user", "content": "x", "timestamp": OLD}, call(1))
    (fault,) = faults_in(tmp_path, Settings(now=NOW, scope=scope))
    assert (fault.rule, fault.position.line, fault.call_id) == ("unanswered-call", 2 * earlier + 2, "c1")


def test_a_number_of_many_digits_is_a_bad_line_and_no_more(tmp_path: Path) -> None:
    log(tmp_path, {"id": "u", "role": "user", "content": "x"}, {"id": "a", "role": "assistant", "content": "y"})
    with (tmp_path / "talk.jsonl").open("ab") as file:
        file.write(b'{"id":"n","role":"user","content":"x","timestamp":' + b"9" * 5_000 + b"}\n")
    assert {fault.rule for fault in faults_in(tmp_path)} <= {"bad-line"}


def test_a_fault_of_the_program_stops_one_conversation_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log(tmp_path, {"id": "u", "role": "user", "content": "x"}, name="first")
    log(tmp_path, {"id": "u", "role": "user", "content": "x"}, name="second")
    judge = judging.judge

    def failing(store: object, conversation: object, *rest: object, **words: object) -> object:
        if getattr(conversation, "id", "") == "first":
            raise OverflowError("text of the user")
        return judge(store, conversation, *rest, **words)  # type: ignore[arg-type]

    monkeypatch.setattr(verifying, "judge", failing)
    store = open_store(str(tmp_path))
    inventory = store.inventory()
    outcomes = list(
        verifying.verify(
            store,
            inventory,
            inventory.conversations,
            Settings(now=NOW),
            whole=False,
            executor=None,
            advance=lambda _: None,
        )
    )
    assert [outcome.status for outcome in outcomes] == ["failed", "found"]
    (error,) = outcomes[0].errors
    assert error.code == "unexpected"
    assert "OverflowError" in error.message
    assert "text of the user" not in error.message


def test_a_tree_may_have_any_number_of_sessions() -> None:
    tree = Tree()
    for number in range(70_000):
        tree.add(Message(id=str(number), session_id=f"s{number}"), Record("log", number + 1, 0, b""))
    assert tree.sessions[-1] == 70_000


def test_whole_records_on_one_line_are_all_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seams, "SEAMS", 10)
    record = b'{"id":"m","role":"user","content":"x"}'
    assert len(seams.records_in(record * 500, Jarvis().is_record)) == 500


def test_of_late_results_the_nearest_is_the_displaced_one() -> None:
    pairing = Pairing(lambda _: True, lambda _: False)
    late = Message(role="tool", results=(ToolResult("c", ""),))
    answers = Message(role="assistant", calls=(ToolCall("c", ""),)), Message(role="assistant")
    for line, message in enumerate((*answers, late, late), start=1):
        pairing.feed(message, Record("log", line, 0, b""))
    pairing.finish("")
    found = [(one.rule, one.position.line) for one in pairing.findings]
    assert found == [("misplaced-result", 3), ("duplicate-result", 4)]


def test_a_log_behind_its_own_copy_is_named_line_by_line(tmp_path: Path) -> None:
    talk = [
        {"id": f"{role}{number}", "role": role, "content": "x", "timestamp": OLD}
        for number in range(20)
        for role in ("user", "assistant")
    ]
    log(tmp_path, *talk, *talk)
    repeated = [one for one in findings_in(tmp_path) if one.rule == "repeated-record"]
    assert [one.position.line for one in repeated] == list(range(41, 81))
    assert [one.facts["first_line"] for one in repeated] == list(range(1, 41))
