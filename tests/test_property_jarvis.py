"""Random healthy JARVIS conversations have no fault however they are cut into segments; an injected fault is found."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jarvis_ops.model.finding import Finding
from tests.faults_jarvis import ANYWHERE, LAST, Expected, Fault
from tests.generate import JarvisWriter, Line, cuttable, write_jarvis
from tests.in_process import faults_of

SEEDS = st.integers(0, 2**32)
SIZES = st.integers(0, 12)
THOROUGH = settings(max_examples=300, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
# One fault in 30 settings each: with all faults together about 800 examples.
EACH_FAULT = settings(THOROUGH, max_examples=30)
CUTS = st.randoms(use_true_random=False)


def verdict(lines: Sequence[Line], cuts: Sequence[int]) -> list[Finding]:
    return faults_of(partial(write_jarvis, lines=lines, cuts=cuts))


def some_cuts(chooser: random.Random, lines: Sequence[Line]) -> list[int]:
    places = cuttable(lines)
    return sorted(chooser.sample(places, chooser.randint(0, len(places))))


def injected(fault: Fault, seed: int, before: int, after: int) -> tuple[list[Line], Expected]:
    """A conversation with one fault in the middle, and what has to be found."""
    writer = JarvisWriter(random.Random(seed), marks=False).turns(before + 1)
    expected = fault(writer)
    writer.turns(after)
    return writer.lines, expected


@THOROUGH
@given(seed=SEEDS, turns=SIZES, chooser=CUTS)
def test_a_healthy_conversation_has_no_fault_whatever_the_cuts(seed: int, turns: int, chooser: random.Random) -> None:
    lines = JarvisWriter(random.Random(seed)).turns(turns).lines
    assert verdict(lines, some_cuts(chooser, lines)) == []


@pytest.mark.parametrize("fault", [*LAST, *ANYWHERE], ids=lambda fault: fault.__name__)
@EACH_FAULT
@given(seed=SEEDS, before=st.integers(0, 4), after=st.integers(0, 4))
def test_one_fault_gives_exactly_its_finding(fault: Fault, seed: int, before: int, after: int) -> None:
    lines, expected = injected(fault, seed, before, 0 if fault in LAST else after)
    found = verdict(lines, [])
    assert [(one.rule, one.position.line) for one in found] == [(expected.rule, expected.line)], found
    assert expected.id in {None, found[0].record_id, found[0].call_id}


@THOROUGH
@given(fault=st.sampled_from([*LAST, *ANYWHERE]), seed=SEEDS, before=SIZES, after=SIZES, chooser=CUTS)
def test_the_verdict_does_not_depend_on_the_cuts(
    fault: Fault, seed: int, before: int, after: int, chooser: random.Random
) -> None:
    lines, expected = injected(fault, seed, before, 0 if fault in LAST else after)
    whole = verdict(lines, [])
    cut = verdict(lines, some_cuts(chooser, lines))
    assert [(one.rule, one.severity, one.record_id, one.call_id, one.position.path) for one in whole] == [
        (one.rule, one.severity, one.record_id, one.call_id, one.position.path) for one in cut
    ]
    assert [one.rule for one in cut] == [expected.rule]
