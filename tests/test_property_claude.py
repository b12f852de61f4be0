"""Random healthy Claude Code transcripts have no fault; an injected fault gives exactly its finding."""

from __future__ import annotations

import random
from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jarvis_ops.model.finding import Finding
from tests.faults_claude import ANYWHERE, LAST, Fault
from tests.generate_claude import ClaudeWriter, write_claude
from tests.in_process import faults_of

SEEDS = st.integers(0, 2**32)
THOROUGH = settings(max_examples=300, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
EACH_FAULT = settings(THOROUGH, max_examples=30)


def verdict(writer: ClaudeWriter) -> list[Finding]:
    return faults_of(partial(write_claude, lines=writer.lines))


@THOROUGH
@given(seed=SEEDS, turns=st.integers(0, 12))
def test_a_healthy_transcript_has_no_fault(seed: int, turns: int) -> None:
    writer = ClaudeWriter(random.Random(seed)).turns(turns)
    writer.close()
    assert verdict(writer) == []


@pytest.mark.parametrize("fault", [*LAST, *ANYWHERE], ids=lambda fault: fault.__name__)
@EACH_FAULT
@given(seed=SEEDS, before=st.integers(1, 4), after=st.integers(0, 3))
def test_one_fault_gives_exactly_its_finding(fault: Fault, seed: int, before: int, after: int) -> None:
    writer = ClaudeWriter(random.Random(seed), marks=False).turns(before)
    expected = fault(writer)
    writer.turns(0 if fault in LAST else after)
    found = verdict(writer)
    assert [(one.rule, one.position.line) for one in found] == [(expected.rule, expected.line)], found
    assert expected.id in {None, found[0].record_id, found[0].call_id}
