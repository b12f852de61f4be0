"""Failures that people reported in public: each case is found as its `expected.json` says, and nothing else is."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from jarvis_ops.rules.catalog import RULES
from tests.expected import found, unexpected, verify

CASES = sorted(path.parent for path in (Path(__file__).parent / "cases").glob("*/expected.json"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Path, tmp_path: Path) -> None:
    store = tmp_path / case.name
    shutil.copytree(case, store, symlinks=True)
    if (store / "setup.sh").exists():
        subprocess.run(["/bin/sh", "setup.sh"], cwd=store, check=True)
    expected = json.loads((case / "expected.json").read_text(encoding="utf-8"))["findings"]
    code, report = verify(store, home=tmp_path)
    assert unexpected(found(report), expected) == []
    assert code == int(any(finding["severity"] == "error" for finding in expected))
    assert report["exit_code"] == code


def test_every_rule_of_every_case_is_in_the_catalogue() -> None:
    named = {
        finding["rule"]
        for case in CASES
        for finding in json.loads((case / "expected.json").read_text(encoding="utf-8"))["findings"]
    }
    assert named <= RULES.keys()
    assert len(CASES) == 14
