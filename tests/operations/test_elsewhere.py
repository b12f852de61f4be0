"""Finding the same conversation in another store, and the real results that it has."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest

from jarvis_ops.errors import UnreadableError
from jarvis_ops.model.conversation import Conversation, Inventory
from jarvis_ops.model.settings import Settings
from jarvis_ops.operations.elsewhere import Counterparts, made_up, results_in
from jarvis_ops.plans.placeholders import MARK, TEXT
from jarvis_ops.stores.open import open_store
from tests.scenarios.made import NOW, Json, Transcript, answering, calling, encode, log, message

UUID = "11111111-2222-4333-8444-555555555555"


def named(name: str, layout: str = "flat") -> Conversation:
    return Conversation(id=name, session_id=name, folder="", parts=(), live=None, layout=layout)  # type: ignore[arg-type]


def counterpart(wanted: Conversation, *others: Conversation) -> str | None:
    found = Counterparts(Inventory(conversations=others)).of(wanted)
    return found.id if found is not None else None


def test_the_same_id_goes_first() -> None:
    assert counterpart(named("a/c1"), named("b/c1"), named("c1"), named("a/c1")) == "a/c1"


def test_an_ending_of_the_id_in_either_direction() -> None:
    assert counterpart(named("c1"), named("old/c1"), named("old/c2")) == "old/c1"
    assert counterpart(named("old/c1"), named("c1"), named("c2")) == "c1"


@pytest.mark.parametrize("others", [("old/c1", "older/c1"), ("xc1",), ("c11",), ()])
def test_nothing_is_guessed(others: tuple[str, ...]) -> None:
    assert counterpart(named("c1"), *map(named, others)) is None


def test_a_session_in_a_project_that_has_moved() -> None:
    wanted = named(f"-home-a/{UUID}", "projects")
    assert counterpart(wanted, named(f"-home-b/{UUID}", "projects")) == f"-home-b/{UUID}"
    assert counterpart(wanted, named(f"-home-b/{UUID}", "projects"), named(f"-home-c/{UUID}", "projects")) is None
    assert counterpart(named("a/c1"), named("b/c1")) is None
    agent = named(f"-home-a/{UUID}/subagents/agent-a1", "projects")
    assert counterpart(agent, named("-home-b/other/subagents/agent-a1", "projects")) is None


def results(folder: Path, wanted: Collection[str]) -> dict[str, bytes]:
    store = open_store(str(folder))
    (conversation,) = store.inventory().conversations
    return results_in(store, conversation, wanted, Settings(now=NOW))


def test_only_wanted_results(tmp_path: Path) -> None:
    lines = [message(1, "user"), calling(2, "c1", "c2"), answering(3, "c1"), answering(4, "c2")]
    log(tmp_path, "talk", *lines, metadata={})
    assert results(tmp_path, {"c2", "c9"}) == {"c2": encode(lines[3])}
    assert results(tmp_path, ()) == {}


@pytest.mark.parametrize(
    "made",
    [
        answering(3, "c1", jarvis_ops=MARK),
        answering(3, "c1", TEXT),
        answering(3, "c1", [{"type": "text", "text": TEXT}]),
        answering(3, "c1", "No result provided"),
        answering(3, "c1", {"text": TEXT, "tool_call_id": "c1"}),
        message(3, "user", [{"type": "tool_result", "tool_use_id": "c1", "content": TEXT}]),
    ],
)
def test_what_was_only_put_in_is_no_result(tmp_path: Path, made: Json) -> None:
    log(tmp_path, "talk", message(1, "user"), calling(2, "c1"), made, metadata={})
    assert results(tmp_path, {"c1"}) == {}


def test_the_first_real_one_counts(tmp_path: Path) -> None:
    made, first, second = answering(3, "c1", jarvis_ops=MARK), answering(4, "c1", "one"), answering(5, "c1", "two")
    log(tmp_path, "talk", message(1, "user"), calling(2, "c1"), made, first, second, metadata={})
    assert results(tmp_path, {"c1"}) == {"c1": encode(first)}


def test_a_whole_result_in_a_damaged_line(tmp_path: Path) -> None:
    real = encode(answering(3, "c1"))
    log(tmp_path, "talk", message(1, "user"), calling(2, "c1"), b"\0\0" + real, metadata={})
    assert results(tmp_path, {"c1"}) == {"c1": real}
    log(tmp_path, "talk", message(1, "user"), calling(2, "c1"), b'{"id":"m9"' + real, metadata={})
    assert results(tmp_path, {"c1"}) == {"c1": real.strip()}


def test_results_of_claude_code(tmp_path: Path) -> None:
    transcript = Transcript()
    transcript.user()
    transcript.call("m1", "toolu_1")
    line = transcript.result("toolu_1")
    transcript.call("m2", "toolu_2")
    transcript.result("toolu_2", content=TEXT)
    transcript.write(tmp_path)
    assert results(tmp_path, {"toolu_1", "toolu_2"}) == {"toolu_1": transcript.lines[line - 1]}


def test_a_conversation_that_cannot_be_read(tmp_path: Path) -> None:
    log(tmp_path, "talk", message(1, "user"), metadata={})
    store = open_store(str(tmp_path))
    (conversation,) = store.inventory().conversations
    (tmp_path / "talk.jsonl").unlink()
    with pytest.raises(UnreadableError):
        results_in(store, conversation, {"c1"}, Settings(now=NOW))


def test_marks() -> None:
    assert made_up(encode(answering(1, "c", jarvis_ops=MARK)))
    assert not made_up(encode(answering(1, "c", "jarvis_ops")))
    assert not made_up(encode(answering(1, "c", jarvis_ops={"synthetic": False})))
    assert not made_up(b'{"jarvis_ops"')
