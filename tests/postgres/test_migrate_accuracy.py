"""How right the order is that `migrate-seq` gives to simulated turns, whatever befell the table before."""

from __future__ import annotations

import random
from typing import Any

import psycopg
import pytest

from jarvis_ops.model.report import MigrateOutcome
from jarvis_ops.operations.migrate_seq import Numbering, Wishes
from jarvis_ops.stores.postgres.profiles import JARVIS
from tests.postgres.conftest import Connect
from tests.postgres.live import QUIET
from tests.postgres.tables import create
from tests.postgres.turns import Manner, Truth, Worth, Writer, update_some, worth

SESSIONS = [f"s{number:02}" for number in range(24)]
TURNS = 16
SEED = 20261201


def simulated(connect: Connect, manner: Manner = "turn") -> tuple[psycopg.Connection[Any], Truth]:
    admin = connect()
    create(admin)
    writer = Writer([connect() for _ in range(4)], SEED, manner)
    # Rows that go away make room in pages between, where later rows may come to lie.
    others = [f"gone{number}" for number in range(4)]
    writer.write([*SESSIONS, *others], TURNS // 2)
    admin.execute("DELETE FROM jarvis_entries WHERE session_id LIKE 'gone%'")
    admin.execute("VACUUM jarvis_entries")
    writer.write(SESSIONS, TURNS // 2)
    truth = Truth({moment: rows for moment, rows in writer.truth.moments.items() if moment[0] in SESSIONS})
    return admin, truth


def numbered(database: str, admin: psycopg.Connection[Any], truth: Truth) -> tuple[Worth, MigrateOutcome]:
    outcome = Numbering(database, JARVIS, Wishes(), QUIET).apply(0)
    found = worth(admin, truth)
    reported = {(one.conversation, int(one.time)) for one in outcome.undecided}
    assert not found.broken
    assert found.wrong <= reported, f"{len(found.wrong - reported)} wrong groups were not reported"
    second = Numbering(database, JARVIS, Wishes(), QUIET).apply(0)
    assert (second.status, second.steps) == ("clean", [])
    return found, outcome


def look_into_pages(admin: psycopg.Connection[Any]) -> None:
    admin.execute("CREATE EXTENSION pageinspect")


@pytest.mark.parametrize("bits", [True, False], ids=["pageinspect", "plain"])
@pytest.mark.parametrize("share", [0, 0.02, 0.1])
def test_updated_rows(connect: Connect, database: str, share: float, bits: bool) -> None:
    admin, truth = simulated(connect)
    update_some(admin, share, random.Random(SEED))
    if bits:
        look_into_pages(admin)
    found, outcome = numbered(database, admin, truth)
    assert found.exact >= (1 if share == 0 else 0.99)
    assert len(outcome.undecided) <= len(truth.shared()) * (0.05 if share else 0)


@pytest.mark.parametrize(
    "statement", ["VACUUM FULL jarvis_entries", "CLUSTER jarvis_entries USING jarvis_entries_session_id_idx"]
)
def test_rewritten_by_maintenance(connect: Connect, database: str, statement: str) -> None:
    admin, truth = simulated(connect)
    update_some(admin, 0.02, random.Random(SEED))
    admin.execute(statement.encode())
    look_into_pages(admin)
    found, _ = numbered(database, admin, truth)
    assert found.exact >= 0.99


def test_a_transaction_for_each_row(connect: Connect, database: str) -> None:
    admin, truth = simulated(connect, "row")
    look_into_pages(admin)
    found, outcome = numbered(database, admin, truth)
    assert found.exact == 1
    assert not outcome.undecided


def test_one_statement_for_all_rows_of_a_turn(connect: Connect, database: str) -> None:
    admin, truth = simulated(connect, "insert")
    found, outcome = numbered(database, admin, truth)
    assert found.exact >= 0.9
    assert outcome.undecided


def restored(admin: psycopg.Connection[Any]) -> None:
    """As pg_dump and psql leave it: copied in the order in which it lay."""
    with admin.cursor() as cursor, cursor.copy("COPY jarvis_entries TO STDOUT") as copy:
        rows = b"".join(bytes(block) for block in copy)
    admin.execute("TRUNCATE jarvis_entries")
    with admin.cursor() as cursor, cursor.copy("COPY jarvis_entries FROM STDIN") as copy:
        copy.write(rows)


def test_a_restored_copy_is_ordered_by_pairs_alone(connect: Connect, database: str) -> None:
    admin, truth = simulated(connect)
    restored(admin)
    found, outcome = numbered(database, admin, truth)
    assert outcome.traceless == outcome.updated + sum(map(len, truth.shared().values()))
    assert found.exact >= 0.5


def test_numbers_of_a_rewrite_are_put_right_where_pairs_are_broken(connect: Connect, database: str) -> None:
    admin, truth = simulated(connect)
    update_some(admin, 0.3, random.Random(SEED))
    admin.execute("ALTER TABLE jarvis_entries ADD COLUMN seq bigserial")
    before = worth(admin, truth)
    assert before.broken
    outcome = Numbering(database, JARVIS, Wishes(), QUIET).apply(0)
    after = worth(admin, truth)
    assert not after.broken
    assert outcome.changed == len(before.broken)
    assert Numbering(database, JARVIS, Wishes(), QUIET).apply(0).status == "clean"
