"""Moving records of another session to the file of their own: where they go, and when they stay."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.commands import Answer, contents
from tests.operations.project import ONE, THREE, TWO, Project, name, record

RULE = ("--rule", "foreign-record")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def refused(answer: Answer) -> list[str]:
    return [text for outcome in answer.report["outcomes"] for text in outcome.get("refused", [])]


def no_file(project: Project) -> None:
    project.write(ONE, record(ONE, 1), record(TWO, 3))


def other_folder(project: Project) -> None:
    project.write(ONE, record(ONE, 1), record(TWO, 3))
    elsewhere = project.folder.parent / "-home-mina-shed"
    elsewhere.mkdir()
    (elsewhere / f"{TWO}.jsonl").write_bytes(record(TWO, 1) + b"\n" + record(TWO, 2) + b"\n")


def no_parent_there(project: Project) -> None:
    project.write(ONE, record(ONE, 1), record(TWO, 3))
    project.write(TWO, record(TWO, 1))


def second_root(project: Project) -> None:
    project.write(ONE, record(ONE, 1), record(TWO, 3, None))
    project.write(TWO, record(TWO, 1), record(TWO, 2))


def id_taken(project: Project) -> None:
    project.write(ONE, record(ONE, 1), record(TWO, 2))
    project.write(TWO, record(TWO, 1), record(TWO, 2, cwd="/home/mina/other"))


def own_child(project: Project) -> None:
    project.write(ONE, record(ONE, 1), record(TWO, 3), record(ONE, 2, name(TWO, 3)))
    project.write(TWO, record(TWO, 1), record(TWO, 2))


def sub_agent(project: Project) -> None:
    project.write(ONE, record(ONE, 1), record(TWO, 3, isSidechain=True, agentId="a1"))
    project.write(TWO, record(TWO, 1), record(TWO, 2))


def compaction(project: Project) -> None:
    boundary: dict[str, Any] = {"type": "system", "subtype": "compact_boundary", "compactMetadata": {"trigger": "auto"}}
    project.write(ONE, record(ONE, 1), record(TWO, 3, None, logicalParentUuid=name(TWO, 2), **boundary))
    project.write(TWO, record(TWO, 1), record(TWO, 2))


def torn_there(project: Project) -> None:
    project.write(ONE, record(ONE, 1), record(TWO, 3))
    project.write(TWO, record(TWO, 1), record(TWO, 2), b'{"parentUuid":', end=b"")


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (no_file, "not in this folder"),
        (other_folder, "not in this folder"),
        (no_parent_there, "its parent is not in the file of its own session"),
        (second_root, "has its beginning already"),
        (id_taken, "another record has its id"),
        (own_child, "nobody can say where its children belong"),
        (sub_agent, "a sub-agent has written it"),
        (compaction, "it is a compaction"),
        (torn_there, "damaged, and has to be mended first"),
    ],
)
def test_a_record_stays_where_its_going_would_harm(
    made: Callable[[Project], None], reason: str, project: Project
) -> None:
    made(project)
    before = contents(project.store)
    assert project.found("foreign-record")
    done = project.heal(*RULE, "--apply")
    assert contents(project.store) == before
    assert [text for text in refused(done) if text.startswith("foreign-record: ") and reason in text], refused(done)
    assert done.run == ""


def test_what_hangs_on_it_gets_its_parent(project: Project) -> None:
    project.write(ONE, record(ONE, 1), record(TWO, 3, name(ONE, 1)), record(ONE, 2, name(TWO, 3)))
    project.write(TWO, record(ONE, 1), record(TWO, 2, name(ONE, 1)))
    assert project.heal(*RULE, "--apply").code == 0
    kept = [json.loads(line) for line in project.lines(ONE)]
    assert [(one["uuid"], one["parentUuid"]) for one in kept] == [(name(ONE, 1), None), (name(ONE, 2), name(ONE, 1))]


def test_it_goes_before_what_hangs_on_it(project: Project) -> None:
    project.write(ONE, record(ONE, 1), record(TWO, 2))
    project.write(TWO, record(TWO, 1), record(TWO, 3), record(TWO, 4))
    assert project.found("dangling-parent")
    assert project.heal(*RULE, "--apply").code == 0
    assert project.lines(TWO) == [record(TWO, number) for number in (1, 2, 3, 4)]
    assert not project.found("dangling-parent")


def test_a_last_line_without_an_end_gets_one(project: Project) -> None:
    project.write(ONE, record(ONE, 1), record(TWO, 3), end=b"")
    project.write(TWO, record(TWO, 1), record(TWO, 2), end=b"")
    assert project.heal(*RULE, "--apply").code == 0
    assert project.lines(TWO) == [record(TWO, number) for number in (1, 2, 3)]
    assert project.lines(ONE) == [record(ONE, 1)]


def test_stopped_between_the_two_files(project: Project) -> None:
    """The record is in both files then, and the next run takes it out of the wrong one."""
    project.write(ONE, record(ONE, 1), record(TWO, 3), record(ONE, 2))
    project.write(TWO, record(TWO, 1), record(TWO, 2), record(TWO, 3))
    there = project.log(TWO).read_bytes()
    done = project.heal(*RULE, "--apply")
    assert [step["step"] for step in done.steps] == ["move"]
    assert project.log(TWO).read_bytes() == there
    assert project.lines(ONE) == [record(ONE, 1), record(ONE, 2)]


def test_from_several_files_into_one(project: Project) -> None:
    project.write(ONE, record(ONE, 1), record(TWO, 4))
    project.write(THREE, record(THREE, 1), record(TWO, 3))
    project.write(TWO, record(TWO, 1), record(TWO, 2))
    first = contents(project.store)
    runs = []
    for _ in range(2):
        done = project.heal(*RULE, "--apply")
        assert done.code == 0, done.complaints
        runs.append(done.run)
    assert project.lines(TWO) == [record(TWO, number) for number in (1, 2, 3, 4)]
    assert project.lines(ONE) == [record(ONE, 1)]
    assert not project.found("foreign-record")
    for run in filter(None, reversed(runs)):
        assert project.run("undo", run, "--apply").code == 0
    assert contents(project.store) == first


def test_crosswise(project: Project) -> None:
    """Two files that hold a record of each other: a file changes once a run, so it takes two."""
    project.write(ONE, record(ONE, 1), record(TWO, 3), record(ONE, 2))
    project.write(TWO, record(TWO, 1), record(ONE, 3), record(TWO, 2))
    assert project.heal(*RULE, "--apply").code == 0
    project.heal(*RULE, "--apply")
    assert project.lines(ONE) == [record(ONE, number) for number in (1, 2, 3)]
    assert project.lines(TWO) == [record(TWO, number) for number in (1, 2, 3)]


def test_the_file_that_takes_it_in_is_mended_in_nothing_else(project: Project) -> None:
    project.write(ONE, record(ONE, 1), record(TWO, 3))
    project.write(TWO, record(TWO, 1), record(TWO, 2), record(ONE, 9))
    project.write(THREE, record(THREE, 1), end=b"")
    done = project.run("heal", ONE, *RULE, "--rule", "no-final-newline", "--apply")
    assert done.code == 0, done.complaints
    assert project.lines(TWO) == [record(TWO, 1), record(TWO, 2), record(ONE, 9), record(TWO, 3)]
    assert not project.log(THREE).read_bytes().endswith(b"\n")


def test_a_file_that_cannot_take_it_in_now(project: Project) -> None:
    log = project.write(ONE, record(ONE, 1), record(TWO, 3))
    target = project.write(TWO, record(TWO, 1), record(TWO, 2))
    before = contents(project.store)
    with target.open("ab"):
        done = project.heal(*RULE, "--apply", "--wait", "0s")
    assert done.code == 4
    assert contents(project.store) == before
    assert any("not in the file of its own session yet" in text for text in refused(done))
    assert log.read_bytes()


def test_half_of_a_saved_plan(project: Project, tmp_path: Path) -> None:
    project.write(ONE, record(ONE, 1), record(TWO, 3))
    project.write(TWO, record(TWO, 1), record(TWO, 2))
    before = contents(project.store)
    saved = str(tmp_path / "plan.json")
    project.heal(*RULE, "--plan-out", saved)
    done = project.run("heal", ONE, "--plan", saved, "--apply")
    assert done.code == 3
    assert "is not there yet" in done.complaints
    assert contents(project.store) == before


def test_taking_back_in_the_order_that_loses_nothing(project: Project) -> None:
    project.write(ONE, record(ONE, 1), record(TWO, 3))
    project.write(TWO, record(TWO, 1), record(TWO, 2))
    first = contents(project.store)
    run = project.heal(*RULE, "--apply").run
    after = contents(project.store)
    done = project.run("undo", run, TWO, "--apply")
    assert done.code == 3
    assert "has to be taken back first" in done.complaints
    assert contents(project.store) == after
    assert project.run("undo", run, ONE, "--apply").code == 0
    assert record(TWO, 3) in project.lines(ONE)
    assert record(TWO, 3) in project.lines(TWO)
    assert project.run("undo", run).code == 1
    assert project.run("undo", run, "--apply").code == 0
    assert contents(project.store) == first


def test_a_part_of_the_conversation_does_not_tell_enough(project: Project) -> None:
    project.write(ONE, record(ONE, 1), record(TWO, 3))
    project.write(TWO, record(TWO, 1), record(TWO, 2))
    before = contents(project.store)
    project.heal(*RULE, "--apply", "--scope", "last-turn")
    assert contents(project.store) == before
