"""The given cases of Claude Code heal to exactly what they ask for, line by line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from tests.plans.tree_patient import Patient

CASES = Path(__file__).parent.parent / "cases"
SESSION = "11111111-2222-4333-8444-555555555555"


class Want(NamedTuple):
    """What a case wants: lines (from 1) that are relinked and to which, that go, and after which one comes."""

    case: str
    asked: tuple[str, ...] = ()
    relinked: Mapping[int, int | str] = MappingProxyType({})
    gone: tuple[int, ...] = ()
    new_after: tuple[int, ...] = ()
    reachable: tuple[int, int] = (0, 0)


WANTS = (
    Want("01-claude-interrupted-call", (), {5: "new"}, (), (4,), (6, 7)),
    Want("02-claude-parallel-result-dropped", (), {7: "new"}, (), (6,), (7, 8)),
    Want("04-claude-server-tool-split", (), {3: 5, 5: 2, 6: 4}, (), (), (4, 4)),
    Want("05-claude-duplicate-call-id", (), {4: 2, 6: 4}, (3, 5), (), (6, 4)),
    Want("38-claude-torn-tail", (), {}, (4,), (3,), (3, 4)),
    Want("49-claude-duplicate-uuid-cycle", (), {}, (), (), (2, 2)),
    Want("49-claude-duplicate-uuid-cycle", ("duplicate-id",), {4: 3}, (), (), (2, 2)),
    Want("50-claude-late-fork-hides-reply", (), {}, (), (), (3, 3)),
    Want("50-claude-late-fork-hides-reply", ("unreachable-record",), {3: 2}, (), (), (3, 4)),
    Want("80-claude-headless-fragment", (), {4: 2}, (3,), (), (2, 4)),
)


def parent_of(raw: bytes) -> Any:
    return json.loads(raw)["parentUuid"]


@pytest.mark.parametrize("want", WANTS, ids=lambda want: f"{want.case}{'-asked' if want.asked else ''}")
def test_a_case_heals_line_by_line(want: Want) -> None:
    content = (CASES / want.case / "input.jsonl").read_bytes()
    patient = Patient(content, *want.asked, session=SESSION).heal()
    old, new = content.splitlines(keepends=True), patient.lines
    rest = list(new)
    places: dict[int, int] = {}  # where each old line is now, from 0
    made: list[int] = []
    place = 0
    for number, raw in enumerate(old, start=1):
        if number in want.gone:
            assert raw not in rest
            continue
        while place in made:
            place += 1
        places[number] = place
        place += 1
        if number in want.new_after:
            made.append(place)
    assert len(new) == len(places) + len(made)
    for number, at in places.items():
        before = old[number - 1]
        if number not in want.relinked:
            renamed = want.asked == ("duplicate-id",) and number == 3
            assert (new[at] == before) is not renamed
            continue
        to = want.relinked[number]
        target = json.loads(new[made[0] if to == "new" else places[int(to)]])["uuid"]
        assert parent_of(new[at]) == target
        assert new[at] == before.replace(
            f'"parentUuid":"{parent_of(before)}"'.encode(), f'"parentUuid":"{target}"'.encode()
        )
    for at, after in zip(made, want.new_after, strict=True):
        check_made(json.loads(new[at]), json.loads(old[after - 1]))
    assert (patient.first.reachable, patient.look.reachable) == want.reachable
    assert not Patient(patient.content, *want.asked, session=SESSION).round()


def check_made(made: dict[str, Any], before: dict[str, Any]) -> None:
    """A record that was put in looks like its neighbours and says what it is."""
    same = ("sessionId", "cwd", "version", "gitBranch", "isSidechain", "userType")
    assert {key: made[key] for key in same} == {key: before[key] for key in same}
    assert made["parentUuid"] == before["uuid"]
    assert made["timestamp"] == before["timestamp"]
    assert made["jarvis_ops"] == {"synthetic": True}
    (block,) = made["message"]["content"]
    assert (block["type"], block["is_error"]) == ("tool_result", True)
    assert "may or may not have run" in block["content"]


def test_the_torn_piece_of_a_glued_line_goes_and_the_records_stay() -> None:
    content = (CASES / "35-claude-torn-then-append/input.jsonl").read_bytes()
    patient = Patient(content, session=SESSION).heal()
    assert len(patient.lines) == 6
    assert [len(piece) for piece in patient.removed] == [74]
    assert patient.errors == []


def test_half_a_character_is_replaced_in_place() -> None:
    content = (CASES / "40-claude-lone-surrogate/input.jsonl").read_bytes()
    patient = Patient(content, session=SESSION).heal()
    first, second, third = content.splitlines(keepends=True)
    assert patient.lines == [first, second, third.replace(rb"\ud83d", rb"\ufffd")]
    assert patient.errors == []
