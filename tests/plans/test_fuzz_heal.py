"""Whatever bytes a log has: the planners never fail, healing ends, and what it says can be mended is mended."""

from __future__ import annotations

import random

import pytest

from jarvis_ops.model.settings import Settings
from tests.generate import NOW
from tests.mutate import FILE_MUTATIONS, good_lines, mutated_file
from tests.plans.healing import LOG, Patient

# Found by reading, mended by nobody here.
SETTINGS = Settings(now=NOW, dialect="jarvis", scope="full")


def heals(content: bytes) -> None:
    patient = Patient({LOG: content})
    left = patient.heal(SETTINGS)
    refused = [one.finding for one in patient.refused]
    for finding in left:
        mended = finding.severity == "error" and finding.repair is not None
        assert not mended or finding in refused, (finding, patient.refused)
    again = Patient(patient.contents())
    again.heal(SETTINGS)
    assert again.done == []
    kept = sum(len(patient.bytes_of(table)) for table in patient.tables.values())
    assert kept == len(patient.contents()[LOG])


@pytest.mark.parametrize("number", range(40))
def test_mutated_lines_heal(number: int) -> None:
    rng = random.Random(number)
    heals(mutated_file(rng, "jarvis", 60, share=0.3))


@pytest.mark.parametrize("mutation", FILE_MUTATIONS, ids=lambda mutation: mutation.__name__)
def test_mutated_files_heal(mutation: object) -> None:
    rng = random.Random(str(mutation.__name__))  # type: ignore[attr-defined]
    for _ in range(8):
        content = b"\n".join(good_lines(rng, "jarvis", rng.randrange(60))) + b"\n"
        for _ in range(rng.randint(1, 3)):
            content = mutation(rng, content)  # type: ignore[operator]
        heals(content)
