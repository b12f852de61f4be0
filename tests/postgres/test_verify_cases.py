"""Failures that people reported in public, as databases: each is found as its `expected.json` says, no more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.expected import found, verify

CASES = sorted(path.parent for path in (Path(__file__).parents[1] / "cases_sql").glob("*/expected.json"))
# Facts that both sides state, and the names they have in ours.
FACTS = ("rows", "stored", "actual")


def agrees(finding: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Whether a finding is the wanted one: rule, severity, place and facts."""
    if (finding["rule"], finding["severity"]) != (wanted["rule"], wanted["severity"]):
        return False
    row = wanted.get("row")
    if row is not None and "@" not in row and row not in finding["position"].values():
        return False
    facts = finding.get("facts", {})
    return all(facts[name] == wanted[name] for name in FACTS if name in wanted)


def conversation_of(report: dict[str, Any], finding: dict[str, Any]) -> str:
    outcome = next(one for one in report["outcomes"] if finding in one["findings"])
    return str(outcome["conversation"])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Path, database: str, tmp_path: Path) -> None:
    with psycopg.connect(database) as connection:
        connection.execute((case / "input.sql").read_bytes())
    expected = json.loads((case / "expected.json").read_text(encoding="utf-8"))["findings"]
    code, report = verify(database, home=tmp_path)
    left = [one for one in found(report) if one["severity"] != "info"]
    for wanted in expected:
        match = next((one for one in left if agrees(one, wanted)), None)
        assert match is not None, (wanted, left)
        if "@" in wanted.get("row", ""):
            assert conversation_of(report, match) == wanted["row"].partition(" @ ")[0]
        left.remove(match)
    assert left == []
    assert code == report["exit_code"] == 1


def test_there_are_cases() -> None:
    assert len(CASES) == 2


@pytest.mark.parametrize("options", [("-q",), ("-q", "--scope", "last-turn")])
def test_the_lack_of_an_order_is_told_once_even_when_quiet(
    options: tuple[str, ...], database: str, tmp_path: Path
) -> None:
    with psycopg.connect(database) as connection:
        connection.execute((CASES[0] / "input.sql").read_bytes())
    code, report = verify(database, *options, home=tmp_path)
    assert code == 1
    assert [one["rule"] for one in found(report)].count("missing-seq") == 1
