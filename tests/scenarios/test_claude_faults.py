"""Damaged transcripts of Claude Code: each fault is named at its place, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scenarios.claude_faults import FAULTS
from tests.scenarios.made import Scenario, differences


@pytest.mark.parametrize("scenario", FAULTS, ids=lambda scenario: scenario.name)
def test_fault(scenario: Scenario, tmp_path: Path) -> None:
    assert differences(scenario, tmp_path) == []
