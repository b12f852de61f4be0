"""The order of rows of one moment, without a database: what was written in order comes back in order."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_ops.model.trace import Moment, Trace
from jarvis_ops.plans.seq import (
    AGAINST_PAIRS,
    NO_TRACE,
    SAVEPOINT,
    SEVERAL_PAGES,
    UPDATED,
    decide,
    pairs_hold,
)

LATE = 1_000


def row(key: str, role: str = "", calls: str = "", results: str = "") -> Trace:
    role = role or ("tool" if results else "assistant")
    return Trace(0, key, role, tuple(calls.split()), tuple(results.split()), 1, 0, 0, 0)


def turn(*blocks: int, prompt: bool = True, word: bool = True) -> list[Trace]:
    """A turn whose calls have so many results each."""
    rows = [row("prompt", "user")] if prompt else []
    for number, results in enumerate(blocks):
        ids = [f"c{number}.{each}" for each in range(results)]
        rows.append(row(f"call{number}", calls=" ".join(ids)))
        rows += [row(f"result{one}", results=one) for one in ids]
    return rows + ([row("word")] if word else [])


def written(rows: Sequence[Trace], xid: int = 10) -> list[Trace]:
    """The rows as one transaction wrote them, a statement each, to one page."""
    return [one._replace(xid=xid, cmin=number, item=number) for number, one in enumerate(rows)]


def moment(rows: Sequence[Trace], *, last: bool = False, awaited: str = "") -> Moment:
    """The rows by place, in which they come from the database."""
    by_trace = sorted(rows, key=lambda one: (one.xid, one.cmin, one.page, one.item))
    return Moment(
        "s",
        "1",
        tuple(one._replace(place=place) for place, one in enumerate(by_trace, 1)),
        last,
        frozenset(awaited.split()),
    )


def ordered(of: Moment, *, sees_updates: bool = True) -> tuple[list[str], str]:
    decision = decide(of, sees_updates=sees_updates)
    assert sorted(decision.order) == list(range(len(of.rows)))
    assert pairs_hold(of._replace(rows=tuple(of.rows[index] for index in decision.order)))
    return [of.rows[index].key for index in decision.order], decision.doubt


def keys(rows: Sequence[Trace]) -> list[str]:
    return [one.key for one in rows]


turns = st.builds(
    turn,
    st.integers(1, 3),
    st.integers(1, 3),
    st.integers(1, 2),
    prompt=st.booleans(),
    word=st.booleans(),
)


@given(turns, st.booleans(), st.booleans())
def test_rows_that_were_never_updated_keep_the_order_of_their_writing(
    rows: list[Trace], sees_updates: bool, last: bool
) -> None:
    assert ordered(moment(written(rows), last=last), sees_updates=sees_updates) == (keys(rows), "")


@given(turns, st.data())
def test_what_is_not_in_doubt_is_right(rows: list[Trace], data: st.DataObject) -> None:
    updated = data.draw(st.sets(st.sampled_from(range(len(rows)))))
    stored = [
        one._replace(xid=LATE + data.draw(st.integers(0, 3)), cmin=0, item=50 + number, updated=True)
        if number in updated
        else one
        for number, one in enumerate(written(rows))
    ]
    found, doubt = ordered(moment(stored))
    assert doubt or found == keys(rows)


@given(turns, st.data())
def test_what_cannot_be_seen_to_be_updated_is_in_doubt_rather_than_wrong(
    rows: list[Trace], data: st.DataObject
) -> None:
    updated = data.draw(st.sets(st.sampled_from(range(len(rows))), max_size=len(rows) - 2))
    stored = [
        one._replace(xid=LATE, cmin=0, item=data.draw(st.integers(50, 99)) * 100 + number) if number in updated else one
        for number, one in enumerate(written(rows))
    ]
    found, doubt = ordered(moment(stored, last=True), sees_updates=False)
    assert doubt or found == keys(rows)


@given(turns, st.randoms(use_true_random=False))
def test_a_restored_copy_still_pairs(rows: list[Trace], chance: random.Random) -> None:
    shuffled = chance.sample(rows, len(rows))
    found, doubt = ordered(moment([one._replace(bulk=True, item=n) for n, one in enumerate(shuffled)]))
    assert doubt == NO_TRACE
    assert sorted(found) == sorted(keys(rows))


def test_one_call_needs_no_trace() -> None:
    rows = turn(3)
    lost = [one._replace(bulk=True, item=n) for n, one in enumerate(reversed(rows))]
    assert ordered(moment(lost)) == (keys(rows), "")


def test_one_updated_row_of_two_calls_is_placed_by_the_rest_of_its_block() -> None:
    rows = written(turn(2, 2))
    rows[1] = rows[1]._replace(xid=LATE, cmin=0, updated=True)
    assert ordered(moment(rows)) == (keys(rows), "")


def test_one_of_two_blocks_without_any_trace_is_in_doubt() -> None:
    rows = written(turn(1, 1))
    rows[1:3] = [one._replace(xid=LATE, cmin=0, updated=True) for one in rows[1:3]]
    assert ordered(moment(rows))[1] == UPDATED


@pytest.mark.parametrize(("pages", "doubt"), [(1, ""), (2, SEVERAL_PAGES)])
def test_a_statement_of_many_rows_is_in_order_within_a_page(pages: int, doubt: str) -> None:
    rows = [one._replace(cmin=0, page=number % pages, item=number) for number, one in enumerate(written(turn(1, 1)))]
    found, why = ordered(moment(rows))
    assert why == doubt
    assert doubt or found == keys(rows)


def test_a_savepoint_that_only_its_numbers_show_is_in_doubt() -> None:
    rows = written(turn(1, 1, prompt=False, word=False))
    rows[:2] = [one._replace(xid=11) for one in rows[:2]]
    assert ordered(moment(rows))[1] == SAVEPOINT


def test_transactions_that_follow_each_other_are_no_savepoint() -> None:
    rows = [one._replace(xid=number, cmin=0) for number, one in enumerate(written(turn(1, 1)), 10)]
    assert ordered(moment(rows)) == (keys(rows), "")


def test_an_answer_between_two_results_goes_behind_them() -> None:
    first, one, two, word = turn(2, prompt=False)
    assert ordered(moment(written([first, one, word, two]))) == (keys([first, one, two, word]), "")
    assert not pairs_hold(moment(written([first, one, word, two])))


def test_a_trace_that_breaks_pairs_is_not_believed_elsewhere() -> None:
    first, one, second, two = turn(1, 1, prompt=False, word=False)
    assert ordered(moment(written([first, second, one, two])))[1] == AGAINST_PAIRS


def test_results_of_an_earlier_moment_come_first() -> None:
    rows = [row("word"), row("late", results="c9")]
    lost = [one._replace(updated=True, item=number) for number, one in enumerate(rows)]
    assert ordered(moment(lost, awaited="c9")) == (["late", "word"], "")
    assert not pairs_hold(moment(written(rows), awaited="c9"))


def test_a_result_whose_call_is_gone_stays_where_it_was_written() -> None:
    rows = [*turn(1, word=False), row("stray", results="gone"), row("word")]
    assert ordered(moment(written(rows))) == (keys(rows), "")
    lost = [one._replace(updated=True, item=number) for number, one in enumerate(rows)]
    assert ordered(moment(lost))[1] == UPDATED


def test_a_row_that_left_its_transaction_was_perhaps_updated() -> None:
    rows = written(turn(1, 1, prompt=False))
    rows[0] = rows[0]._replace(xid=11, cmin=0)
    rows[1] = rows[1]._replace(xid=12, cmin=0)
    assert ordered(moment(rows), sees_updates=False)[1] == UPDATED


def test_numbers_stay_where_traces_are_lost() -> None:
    first, one, second, two = turn(1, 1, prompt=False, word=False)
    numbered = [
        each._replace(bulk=True, number=number, item=9 - number)
        for number, each in enumerate([second, first, one, two])
    ]
    assert ordered(moment(numbered))[0] == keys([second, two, first, one])


def test_a_second_result_of_a_call_stays_with_the_first() -> None:
    rows = [row("call", calls="a"), row("one", results="a"), row("two", results="a"), row("word")]
    assert pairs_hold(moment(written(rows)))


def test_a_call_id_that_is_used_twice_pairs_in_turn() -> None:
    rows = [row("call", calls="a"), row("one", results="a"), row("again", calls="a"), row("two", results="a")]
    assert ordered(moment(written(rows))) == (keys(rows), "")


def test_a_call_that_nothing_answers_is_in_doubt_beside_others() -> None:
    rows = [row("open", calls="a"), row("call", calls="b"), row("result", results="b")]
    lost = [one._replace(updated=True, item=number) for number, one in enumerate(rows)]
    assert ordered(moment(lost))[1] == UPDATED


def test_several_turns_without_traces_are_in_doubt() -> None:
    rows = [row("ask", "user"), row("word"), row("more", "user"), row("last")]
    lost = [one._replace(updated=True, item=number) for number, one in enumerate(rows)]
    assert ordered(moment(lost)) == (keys(rows), UPDATED)
