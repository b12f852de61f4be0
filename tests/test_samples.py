"""Every sample store gives the findings in its `expected.json` and no other, and stays as it is."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from jarvis_ops.rules.catalog import RULES
from tests.expected import found, unexpected, verify

SAMPLE_DATA = Path(__file__).resolve().parent.parent / "sample_data"
SAMPLES = sorted(path.parent for path in SAMPLE_DATA.glob("*/expected.json"))


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file below a folder, with its bytes and the time of its last change in nanoseconds."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_sample(sample: Path, tmp_path: Path) -> None:
    expected = json.loads((sample / "expected.json").read_text(encoding="utf-8"))
    before = contents(sample)
    code, report = verify(sample, home=tmp_path)
    assert unexpected(found(report), expected["findings"]) == []
    assert code == expected["exit"]
    assert report["exit_code"] == code
    assert contents(sample) == before


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_sample_folder_is_named_for_a_rule(sample: Path) -> None:
    expected = json.loads((sample / "expected.json").read_text(encoding="utf-8"))["findings"]
    assert {finding["rule"] for finding in expected} <= RULES.keys()
    if sample.name in RULES:
        assert sample.name in {finding["rule"] for finding in expected}
    if sample.name.startswith("healthy"):
        assert expected == []


def test_samples_are_what_their_script_writes(tmp_path: Path) -> None:
    script = (
        "import sys, pathlib; sys.path.insert(0, sys.argv[1]); import build; build.build(pathlib.Path(sys.argv[2]))"
    )
    subprocess.run([sys.executable, "-B", "-c", script, str(SAMPLE_DATA), str(tmp_path)], check=True)
    for sample in SAMPLES:
        written = {name: content for name, (content, _) in contents(tmp_path / sample.name).items()}
        assert written == {name: content for name, (content, _) in contents(sample).items()}, sample.name
