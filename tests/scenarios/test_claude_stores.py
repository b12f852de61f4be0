"""Stores of Claude Code: what lies beside the transcripts, who runs them, and what they have in common."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scenarios.claude_stores import STORES
from tests.scenarios.made import Scenario, Transcript, differences, verdict


@pytest.mark.parametrize("scenario", STORES, ids=lambda scenario: scenario.name)
def test_store(scenario: Scenario, tmp_path: Path) -> None:
    assert differences(scenario, tmp_path) == []


def test_server_and_client_sides_do_not_pair(tmp_path: Path) -> None:
    """A server's call wants its result in the answer itself: one in a user record is refused (ANT-20)."""
    transcript = Transcript()
    transcript.user()
    transcript.answer("m1", {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}})
    transcript.result("srvtoolu_1")
    transcript.say("m2")
    transcript.write(tmp_path)
    assert "error" in {one.severity for one in verdict(tmp_path)}
