"""Healthy transcripts of Claude Code raise no error and no warning, whichever way they are looked at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jarvis_ops.rules.tree import Tree
from tests.scenarios.claude_healthy import HEALTHY
from tests.scenarios.made import MAIN, PROJECT, SESSION, Scenario, Transcript, differences, verdict
from tests.scenarios.random_claude import Session


@pytest.mark.parametrize("scenario", HEALTHY, ids=lambda scenario: scenario.name)
def test_healthy(scenario: Scenario, tmp_path: Path) -> None:
    assert differences(scenario, tmp_path) == []


@pytest.mark.parametrize("scenario", HEALTHY, ids=lambda scenario: scenario.name)
def test_healthy_at_its_end(scenario: Scenario, tmp_path: Path) -> None:
    last_turn = Scenario(scenario.name, scenario.write, (), {**scenario.settings, "scope": "last-turn"})
    assert differences(last_turn, tmp_path) == []


@pytest.mark.parametrize("scope", ["replay", "full", "last-turn"])
def test_sessions_made_at_random(scope: str, tmp_path: Path) -> None:
    faults = {}
    for seed in range(200):
        Session(seed).run().write(tmp_path)
        found = [one for one in verdict(tmp_path, {"scope": scope}) if one.severity != "info"]
        if found:
            faults[seed] = [(one.rule, one.position.line, one.call_id) for one in found]
    assert faults == {}


def test_each_record_of_a_branch_that_was_left_is_passed_a_few_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rewind over a long conversation must not cost a walk over the whole branch for each of its records."""
    steps = 0
    upward = Tree.upward

    def counted(tree: Tree, number: int) -> Iterator[int]:
        nonlocal steps
        for ancestor in upward(tree, number):
            steps += 1
            yield ancestor

    monkeypatch.setattr(Tree, "upward", counted)
    long = Transcript()
    long.user()
    long.say("m0")
    for number in range(4_000):
        long.user()
        long.say(f"m{number + 1}")
    long.user("edited", 2)
    long.say("last")
    long.write(tmp_path)
    assert [one for one in verdict(tmp_path) if one.severity != "info"] == []
    assert steps < 10 * 8_004


def neighbours(folder: Path) -> None:
    """Two projects, a history that knows both sessions, and settings that keep transcripts for a day."""
    other = "22222222-0000-4000-8000-000000000002"
    for session, project in ((SESSION, PROJECT), (other, "projects/-home-user-other")):
        transcript = Transcript(session, prefix=session[:8])
        transcript.user()
        transcript.say("m1")
        transcript.write(folder, f"{project}/{session}.jsonl")
    (folder / "settings.json").write_text('{"cleanupPeriodDays": 1}')
    prompts = [f'{{"display": "x", "sessionId": "{session}"}}\n' for session in (SESSION, other)]
    (folder / "history.jsonl").write_text("".join(prompts))


@pytest.mark.parametrize("place", ["projects", PROJECT, MAIN])
def test_what_lies_outside_the_store_is_not_judged(place: str, tmp_path: Path) -> None:
    """Settings count where they lie in the store, and a session of a neighbouring project has not been deleted."""
    never: Any = ("deleted-session-traces",)
    assert differences(Scenario(place, neighbours, (), {}, never), tmp_path, tmp_path / place) == []
