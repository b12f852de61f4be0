"""The server of the tests is what the tests take it for."""

from __future__ import annotations

import psycopg
import pytest

from tests.postgres.conftest import Cluster, Connect
from tests.postgres.tables import VARIANTS, add_rows, add_sessions, create


@pytest.mark.parametrize("name", VARIANTS)
def test_tables_of_each_kind_take_rows(connect: Connect, name: str) -> None:
    connection = connect()
    create(connection, VARIANTS[name])
    add_sessions(connection, "s1")
    key = "00000000-0000-4000-8000-000000000001"
    when = "2026-03-10" if name == "oldest" else 1_790_000_000_000
    add_rows(
        connection, [{"id": key, "session_id": "s1", "role": "user", "content": {"text": "hi"}, "timestamp": when}]
    )
    assert connection.execute("SELECT count(*) FROM jarvis_entries").fetchone() == (1,)


def test_a_cluster_survives_a_kill(own_cluster: Cluster) -> None:
    with own_cluster(()) as server:
        with psycopg.connect(server.dsn()) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 1")
        server.kill()
        server.start()
        with psycopg.connect(server.dsn()) as connection:
            assert connection.execute("SELECT * FROM kept").fetchone() is not None


def test_a_standby_refuses_writes(own_cluster: Cluster) -> None:
    with own_cluster() as server:
        server.become_standby()
        with psycopg.connect(server.dsn()) as connection, pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            connection.execute("CREATE TABLE lost ()")
