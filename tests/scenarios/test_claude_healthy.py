"""Healthy transcripts of Claude Code raise no error and no warning, whichever way they are looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scenarios.claude_healthy import HEALTHY
from tests.scenarios.made import Scenario, differences


@pytest.mark.parametrize("scenario", HEALTHY, ids=lambda scenario: scenario.name)
def test_healthy(scenario: Scenario, tmp_path: Path) -> None:
    assert differences(scenario, tmp_path) == []


@pytest.mark.parametrize("scenario", HEALTHY, ids=lambda scenario: scenario.name)
def test_healthy_at_its_end(scenario: Scenario, tmp_path: Path) -> None:
    last_turn = Scenario(scenario.name, scenario.write, (), {**scenario.settings, "scope": "last-turn"})
    assert differences(last_turn, tmp_path) == []
