"""Repairs that are made only when their rule is named: plan, repair, find nothing more to do, take back."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.commands import Answer, command, contents
from tests.operations.project import ONE, THREE, TWO, Project, record

ROOT = Path(__file__).resolve().parents[2]
CASE = ROOT / "tests/cases/82-claude-foreign-session-records"


def foreign(place: Path) -> Path:
    return copied(ROOT / "sample_data/foreign-record", place)


def case(place: Path) -> Path:
    return copied(CASE, place)


def open_files(place: Path) -> Path:
    store = copied(ROOT / "sample_data/healthy", place)
    for number, file in enumerate(sorted(store.rglob("*.jsonl"))):
        file.chmod(0o444 if "segments" in str(file) else 0o644 if number % 2 else 0o600)
    return store


def index(place: Path) -> Path:
    project = Project(place)
    project.write(ONE, record(ONE, 1), record(ONE, 2))
    entries = [{"sessionId": one, "messageCount": 2, "kept": one} for one in (THREE, ONE, TWO)]
    (project.folder / "sessions-index.json").write_text(json.dumps({"version": 1, "entries": entries, "more": [1]}))
    return project.store


def copied(source: Path, place: Path) -> Path:
    store = place / source.name
    shutil.copytree(source, store)
    for path in store.rglob("*.jsonl"):
        path.chmod(0o600)
    return store


def told(answer: Answer, rule: str) -> list[str]:
    return [one["severity"] for one in answer.findings if one["rule"] == rule]


@pytest.mark.parametrize(
    ("made", "rule"),
    [(foreign, "foreign-record"), (case, "foreign-record"), (open_files, "file-mode"), (index, "index-stale")],
    ids=["foreign-record", "case-82", "file-mode", "index-stale"],
)
def test_from_the_plan_and_back(made: object, rule: str, tmp_path: Path) -> None:
    assert callable(made)
    store = made(tmp_path)
    first = contents(store)
    assert told(command("verify-pairs", store=store, home=tmp_path), rule)

    command("heal", "--all", "--lossy", "--apply", store=store, home=tmp_path)
    assert contents(store) == first, "it was not asked for"
    plan = command("heal", "--all", "--rule", rule, store=store, home=tmp_path)
    assert contents(store) == first, "a plan changed something"
    assert plan.code == 1
    assert {step["rule"] for step in plan.steps} == {rule}
    assert {step["safety"] for step in plan.steps} == {"asked"}

    healed = command("heal", "--all", "--rule", rule, "--apply", store=store, home=tmp_path)
    assert healed.code == 0, healed.complaints
    assert [step["step"] for step in healed.steps] == [step["step"] for step in plan.steps]
    after = contents(store)
    assert after != first
    verified = command("verify-pairs", store=store, home=tmp_path)
    assert not told(verified, rule)
    assert verified.code == 0

    again = command("heal", "--all", "--rule", rule, "--apply", store=store, home=tmp_path)
    assert (again.code, again.run, again.steps) == (0, "", [])
    assert contents(store) == after

    undone = command("undo", healed.run, "--apply", store=store, home=tmp_path)
    assert undone.code == 0, undone.complaints
    assert contents(store) == first
    redone = command("undo", undone.run, "--apply", store=store, home=tmp_path)
    assert redone.code == 0, redone.complaints
    assert contents(store) == after


@pytest.mark.parametrize("rule", ["foreign-record", "file-mode", "index-stale"])
def test_a_saved_plan(rule: str, tmp_path: Path) -> None:
    store = {"foreign-record": foreign, "file-mode": open_files, "index-stale": index}[rule](tmp_path)
    saved = str(tmp_path / "plan.json")
    plan = command("heal", "--all", "--rule", rule, "--plan-out", saved, store=store, home=tmp_path)
    done = command("heal", "--plan", saved, "--apply", store=store, home=tmp_path)
    assert done.code == 0, done.complaints
    assert done.steps == plan.steps
    assert not told(command("verify-pairs", store=store, home=tmp_path), rule)


def test_the_case_moves_as_it_says(tmp_path: Path) -> None:
    store = case(tmp_path)
    numbers, _, target = json.loads((CASE / "expected.json").read_text(encoding="utf-8"))["heal"]["on_request"]["move"]
    source = next(path for path in store.rglob("*.jsonl") if path.name.startswith("1111"))
    old, there = source.read_bytes().splitlines(), (store / target).read_bytes().splitlines()
    plan = command("heal", "--all", "--rule", "foreign-record", store=store, home=tmp_path)
    moves = [step for step in plan.steps if step["step"] == "move"]
    assert [step["position"]["line"] for step in moves] == numbers
    assert {(step["to"]["file"], step["to"]["line"]) for step in moves} == {(target, len(there))}
    command("heal", "--all", "--rule", "foreign-record", "--apply", store=store, home=tmp_path)
    assert (store / target).read_bytes().splitlines() == [*there, *(old[number - 1] for number in numbers)]
    kept = [line for number, line in enumerate(old, 1) if number not in numbers]
    assert source.read_bytes().splitlines() == kept


def test_all_at_once(tmp_path: Path) -> None:
    """One run, several repairs of one conversation; all of it is taken back together."""
    project = Project(tmp_path)
    project.write(ONE, record(ONE, 1), record(ONE, 2), record(TWO, 3), record(ONE, 3, 2), end=b"")
    project.write(TWO, record(TWO, 1), record(TWO, 2)).chmod(0o644)
    project.log(ONE).chmod(0o640)
    entries = [{"sessionId": THREE}, {"sessionId": ONE}, {"sessionId": TWO}]
    (project.folder / "sessions-index.json").write_text(json.dumps({"entries": entries}))
    first = contents(project.store)
    rules = [f"--rule={rule}" for rule in ("foreign-record", "file-mode", "index-stale", "no-final-newline")]
    done = project.heal(*rules, "--apply")
    assert done.code == 0, done.complaints
    assert project.lines(TWO) == [record(TWO, 1), record(TWO, 2), record(TWO, 3)]
    assert project.lines(ONE) == [record(ONE, 1), record(ONE, 2), record(ONE, 3, 2)]
    assert {path.stat().st_mode & 0o777 for path in (project.log(ONE), project.log(TWO))} == {0o600}
    assert project.log(ONE).read_bytes().endswith(b"}\n")
    assert {outcome["run"] for outcome in done.report["outcomes"] if outcome.get("run")} == {done.run}
    assert project.run("undo", done.run, "--apply").code == 0
    assert contents(project.store) == first
