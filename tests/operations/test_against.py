"""Comparing a store with another one names just the messages that one has and the other lacks."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jarvis_ops.model.finding import Finding
from jarvis_ops.model.settings import Settings
from jarvis_ops.operations.against import against
from jarvis_ops.operations.sides import NAMED
from jarvis_ops.plans.placeholders import MARK
from jarvis_ops.stores.open import open_store
from tests.scenarios.made import MAIN, NOW, Json, Transcript, answering, calling, encode, log, message, stamp

TALK = [message(1, "user"), calling(2, "c1"), answering(3, "c1"), message(4, "assistant")]
Lines = Sequence[Json | bytes]


def compared(here: Path, there: Path, *, whole: bool = True) -> dict[str, list[Finding]]:
    store, other = open_store(str(here)), open_store(str(there))
    inventory = store.inventory()
    pairs = against(store, inventory, inventory.conversations, other, Settings(now=NOW), whole=whole)
    return {conversation.id: findings for conversation, findings in pairs}


@pytest.fixture
def here(tmp_path: Path) -> Path:
    return folder(tmp_path, "here")


@pytest.fixture
def there(tmp_path: Path) -> Path:
    return folder(tmp_path, "there")


def folder(above: Path, name: str) -> Path:
    (above / name).mkdir()
    return above / name


def talk(place: Path, *lines: Json | bytes, name: str = "talk") -> None:
    log(place, name, *lines, metadata={})


def differences(here: Path, mine: Lines, there: Path, others: Lines) -> list[Finding]:
    talk(here, *mine)
    talk(there, *others)
    return compared(here, there)["talk"]


def told(findings: list[Finding]) -> dict[str, list[str]]:
    return {finding.rule: finding.facts["ids"] for finding in findings}


def test_the_same(here: Path, there: Path) -> None:
    assert differences(here, TALK, there, TALK) == []


def test_a_message_that_is_gone(here: Path, there: Path) -> None:
    (finding,) = differences(here, [TALK[0], *TALK[2:]], there, TALK)
    assert (finding.rule, finding.severity, finding.position.file) == ("content-vanished", "error", "talk.jsonl")
    assert finding.facts == {"count": 1, "ids": ["m2"], "lines": ["talk.jsonl:2"]}
    assert finding.detail == f"1 message of {there} missing here: m2"


def test_a_message_that_only_this_one_has(here: Path, there: Path) -> None:
    (finding,) = differences(here, TALK, there, TALK[:-1])
    assert (finding.rule, finding.severity, finding.facts["ids"]) == ("not-in-other", "info", ["m4"])
    assert finding.detail == f"1 message not in {there}: m4"


def test_a_message_that_says_something_else(here: Path, there: Path) -> None:
    (finding,) = differences(here, TALK, there, [*TALK[:-1], message(4, "assistant", "other")])
    assert (finding.rule, finding.severity, finding.facts["ids"]) == ("differs-from-other", "warning", ["m4"])


def test_the_same_in_another_spelling(here: Path, there: Path) -> None:
    other = dict(reversed(message(4, "assistant", "바다 é").items()))
    spelled = json.dumps(other, indent=None, ensure_ascii=True).encode() + b"\r\n"
    assert differences(here, [*TALK[:-1], message(4, "assistant", "바다 é")], there, [*TALK[:-1], spelled]) == []


def test_markers_and_what_a_repair_put_in_are_no_messages(here: Path, there: Path) -> None:
    mark = {"type": "turn_accepted", "turn_id": "t1", "timestamp": NOW}
    made = answering(9, "c9", jarvis_ops=MARK)
    assert differences(here, [*TALK, mark], there, [made, *TALK]) == []
    assert differences(here, [*TALK, made], there, [mark, *TALK]) == []


def test_repeated_records_count_once(here: Path, there: Path) -> None:
    assert differences(here, TALK, there, [*TALK, TALK[3], TALK[3]]) == []
    assert differences(here, [*TALK, TALK[3]], there, TALK) == []
    (finding,) = differences(here, TALK[:3], there, [*TALK, TALK[3]])
    assert finding.facts["count"] == 1


def test_messages_without_an_id_are_told_by_their_lines(here: Path, there: Path) -> None:
    one, two = {"role": "user", "content": "one"}, {"role": "user", "content": "two"}
    (finding,) = differences(here, [one], there, [two, one])
    assert finding.facts == {"count": 1, "ids": [], "lines": ["talk.jsonl:1"]}
    assert finding.detail.endswith("missing here: talk.jsonl:1")


def test_what_is_whole_in_a_damaged_line_is_there(here: Path, there: Path) -> None:
    glued = encode(TALK[0]).strip() + encode(TALK[1])
    assert differences(here, [glued, b"\0\0\0" + encode(TALK[2]), TALK[3]], there, TALK) == []
    assert told(differences(here, TALK, there, [encode(TALK[0])[:-9] + encode(TALK[1]), *TALK[2:]])) == {
        "not-in-other": ["m1"]
    }


def test_segments_and_the_live_file_are_one_record(here: Path, there: Path) -> None:
    sealed = folder(here, "talk.segments") / "000001.jsonl"
    sealed.write_bytes(encode(TALK[0]) + encode(TALK[1]))
    assert differences(here, TALK[2:], there, TALK) == []


def test_many_are_counted_and_some_are_named(here: Path, there: Path) -> None:
    lines = [message(number, "user") for number in range(1, 60)]
    (finding,) = differences(here, lines[:1], there, lines)
    assert finding.facts["count"] == 58
    assert finding.facts["ids"] == [f"m{number}" for number in range(2, 2 + NAMED)]
    assert finding.detail.endswith(": m2, m3, m4, m5, m6, …")


def test_a_conversation_that_only_the_other_has(here: Path, there: Path) -> None:
    talk(here, *TALK)
    talk(there, *TALK)
    talk(there, *TALK, name="lost")
    talk(there, name="empty")
    found = compared(here, there)
    (finding,) = found["lost"]
    assert (finding.rule, finding.position.file) == ("content-vanished", f"{there}/lost.jsonl")
    assert finding.facts["count"] == 4
    assert (found["talk"], found["empty"]) == ([], [])
    assert set(compared(here, there, whole=False)) == {"talk"}


def test_a_store_that_lost_all(here: Path, there: Path) -> None:
    talk(there, *TALK)
    assert [finding.rule for finding in compared(here, there)["talk"]] == ["content-vanished"]


def test_a_conversation_that_only_this_one_has(here: Path, there: Path) -> None:
    talk(here, *TALK)
    (finding,) = compared(here, there)["talk"]
    assert (finding.rule, finding.position.file, finding.facts) == ("not-in-other", "talk.jsonl", {})


def test_a_single_file_says_nothing_of_other_conversations(here: Path, there: Path) -> None:
    talk(here, *TALK)
    talk(there, *TALK[:2])
    talk(there, *TALK, name="more")
    assert set(compared(here / "talk.jsonl", there)) == {"talk"}
    (finding,) = compared(here, there / "more.jsonl")["more"]
    assert finding.position.file == f"{there}/more.jsonl"


def test_another_one_that_cannot_be_read(here: Path, there: Path) -> None:
    talk(here, *TALK)
    talk(there, *TALK)
    (there / "talk.jsonl").unlink()
    folder(there, "talk.jsonl")
    folder(there, "lost.jsonl")
    found = compared(here, there)
    for name in ("talk", "lost"):
        (finding,) = found[name]
        assert (finding.rule, finding.position.file) == ("unreadable", f"{there}/{name}.jsonl")


def test_one_that_cannot_be_read_here_is_compared_with_nothing(here: Path, there: Path) -> None:
    folder(here, "talk.jsonl")
    talk(there, *TALK)
    assert compared(here, there) == {"talk": []}


def test_another_one_of_no_known_form(here: Path, there: Path) -> None:
    talk(here, *TALK)
    (there / "talk.jsonl").write_bytes(b'{"what": "else"}\n')
    assert [finding.rule for finding in compared(here, there)["talk"]] == ["unknown-dialect"]


def test_claude_code(here: Path, there: Path) -> None:
    transcript = Transcript()
    transcript.user()
    transcript.say("m1")
    transcript.bare("last-prompt", leafUuid=transcript.uuid(2))
    transcript.system("turn_duration")
    transcript.write(there)
    transcript.user("more")
    del transcript.lines[1]
    transcript.write(here)
    (found,) = compared(here, there).values()
    assert told(found) == {"content-vanished": [transcript.uuid(2)], "not-in-other": [transcript.uuid(5)]}
    assert {finding.position.file for finding in found} == {MAIN}
    moved = there / "projects" / "-home-user-moved"
    shutil.move(there / MAIN.rpartition("/")[0], moved)
    assert [told(findings) for findings in compared(here, there).values()] == [told(found)]


def flat(number: int, words: str) -> bytes:
    return encode(message(number, "user", words))


def branched(number: int, words: str) -> bytes:
    """A record of Claude Code; what it hangs on does not matter here."""
    said = {"role": "user", "content": words}
    head = {"parentUuid": None, "isSidechain": False, "sessionId": "s", "type": "user", "message": said}
    return encode({**head, "uuid": f"m{number}", "timestamp": stamp(NOW)})


@settings(max_examples=150)
@given(
    st.sampled_from([flat, branched]),
    *[st.lists(st.tuples(st.integers(0, 30), st.sampled_from("ab")), max_size=40)] * 2,
)
def test_what_is_told_is_what_sets_say(
    line: Callable[[int, str], bytes], mine: list[tuple[int, str]], others: list[tuple[int, str]]
) -> None:
    with tempfile.TemporaryDirectory() as name:
        places = [folder(Path(name), "a"), folder(Path(name), "b")]
        for place, said in zip(places, (mine, others), strict=True):
            talk(place, *(line(*one) for one in said))
        found = compared(*places)["talk"]
    has, had = {number for number, _ in mine}, {number for number, _ in others}
    same = {number for number, _ in set(mine) & set(others)}
    expected = {
        "content-vanished": had - has,
        "not-in-other": has - had,
        "differs-from-other": (has & had) - same,
    }
    assert {one.rule: one.facts["count"] for one in found} == {rule: len(ids) for rule, ids in expected.items() if ids}
    for finding in found:
        assert set(finding.facts["ids"]) <= {f"m{number}" for number in expected[finding.rule]}
