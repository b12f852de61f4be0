"""The order of rows that have one time, from what the database knows of their writing and from how they pair.

Pairs come first: a result stands directly behind its call. Where the writing of a row left no trace, the roles decide:
the prompt, calls with their results, the last word. What neither decides is said to be in doubt.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from enum import IntEnum
from itertools import pairwise
from typing import NamedTuple

from jarvis_ops.model.trace import Decision, Moment, Trace

UPDATED = "rows were updated after they were written, and more than one order pairs"
# So it is when one statement wrote them all, and when the server crashed or failed over since: its log tells the
# transaction of a row, and not the statement.
SEVERAL_PAGES = "only their places on several pages tell them apart, and more than one order pairs"
NO_TRACE = "their writing left no trace, and more than one order pairs"
SAVEPOINT = "the transactions and the statements that wrote them disagree, and more than one order pairs"
AGAINST_PAIRS = "the trace of their writing breaks pairs, and more than one order pairs"

Key = tuple[int, ...]


class Rank(IntEnum):
    """Where a unit goes within a turn."""

    ANSWER = 0
    STRAY = 1
    PROMPT = 2
    BLOCK = 3
    WORD = 4
    OPEN = 5


class Unit(NamedTuple):
    """Rows that stay together: a call with its results, or one other row. `date` is None when all traces are lost."""

    rank: Rank
    rows: tuple[int, ...]
    date: Key | None
    fallback: Key


def decide(moment: Moment, *, sees_updates: bool) -> Decision:
    """The order of a moment. `sees_updates` says that `updated` is the whole truth, not only what can be inferred."""
    if one_after_the_other(moment.rows) and plainly_paired(moment.rows):
        return Decision(tuple(range(len(moment.rows))))
    lost = losses(moment, sees_updates=sees_updates)
    decision = arranged(moment, lost)
    if lost and partly_numbered(moment.rows):
        order = tuple(natural_order(moment.rows))
        if order != decision.order and pairs_hold(moment._replace(rows=tuple(moment.rows[index] for index in order))):
            return Decision(order, next(iter(lost.values())))
    if decision.doubt or not breaks_trace(moment.rows, lost, decision.order):
        return decision
    return arranged(moment, dict.fromkeys(range(len(moment.rows)), AGAINST_PAIRS))


def pairs_hold(moment: Moment) -> bool:
    """Whether in the order of its rows each result stands behind its call, and awaited ones before all else.

    A result whose call is gone belongs nowhere, so it may stand anywhere.
    """
    if plainly_paired(moment.rows):
        return True
    units = sorted(units_of(moment, range(len(moment.rows)), {}, in_call_order=False), key=lambda unit: unit.rows[0])
    heads = [index for unit in units if unit.rank == Rank.ANSWER for index in unit.rows]
    others = [index for unit in units if unit.rank not in {Rank.ANSWER, Rank.STRAY} for index in unit.rows]
    return [*heads, *others] == sorted([*heads, *others])


def one_after_the_other(rows: Sequence[Trace]) -> bool:
    """Whether one transaction wrote these rows, a statement each, in this order, and none was written again."""
    first, statement = rows[0], -1
    for row in rows:
        if row.updated or row.bulk or row.xid != first.xid or row.cmin <= statement:
            return False
        statement = row.cmin
    return True


def plainly_paired(rows: Sequence[Trace]) -> bool:
    """Whether all calls are answered by the rows right behind them, once each; a quick look, as most moments are so."""
    waiting: set[str] = set()
    for row in rows:
        if row.results:
            if len(row.results) > 1 or row.results[0] not in waiting:
                return False
            waiting.remove(row.results[0])
        elif waiting:
            return False
        elif row.calls:
            waiting = set(row.calls)
    return not waiting


def losses(moment: Moment, *, sees_updates: bool) -> dict[int, str]:
    """The rows whose traces do not date them, by index, with the reason."""
    rows = moment.rows
    lost = {index: NO_TRACE if row.bulk else UPDATED for index, row in enumerate(rows) if row.bulk or row.updated}
    pages = defaultdict(set)
    for row in rows:
        pages[row.xid, row.cmin].add(row.page)
    for index, row in enumerate(rows):
        if len(pages[row.xid, row.cmin]) > 1:
            lost.setdefault(index, SEVERAL_PAGES)
    if not sees_updates:
        suspects = maybe_updated(rows) if moment.last else strangers(rows)
        lost = {**dict.fromkeys(suspects, UPDATED), **lost}
    if disagree([row for index, row in enumerate(rows) if index not in lost]):
        lost = {index: lost.get(index, SAVEPOINT) for index in range(len(rows))}
    return lost


def maybe_updated(rows: Sequence[Trace]) -> list[int]:
    """Rows of a conversation's last moment that may have been updated: nothing later would show it."""
    oldest = min(row.xid for row in rows)
    alike = defaultdict(list)
    for index, row in enumerate(rows):
        alike[row.xid, row.cmin].append(index)
    return [index for index, row in enumerate(rows) if row.xid != oldest or len(alike[row.xid, row.cmin]) > 1]


def strangers(rows: Sequence[Trace]) -> list[int]:
    """Rows that are alone with their transaction where others share an older one: perhaps updated soon afterwards."""
    together = Counter(row.xid for row in rows)
    oldest = min((xid for xid, number in together.items() if number > 1), default=None)
    return [
        index for index, row in enumerate(rows) if oldest is not None and row.xid > oldest and together[row.xid] == 1
    ]


