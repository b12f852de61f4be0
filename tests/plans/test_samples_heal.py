"""Every sample log of JARVIS heals to no error that has a repair of its own accord."""

from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_ops.rules.catalog import RULES
from tests.plans.healing import LOG, Patient, errors, judged

SAMPLES = Path(__file__).resolve().parents[2] / "sample_data"
LOGS = sorted(
    path
    for path in SAMPLES.glob("*/*.jsonl")
    if path.is_file() and not path.with_suffix(".segments").exists() and b'"sessionId"' not in path.read_bytes()
)


@pytest.mark.parametrize("log", LOGS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_sample_heals(log: Path) -> None:
    content = log.read_bytes()
    patient = Patient({LOG: content})
    mended = [rule for rule in errors(patient.heal()) if RULES[rule].safety in {"safe", "lossy"}]
    assert mended == []
    again = Patient(patient.contents())
    again.heal()
    assert again.done == []
    if not errors(judged({LOG: content})) and log.parent.name != "no-final-newline":
        assert patient.contents()[LOG] == content


def test_there_are_samples() -> None:
    assert len(LOGS) > 30
