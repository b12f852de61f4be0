"""The fast way over rows and the exact way give one verdict: on healthy, faulty and shuffled conversations."""

from __future__ import annotations

import json
import random
from typing import Any

import msgspec
import psycopg
import pytest

from jarvis_ops.model.report import Outcome
from jarvis_ops.model.settings import Settings
from jarvis_ops.operations.rows import RowJudge
from jarvis_ops.operations.rowscreen import Glance
from jarvis_ops.stores.postgres.profiles import JARVIS
from jarvis_ops.stores.postgres.store import PostgresStore
from tests.generate import NOW, START, JarvisWriter
from tests.postgres.conftest import Connect
from tests.postgres.loading import FAULTS, messages, row_of
from tests.postgres.tables import NEWEST, Variant, add_rows, add_sessions, create

FORMS = {
    "newest": NEWEST,
    "numbered": Variant(seq="bigint"),
    "text": Variant(content="text"),
    "oldest": Variant(time="timestamptz", calls=False, later=False),
}
CONVERSATIONS = 120


def values(rng: random.Random) -> list[dict[str, Any]]:
    """The messages of a conversation, some of which have a fault."""
    writer = JarvisWriter(rng, marks=False).turns(rng.randrange(1, 5))
    if rng.random() < 0.3:
        rng.choice(FAULTS)(writer)
        writer.turns(rng.randrange(2))
    kept = []
    for line in writer.lines:
        try:
            kept += messages([line.raw])
        except ValueError:
            continue
    return [one for one in kept if fits(json.dumps(one, ensure_ascii=False))]


def fits(text: str) -> bool:
    """Whether a database takes this text: it refuses a NUL, and half a pair of surrogates."""
    return "\\u0000" not in text and text.encode("utf-8", "ignore").decode() == text


def changed(rng: random.Random, rows: list[dict[str, Any]], variant: Variant) -> None:
    """What happens to rows: ties, times in other units, compaction, numbers lost and mixed up."""
    place = rng.randrange(len(rows))
    kind = rng.randrange(7)
    if kind == 0:
        rows[place]["timestamp"] = rows[place - 1]["timestamp"]
    elif kind == 1 and variant.time == "bigint":
        rows[place]["timestamp"] //= 1000
    elif kind == 2 and variant.later:
        for row in rows[:place]:
            row |= {"compacted_at": "2026-01-01", "compacted_by": rows[place]["id"]}
    elif kind == 3 and variant.later:
        rows[place] |= {"compacted_at": "2026-01-01", "compacted_by": "gone"}
    elif kind == 4 and variant.seq:
        rows[place]["seq"] = None
    elif kind == 5 and variant.seq:
        rows[place]["seq"], rows[place - 1]["seq"] = rows[place - 1]["seq"], rows[place]["seq"]
    elif kind == 6:
        del rows[place]


def fill(connection: psycopg.Connection[Any], variant: Variant) -> None:
    create(connection, variant)
    for number in range(CONVERSATIONS):
        rng, session = random.Random(number), f"{number:03d}"
        rows = [row_of(one, session, place, variant) for place, one in enumerate(values(rng), start=1)]
        for row in rows:
            row["id"] = f"{session}-{rows.index(row)}"
        if rng.random() < 0.3:
            changed(rng, rows, variant)
        if variant.time == "timestamptz":
            for row in rows:
                moved = divmod(row["timestamp"] - START, 1000)
                row["timestamp"] = f"2026-01-01 00:{moved[0] // 60:02d}:{moved[0] % 60:02d}.{moved[1]:03d}+00"
        add_sessions(connection, session)
        add_rows(connection, rows)


def judged(store: PostgresStore, settings: Settings, *, screen: bool) -> tuple[int, list[Outcome]]:
    """How many conversations the fast way calls clean, and all outcomes."""
    inventory = store.inventory()
    judge = RowJudge(store, inventory, settings)
    clean, outcomes = 0, []
    for glance in judge.glances(None):
        clean += glance.clean
        seen = glance if screen else Glance(glance.session, glance.records, clean=False)
        outcome = judge.outcome(judge.by_id[glance.session], seen)
        assert outcome.errors == []
        outcomes.append(msgspec.structs.replace(outcome, findings=[one.told() for one in outcome.findings]))
    return clean, outcomes


@pytest.mark.parametrize("scope", ["replay", "full"])
@pytest.mark.parametrize("form", FORMS)
def test_both_ways_agree(form: str, scope: Any, connect: Connect, database: str) -> None:
    connection = connect(autocommit=False)
    fill(connection, FORMS[form])
    connection.commit()
    store = PostgresStore(database, JARVIS)
    settings = Settings(now=NOW, scope=scope)
    clean, fast = judged(store, settings, screen=True)
    _, exact = judged(store, settings, screen=False)
    store.transaction.close()
    assert fast == exact
    assert len(fast) == CONVERSATIONS
    assert CONVERSATIONS / 6 < clean < CONVERSATIONS
