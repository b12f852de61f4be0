"""Whatever names a record that is to go is counted, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_ops.errors import ConfigurationError
from jarvis_ops.model.settings import Settings
from jarvis_ops.operations.references import LARGEST, Lookups, Names, Reference
from jarvis_ops.stores.open import open_store
from tests.scenarios.made import MAIN, NOW, PROJECT, SESSION, Transcript, log, message

LONG = "0190a1b2-0000-7000-8000-000000000007"


def references(folder: Path, *ids: str, memory: tuple[Path, ...] = ()) -> dict[str, int]:
    return {one.file: one.lines for one in listed(folder, *ids, memory=memory)}


def listed(folder: Path, *ids: str, memory: tuple[Path, ...] = ()) -> list[Reference]:
    store = open_store(str(folder))
    inventory = store.inventory()
    lookups = Lookups(store, inventory, Settings(now=NOW, memory_dirs=tuple(map(str, memory))))
    wanted = next(one for one in inventory.conversations if one.parent is None)
    return lookups.naming(wanted, ids)


@pytest.fixture
def jarvis(tmp_path: Path) -> Path:
    """A store with one conversation, and a compaction that names two of its messages."""
    folder = tmp_path / "sessions"
    compaction = {"type": "pippa_compaction", "id": "m9", "summary": "m3", "from_id": "m1", "through_id": "m2"}
    sealed = {"type": "pippa_segment_sealed", "seq": 1, "segment": "000001.jsonl", "first_id": "m0", "last_id": 7}
    metadata = {"title": "about m3", "pinned": ["m2", "m1"], "count": 7}
    log(folder, "talk", sealed, message(1, "user"), message(2, "assistant", "m1"), compaction, metadata=metadata)
    return folder


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    folder = tmp_path / "memory"
    (folder / "deeper").mkdir(parents=True)
    return folder


def test_nothing_is_asked_and_nothing_is_named(jarvis: Path) -> None:
    assert references(jarvis) == {}
    assert references(jarvis, "m3", "m", "talk.jsonl", "") == {}


def test_compactions_segments_and_metadata(jarvis: Path) -> None:
    assert references(jarvis, "m1") == {"talk.jsonl": 1, "talk.meta.json": 1}
    assert references(jarvis, "m1", "m2") == {"talk.jsonl": 1, "talk.meta.json": 2}
    assert references(jarvis, "m0") == {"talk.jsonl": 1}
    assert references(jarvis, "7") == {"talk.jsonl": 1}


def test_a_record_that_goes_itself_points_no_longer(jarvis: Path) -> None:
    assert references(jarvis, "m1", "m9") == {"talk.meta.json": 1}


def test_rows_that_were_compacted(tmp_path: Path) -> None:
    log(
        tmp_path, "talk", message(1, "user", compacted_by="m5"), message(2, "assistant", compacted_by="m5"), metadata={}
    )
    assert references(tmp_path, "m5") == {"talk.jsonl": 2}


def pointers(transcript: Transcript) -> list[dict[str, Any]]:
    """Records that each point to record 1, in every way that is known."""
    gone = transcript.uuid(1)
    return [
        {"type": "last-prompt", "leafUuid": gone},
        {"type": "summary", "summary": "x", "leafUuid": gone},
        {"type": "file-history-snapshot", "messageId": gone, "snapshot": {"messageId": gone}},
        {"type": "file-history-snapshot", "messageId": "other", "snapshot": {"messageId": gone}},
        {"type": "system", "compactMetadata": {"preservedMessages": {"uuids": ["other", gone]}}},
        {"type": "system", "compactMetadata": {"preservedSegment": {"headUuid": gone}}},
        {"type": "system", "logicalParentUuid": gone},
        {"type": "user", "sourceToolAssistantUUID": gone},
        {"type": "progress", "toolUseID": gone},
        {"type": "progress", "parentToolUseID": gone},
    ]


@pytest.mark.parametrize("number", range(10))
def test_pointers_of_claude_code(tmp_path: Path, number: int) -> None:
    transcript = Transcript()
    transcript.user()
    transcript.say("m1")
    pointer = pointers(transcript)[number]
    transcript.raw(json.dumps({**pointer, "sessionId": SESSION}).encode() + b"\n")
    transcript.write(tmp_path)
    assert references(tmp_path, transcript.uuid(1)) == {MAIN: 1}
    assert references(tmp_path, transcript.uuid(2)) == {}
    transcript.raw(b'{"leafUuid": "' + transcript.uuid(2).encode() + b'", torn\n')
    transcript.write(tmp_path)
    assert references(tmp_path, transcript.uuid(2)) == {}


def test_companions_of_claude_code(tmp_path: Path) -> None:
    transcript = Transcript()
    transcript.user()
    transcript.call("m1", "toolu_1")
    transcript.write(tmp_path)
    agents = tmp_path / PROJECT / SESSION / "subagents"
    agents.mkdir(parents=True)
    (agents / "agent-a1.jsonl").write_text("")
    (agents / "agent-a1.meta.json").write_text('{"agentType": "x", "toolUseId": "toolu_1"}')
    (agents / "agent-a2.meta.json").write_text('{"toolUseId": "toolu_1')
    assert references(tmp_path, "toolu_1") == {f"{PROJECT}/{SESSION}/subagents/agent-a1.meta.json": 1}


def test_the_history_and_the_index_of_claude_code(tmp_path: Path) -> None:
    transcript = Transcript()
    transcript.user()
    transcript.write(tmp_path)
    gone = transcript.uuid(1)
    lines = [{"display": f"see {gone}", "sessionId": "s"}, {"display": "x", "sessionId": "s"}]
    (tmp_path / "history.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / PROJECT / "sessions-index.json").write_text(json.dumps({"entries": [{"leaf": gone}]}))
    (tmp_path / "settings.json").write_text(json.dumps({"x": gone}))
    assert references(tmp_path, gone) == {"history.jsonl": 1, f"{PROJECT}/sessions-index.json": 1}


def test_memory_that_names_a_record(jarvis: Path, memory: Path) -> None:
    (memory / "notes.md").write_text(f"# Notes\n\n- see {LONG}.\n- and `{LONG}`, {LONG}\n")
    (memory / "deeper" / "rows.jsonl").write_text(f'{{"from": "{LONG}"}}\n{{"from": "x{LONG}"}}\n{{"a": "{LONG}-b"}}\n')
    (memory / "deeper" / "one.JSON").write_text(f'["{LONG}"]')
    (memory / "picture.png").write_text(LONG)
    (memory / ".hidden.md").write_text(LONG)
    assert references(jarvis, LONG, memory=(memory,)) == {
        f"{memory}/deeper/one.JSON": 1,
        f"{memory}/deeper/rows.jsonl": 1,
        f"{memory}/notes.md": 2,
    }
    assert references(jarvis, LONG) == {}


def test_a_short_id_counts_only_beside_its_conversation(jarvis: Path, memory: Path) -> None:
    (memory / "of-another.md").write_text("m1")
    (memory / "of-a-talkative.md").write_text("m1 of talkative")
    (memory / "of-this.md").write_text("m1 of talk\n1 m12\n")
    (memory / "talk.md").write_text("m1\n")
    found = references(jarvis, "m1", "1", memory=(memory,))
    assert {file: lines for file, lines in found.items() if file.endswith(".md")} == {
        f"{memory}/of-this.md": 1,
        f"{memory}/talk.md": 1,
    }


def test_a_memory_folder_around_the_store(jarvis: Path, tmp_path: Path) -> None:
    log(jarvis, "long", {"id": LONG, "role": "user", "content": "x"}, metadata={"id": "long"})
    (tmp_path / "notes.md").write_text(LONG)
    assert references(jarvis, LONG, memory=(tmp_path,)) == {f"{tmp_path}/notes.md": 1}


def test_links_are_followed_once(jarvis: Path, memory: Path) -> None:
    (memory / "notes.md").write_text(LONG)
    (memory / "deeper" / "again").symlink_to(memory)
    (memory / "deeper" / "nowhere.md").symlink_to(memory / "none")
    assert references(jarvis, LONG, memory=(memory,)) == {f"{memory}/notes.md": 1}


def test_a_file_that_is_too_long_is_said_to_be(jarvis: Path, memory: Path) -> None:
    with (memory / "long.md").open("wb") as file:
        file.truncate(LARGEST + 1)
    (found,) = listed(jarvis, LONG, memory=(memory,))
    assert (found.file, found.lines) == (f"{memory}/long.md", 0)
    assert "longer than" in found.fault


def test_a_memory_folder_that_is_not_there(jarvis: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="there is no such folder"):
        references(jarvis, LONG, memory=(tmp_path / "none",))


@pytest.mark.parametrize("name", ["a.b:c/d", "run 7", "id+1", "@x", "기록-1"])
def test_ids_of_any_form(name: str) -> None:
    assert Names([name]).are_in(f"see {name}, and more".encode())
    assert not Names([name]).are_in(f"see {name}0, and x{name}".encode()) or not name[0].isalnum()
    assert not Names([name]).are_in(b"nothing")
    assert not Names([]).are_in(name.encode())


@given(st.lists(st.from_regex(r"[a-c_-]{1,3}", fullmatch=True), max_size=4), st.text("abc_- \"',.\n", max_size=40))
def test_names_are_whole_words(names: list[str], text: str) -> None:
    words = set("".join(letter if letter in "abc_-" else " " for letter in text).split())
    assert Names(names).are_in(text.encode()) is bool(words & set(names))
