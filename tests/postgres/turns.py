"""Turns as JARVIS writes them, by several connections at once, and what an order made of them is worth."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import psycopg

from tests.postgres.tables import add_sessions

# How rows are written: a transaction a turn, one a row, or one statement for all of them.
Manner = Literal["turn", "row", "insert"]
SIZES = (50, 200, 1500)
FIRST_TIME = 1_790_000_000_000
INSERT = 'INSERT INTO jarvis_entries (id, session_id, role, content, tool_calls, tool_call_id, "timestamp") VALUES '


class Truth(NamedTuple):
    """The rows of each moment, by (session, time), as (id, role, calls, result) in the order of their writing."""

    moments: dict[tuple[str, int], list[tuple[str, str, tuple[str, ...], str | None]]]

    def shared(self) -> dict[tuple[str, int], list[str]]:
        """The ids of moments of several rows."""
        return {moment: [row[0] for row in rows] for moment, rows in self.moments.items() if len(rows) > 1}


class Writer:
    """Writes turns into JARVIS's tables, with chance for everything that varies."""

    def __init__(self, connections: Sequence[psycopg.Connection[Any]], seed: int, manner: Manner = "turn") -> None:
        self.connections = list(connections)
        self.chance = random.Random(seed)
        self.manner = manner
        self.truth = Truth({})
        self.count = 0

    def write(self, sessions: Sequence[str], turns: int) -> None:
        """So many turns in each conversation; on each connection one at a time, all mixed with each other."""
        add_sessions(self.connections[0], *sessions)
        waiting = [session for session in sessions for _ in range(turns)]
        self.chance.shuffle(waiting)
        running: list[Iterator[None]] = []
        busy: dict[int, str] = {}
        while waiting or running:
            while waiting and len(running) < len(self.connections):
                session = next((one for one in waiting if one not in busy.values()), None)
                if session is None:
                    break
                waiting.remove(session)
                number = next(one for one in range(len(self.connections)) if one not in busy)
                busy[number] = session
                running.append(self._turn(number, session, busy))
            turn = self.chance.choice(running)
            if next(turn, Ellipsis) is Ellipsis:
                running.remove(turn)

    def _turn(self, number: int, session: str, busy: dict[int, str]) -> Iterator[None]:
        connection, time = self.connections[number], FIRST_TIME + 1000 * self.count
        self.count += 1
        self._add(connection, session, time, [("user", (), None)])
        rows: list[tuple[str, tuple[str, ...], str | None]] = []
        for _ in range(self.chance.choice((1, 1, 2, 3))):
            calls = tuple(f"call_{self.chance.randrange(1 << 40):010x}" for _ in range(self.chance.choice((1, 2, 3))))
            rows += [("assistant", calls, None), *(("tool", (), call) for call in calls)]
        rows.append(("assistant", (), None))
        if self.manner == "insert":
            self._add(connection, session, time + 500, rows)
        elif self.manner == "row":
            for row in rows:
                self._add(connection, session, time + 500, [row])
                yield
        else:
            with connection.transaction():
                for row in rows:
                    self._add(connection, session, time + 500, [row])
                    yield
        del busy[number]

    def _add(
        self, connection: psycopg.Connection[Any], session: str, time: int,
        rows: Sequence[tuple[str, tuple[str, ...], str | None]],
    ) -> None:  # fmt: skip
        values: list[Any] = []
        for role, calls, result in rows:
            key = f"{self.chance.randrange(1 << 60):015x}"
            text = "x" * self.chance.choice(SIZES)
            listed = json.dumps([{"id": call, "name": "look", "arguments": {}} for call in calls]) if calls else None
            values += [key, session, role, json.dumps(text), listed, result, time]
            self.truth.moments.setdefault((session, time), []).append((key, role, calls, result))
        places = ", ".join(["(%s, %s, %s, %s, %s, %s, %s)"] * len(rows))
        connection.execute((INSERT + places).encode(), values)


class Worth(NamedTuple):
    """How many moments came out exactly as written, and the ones that did not, or do not pair."""

    exact: float
    wrong: set[tuple[str, int]]
    broken: set[tuple[str, int]]


def worth(connection: psycopg.Connection[Any], truth: Truth) -> Worth:
    """Read all rows as an agent does, and compare."""
    read: dict[tuple[str, int], list[str]] = {}
    for session, time, key in connection.execute(
        'SELECT session_id, "timestamp", id FROM jarvis_entries ORDER BY session_id, "timestamp", seq'
    ):
        read.setdefault((session, time), []).append(key)
    shared = truth.shared()
    wrong = {moment for moment, keys in shared.items() if read[moment] != keys}
    broken = {moment for moment in shared if not pairs(read[moment], truth.moments[moment])}
    return Worth(1 - len(wrong) / len(shared), wrong, broken)


def pairs(keys: Sequence[str], rows: Sequence[tuple[str, str, tuple[str, ...], str | None]]) -> bool:
    """Whether a provider takes rows in this order: each call is answered by the rows directly behind it."""
    known = {row[0]: row for row in rows}
    open_calls: set[str] = set()
    for key in keys:
        _, _, calls, result = known[key]
        if result is not None:
            if result not in open_calls:
                return False
            open_calls.remove(result)
        elif open_calls:
            return False
        else:
            open_calls = set(calls)
    return not open_calls


def update_some(connection: psycopg.Connection[Any], share: float, chance: random.Random) -> None:
    """Update this share of all rows, each by itself, as marks of a compaction do."""
    keys = [row[0] for row in connection.execute("SELECT id FROM jarvis_entries ORDER BY id")]
    for key in chance.sample(keys, round(len(keys) * share)):
        connection.execute("UPDATE jarvis_entries SET compacted_at = now() WHERE id = %s", (key,))
