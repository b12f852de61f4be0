"""Any mix of faults in a transcript heals, loses nothing on the way, and leaves alone what is sound."""

from __future__ import annotations

import contextlib
import random
import re
from collections import Counter

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jarvis_ops.model.finding import Finding
from jarvis_ops.model.pieces import Span
from tests.faults_claude import ANYWHERE, LAST
from tests.generate_claude import ClaudeWriter
from tests.plans.tree_faults import with_faults
from tests.plans.tree_patient import SESSION, Patient, values
from tests.scenarios.made import SESSION as OTHER_SESSION
from tests.scenarios.random_claude import Session

SEEDS = st.integers(0, 2**32)
THOROUGH = settings(max_examples=150, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
ASKED = {"dangling-parent", "parent-cycle", "duplicate-id", "extra-root", "unreachable-record", "duplicate-call-id"}
# A damaged line may hold less than a record when it is mended, and a compaction may name one that is lost.
UNKNOWABLE = {"bad-shape", "compaction-dangling"}


def damaged(seed: int) -> bytes:
    """A transcript with one to three faults of those that the verdict names one by one."""
    rng = random.Random(seed)
    writer = ClaudeWriter(rng, marks=rng.random() < 0.6).turns(1)
    for _ in range(rng.randint(1, 3)):
        writer.turns(rng.randrange(3))
        with contextlib.suppress(ValueError, TypeError):  # a fault that copies a record may meet a line that is broken
            rng.choice(ANYWHERE)(writer)
    writer.turns(rng.randrange(3))
    if rng.random() < 0.3:
        rng.choice(LAST)(writer)
    return b"".join(writer.lines)


@THOROUGH
@given(seed=SEEDS)
def test_any_mix_of_faults_heals(seed: int) -> None:
    patient = Patient(damaged(seed)).heal()
    assert set(patient.errors) <= ASKED, (patient.look.findings, patient.refused)
    check(patient)


@THOROUGH
@given(seed=SEEDS)
def test_any_mix_of_faults_heals_whole_when_asked(seed: int) -> None:
    patient = Patient(damaged(seed), *ASKED).heal()
    refused = {one.finding.rule for one in patient.refused}
    assert set(patient.errors) <= refused, patient.look.findings
    check(patient)


@THOROUGH
@given(seed=SEEDS)
def test_what_cannot_be_mended_in_an_odd_transcript_is_refused_and_nothing_gets_worse(seed: int) -> None:
    rng = random.Random(seed)
    content, _ = with_faults(rng, Session(seed).run().lines, rng.randint(1, 3))
    patient = Patient(content, session=OTHER_SESSION).heal()
    refused = {one.finding.rule for one in patient.refused}
    assert set(patient.errors) <= ASKED | UNKNOWABLE | refused, (patient.look.findings, patient.refused)
    assert not {one for one in worse(patient.first.findings, patient.look.findings) if one[0] not in UNKNOWABLE}
    check_lines(patient)
    again = Patient(patient.content, session=OTHER_SESSION)
    assert not again.round()


@THOROUGH
@given(seed=SEEDS)
def test_a_healthy_transcript_is_left_alone(seed: int) -> None:
    healthy = Patient(b"".join(Session(seed).run().lines), *ASKED, session=OTHER_SESSION)
    assert not healthy.round()


def check(patient: Patient) -> None:
    """Nothing is worse, nothing is reached no longer that was not set aside, and a second time nothing is done."""
    assert not worse(patient.first.findings, patient.look.findings)
    assert patient.look.reachable >= patient.first.reachable - sum(one.removes for one in patient.done)
    check_lines(patient)
    check_results(patient)
    again = Patient(patient.content, *patient.ground.asked, session=SESSION)
    assert not again.round()
    assert again.content == patient.content


def worse(before: list[Finding], after: list[Finding]) -> Counter[tuple[str, str]]:
    """The errors that were not there before."""
    old, new = (
        Counter((one.rule, one.call_id or one.record_id or "") for one in findings if one.severity == "error")
        for findings in (before, after)
    )
    return new - old


def check_lines(patient: Patient) -> None:
    """Lines keep their order; one that changes has a step; every byte that goes was in one of those."""
    spans = [piece for piece in patient.table.pieces if isinstance(piece, Span)]
    assert spans == sorted(spans)
    kept = sum(span.length for span in spans)
    assert kept + sum(map(len, patient.removed)) == len(patient.original)
    place = touched = 0
    for line in re.findall(rb"[^\n]*\n|[^\n]+", patient.original):
        touched += not any(span.start <= place and place + len(line) <= span.end for span in spans)
        place += len(line)
    assert touched <= sum(len(repair.steps) for repair in patient.done)


def check_results(patient: Patient) -> None:
    """A call whose real result is there has no other."""
    real: Counter[str] = Counter()
    made: set[str] = set()
    for value in values(patient.content):
        content = value.get("message", {}).get("content")
        for block in content if isinstance(content, list) else ():
            if block["type"] == "tool_result" and "jarvis_ops" in value:
                made.add(block["tool_use_id"])
            elif block["type"] == "tool_result":
                real[block["tool_use_id"]] += 1
    assert not made & real.keys()