def disagree(rows: Sequence[Trace]) -> bool:
    """Whether transactions and their statements give two orders, as when some rows were written in a savepoint.

    Statements of transactions that follow each other are counted anew, so equal counts tell that they do.
    """
    by_count: dict[int, set[int]] = defaultdict(set)
    for row in rows:
        by_count[row.cmin].add(row.xid)
    if any(len(xids) > 1 for xids in by_count.values()):
        return False
    counted = sorted({(row.xid, row.cmin) for row in rows})
    return any(left[1] > right[1] for left, right in pairwise(counted))


def breaks_trace(rows: Sequence[Trace], lost: dict[int, str], order: Sequence[int]) -> bool:
    """Whether an order contradicts the traces of rows that have one."""
    dated = [index for index in order if index not in lost]
    return dated != sorted(dated, key=lambda index: trace(rows[index]))


def trace(row: Trace) -> Key:
    """What dates a row."""
    return row.xid, row.cmin, row.page, row.item


def arranged(moment: Moment, lost: dict[int, str]) -> Decision:
    """The order by units."""
    rows = moment.rows
    natural = natural_order(rows)
    place: dict[int, Key] = {index: (position,) for position, index in enumerate(natural)}
    dates = {index: trace(rows[index]) for index in range(len(rows)) if index not in lost}
    units = [dated(unit, dates, place) for unit in units_of(moment, natural, dates, in_call_order=True)]
    ordered, sure = in_order(units)
    doubt = "" if sure else next(iter(lost.values()), AGAINST_PAIRS)
    return Decision(tuple(index for unit in ordered for index in unit.rows), doubt)


def partly_numbered(rows: Sequence[Trace]) -> bool:
    """Whether some rows have a number and some have none."""
    return 0 < sum(row.number is None for row in rows) < len(rows)


def natural_order(rows: Sequence[Trace]) -> list[int]:
    """The order before anything is decided: by number, and by trace behind those that have one."""
    return sorted(
        range(len(rows)), key=lambda index: (rows[index].number is None, rows[index].number or 0, trace(rows[index]))
    )


def dated(unit: Unit, dates: dict[int, Key], place: dict[int, Key]) -> Unit:
    """A unit with its date: that of any of its rows that has one."""
    known = [index for index in unit.rows if index in dates]
    first = min(place[index] for index in known or unit.rows)
    return unit._replace(date=min((dates[index] for index in known), default=None), fallback=first)


def in_order(units: Sequence[Unit]) -> tuple[list[Unit], bool]:
    """The units in order, and whether that is sure."""
    answers = sorted((unit for unit in units if unit.rank == Rank.ANSWER), key=lambda unit: unit.date or unit.fallback)
    rest = [unit for unit in units if unit.rank != Rank.ANSWER]
    undated = [unit for unit in rest if unit.date is None]
    surely = len(answers) < 2 or all(unit.date is not None for unit in answers)
    by_date = sorted((unit for unit in rest if unit.date is not None), key=lambda unit: unit.date or ())
    if not undated:
        return [*answers, *by_date], surely
    ranks = [unit.rank for unit in rest]
    one_turn = ranks.count(Rank.PROMPT) < 2 and ranks.count(Rank.WORD) < 2
    if one_turn and [unit.rank for unit in by_date] == sorted(unit.rank for unit in by_date):
        sure = all(ranks.count(unit.rank) == 1 for unit in undated)
        # What was never answered may have been the end of the turn, or its answer may have been lost on the way; an
        # answer without its call may have stood anywhere.
        loose = {unit.rank for unit in undated} & {Rank.OPEN, Rank.STRAY}
        sure = sure and not (loose and {*ranks} - {Rank.PROMPT, *loose})
        return [*answers, *sorted(rest, key=lambda unit: (unit.rank, unit.fallback))], surely and sure
    return [*answers, *sorted(rest, key=lambda unit: unit.fallback)], False


def units_of(moment: Moment, natural: Sequence[int], dates: dict[int, Key], *, in_call_order: bool) -> list[Unit]:
    """The units of a moment. Results follow each other as they were written, or as they were called for."""
    rows = moment.rows
    waiting: dict[str, deque[int]] = defaultdict(deque)
    for index in natural:
        for call in rows[index].calls:
            waiting[call].append(index)
    blocks: dict[int, list[int]] = {index: [] for index in natural if rows[index].calls}
    units = []
    for index in natural:
        row = rows[index]
        if row.calls:
            continue
        callers = next((waiting[result] for result in row.results if result in waiting), None)
        if callers is not None:
            # A second result for the same call stays with the first.
            blocks[callers.popleft() if len(callers) > 1 else callers[0]].append(index)
        else:
            units.append(Unit(lone_rank(row, moment.awaited), (index,), None, ()))
    for caller, results in blocks.items():
        calls = rows[caller].calls
        if in_call_order and all(index in dates for index in results):
            results.sort(key=dates.__getitem__)
        elif in_call_order:
            results.sort(key=lambda index: min(calls.index(each) for each in rows[index].results if each in calls))
        answered = {each for index in results for each in rows[index].results}
        rank = Rank.BLOCK if answered.issuperset(calls) else Rank.OPEN
        units.append(Unit(rank, (caller, *results), None, ()))
    return units


def lone_rank(row: Trace, awaited: frozenset[str]) -> Rank:
    """The rank of a row that is no call and answers none of this moment."""
    if row.results:
        return Rank.STRAY if awaited.isdisjoint(row.results) else Rank.ANSWER
    return Rank.WORD if row.role == "assistant" else Rank.PROMPT
