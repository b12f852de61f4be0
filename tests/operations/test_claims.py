"""Claims behave like sets of bytes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jarvis_ops.model.pieces import Span
from jarvis_ops.operations.claims import Claims

SPANS = st.tuples(st.sampled_from("ab"), st.integers(0, 20), st.integers(0, 6)).map(
    lambda one: Span(one[0], one[1], one[1] + one[2])
)


def clash(one: Span, other: Span) -> bool:
    return one.file == other.file and one.start < other.end and other.start < one.end


@given(st.lists(st.lists(SPANS, max_size=2), max_size=12))
def test_a_claim_is_refused_just_when_another_reaches_into_it(wanted: list[list[Span]]) -> None:
    claims, granted = Claims(), list[Span]()
    for spans in wanted:
        if len(spans) == 2 and clash(*spans):
            continue
        free = not any(clash(one, other) for one in spans for other in granted)
        assert claims.add(spans) is free
        granted += spans if free else []


@given(st.sets(st.tuples(st.sampled_from("ab"), st.integers(0, 30))), st.lists(SPANS, max_size=8))
def test_what_is_taken_out_is_given_once(claimed: set[tuple[str, int]], wanted: list[Span]) -> None:
    claims = Claims(Span(file, place, place + 1) for file, place in sorted(claimed))
    left = set(claimed)
    for span in wanted:
        got = {(one.file, place) for one in claims.take_out(span) for place in range(one.start, one.end)}
        assert got == {(span.file, place) for place in range(span.start, span.end)} & left
        left -= got
