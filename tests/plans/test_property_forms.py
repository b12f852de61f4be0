"""Any mix of broken pairs, in every form and over several files, heals to no error, and no real result is lost."""

from __future__ import annotations

import random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jarvis_ops.model.finding import Finding
from jarvis_ops.model.settings import Settings
from tests.faults_jarvis import ANYWHERE
from tests.generate import NOW, JarvisWriter, Line, seal
from tests.plans.faults import FAULTS
from tests.plans.healing import Files, Patient, errors
from tests.plans.talk import results

THOROUGH = settings(max_examples=700, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
LEFT = {"duplicate-id", "bad-shape", "compaction-dangling", "segment-changed"}
OTHERS = [fault for fault in ANYWHERE if fault.__name__ != "repeated_record"]


def damaged(seed: int, *, bytes_too: bool) -> Files:
    """A conversation with some faults, cut anywhere into sealed segments and a live file."""
    rng = random.Random(seed)
    writer = JarvisWriter(rng, marks=False).turns(1)
    for _ in range(rng.randint(1, 4)):
        writer.turns(rng.randrange(2))
        rng.choice(FAULTS)(writer)
        if bytes_too and rng.random() < 0.4:
            rng.choice(OTHERS)(writer)
    writer.turns(rng.randrange(3))
    return cut(rng, writer.lines)


def cut(rng: random.Random, lines: list[Line]) -> Files:
    files: Files = {}
    places = sorted(rng.sample(range(1, len(lines)), rng.choice((0, 0, 1, 2)))) if len(lines) > 3 else []
    head = b""
    for number, (start, end) in enumerate(zip([0, *places], places, strict=False), start=1):
        files[f"talk.segments/{number:06d}.jsonl"] = head + b"".join(line.raw for line in lines[start:end])
        head = seal("talk", number, files[f"talk.segments/{number:06d}.jsonl"])
    files["talk.jsonl"] = head + b"".join(line.raw for line in lines[places[-1] if places else 0 :])
    return files


def check(files: Files) -> Patient:
    patient = Patient(files)
    left: list[Finding] = patient.heal(Settings(now=NOW, scope="full"))
    left += patient.heal()
    assert [rule for rule in errors(left) if rule not in LEFT] == [], (left, patient.refused)
    again = Patient(patient.contents())
    again.heal()
    assert again.done == []
    kept = sum(
        piece.length for table in patient.tables.values() for piece in table.pieces if not isinstance(piece, bytes)
    )
    assert kept + sum(map(len, patient.removed())) == sum(map(len, files.values()))
    return patient


@THOROUGH
@given(seed=st.integers(0, 2**32))
def test_broken_pairs_in_every_form(seed: int) -> None:
    files = damaged(seed, bytes_too=False)
    patient = check(files)
    before = results(b"".join(files.values()))
    after = results(b"".join(patient.contents().values()))
    real = {one.call_id for one in before if one.text == "real"}
    for one in after:
        if "jarvis_ops" in one.record:
            assert one.call_id not in real
    assert {one.call_id for one in after if one.text == "real"} >= owned(files, real)


def owned(files: Files, real: set[str]) -> set[str]:
    """Those ids of real results that a call has."""
    whole = b"".join(files.values())
    return {one for one in real if one and one != "unknown" and whole.count(b'"id":"%b"' % one.encode())}


@THOROUGH
@given(seed=st.integers(0, 2**32))
def test_broken_pairs_and_broken_bytes(seed: int) -> None:
    check(damaged(seed, bytes_too=True))
