"""Stores of JARVIS and Pippa: every fault at its place, and nothing where nothing is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scenarios.jarvis_stores import STORES
from tests.scenarios.made import Scenario, differences


@pytest.mark.parametrize("scenario", STORES, ids=lambda scenario: scenario.name)
def test_store(scenario: Scenario, tmp_path: Path) -> None:
    assert differences(scenario, tmp_path) == []
