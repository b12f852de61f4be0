"""Stores of Claude Code: what lies beside the transcripts, who runs them, and what they have in common."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scenarios.claude_stores import STORES
from tests.scenarios.made import Scenario, differences


@pytest.mark.parametrize("scenario", STORES, ids=lambda scenario: scenario.name)
def test_store(scenario: Scenario, tmp_path: Path) -> None:
    assert differences(scenario, tmp_path) == []
