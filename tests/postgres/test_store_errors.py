"""What can go wrong with a database is one clear sentence that names no password, and exit code 3."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from jarvis_ops.errors import StoreError
from jarvis_ops.stores.postgres.profiles import JARVIS
from jarvis_ops.stores.postgres.store import PostgresStore
from tests.expected import ROOT, found, verify
from tests.generate import JarvisWriter
from tests.postgres.conftest import Cluster, Connect
from tests.postgres.loading import load
from tests.postgres.server import WITH_PASSWORD, free_port
from tests.postgres.tables import NUMBERED, Variant, create

SECRET = "hush-hush"  # noqa: S105 - of a role that lives as long as its test


def complaint(dsn: str, home: Path, command: str = "verify-pairs") -> tuple[int, str]:
    """The exit code and what is said on standard error."""
    done = subprocess.run(
        [sys.executable, "-m", "jarvis_ops", command, "--store", dsn, "--json"],
        cwd=ROOT, env={"HOME": str(home), "PATH": "/usr/bin:/bin"}, capture_output=True, check=False, text=True,
    )  # fmt: skip
    assert SECRET not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    (said,) = [line for line in done.stderr.splitlines() if "a password that is typed" not in line]
    return done.returncode, said


def role(connection: psycopg.Connection[Any], name: str) -> None:
    """A role of this name, whoever made it before."""
    connection.execute(
        f"DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{name}')"
        f" THEN CREATE ROLE {name} LOGIN PASSWORD '{SECRET}'; END IF; END $$".encode()
    )


def test_no_server(tmp_path: Path) -> None:
    code, said = complaint(f"postgresql://me:{SECRET}@127.0.0.1:{free_port()}/db", tmp_path)
    assert code == 3
    assert "no server answers there" in said


def test_no_database(database: str, tmp_path: Path) -> None:
    code, said = complaint(database.rpartition("/")[0] + "/nowhere", tmp_path)
    assert code == 3
    assert "no database of this name" in said


@pytest.mark.parametrize("command", ["verify-pairs", "sessions"])
def test_no_table(command: str, database: str, tmp_path: Path) -> None:
    code, said = complaint(database, tmp_path, command)
    assert code == 3
    assert "has no table jarvis_entries; the [schema] of the configuration says what it is called" in said


def test_no_column(database: str, connect: Connect, tmp_path: Path) -> None:
    connect().execute("CREATE TABLE jarvis_entries (id text, role text)")
    code, said = complaint(database, tmp_path)
    assert code == 3
    assert "table jarvis_entries has no column session_id" in said


def test_text_of_no_encoding(pg_server: str, tmp_path: Path) -> None:
    name = f"unencoded_{os.getpid()}"
    with psycopg.connect(pg_server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE 'C'".encode())
        code, said = complaint(pg_server.rpartition("/")[0] + f"/{name}", tmp_path)
        connection.execute(f"DROP DATABASE {name}".encode())
    assert code == 3
    assert "does not say how its text is encoded" in said


def test_no_permission(database: str, connect: Connect, tmp_path: Path) -> None:
    create(connect(), NUMBERED)
    role(connect(), "stranger")
    code, said = complaint(database.replace("postgres@", "stranger@"), tmp_path)
    assert code == 3
    assert "this role may not read all of it (permission denied for table" in said


def test_a_wrong_password(own_cluster: Cluster, tmp_path: Path) -> None:
    with own_cluster() as server:
        with psycopg.connect(server.dsn(), autocommit=True) as connection:
            role(connection, WITH_PASSWORD)
        wrong = server.dsn(user=f"{WITH_PASSWORD}:not-{SECRET}")
        code, said = complaint(wrong, tmp_path)
        assert (code, "refuses the password" in said) == (3, True)
        code, said = complaint(server.dsn(user=WITH_PASSWORD), tmp_path)
        assert (code, "wants a password" in said) == (3, True)


def test_a_standby_can_be_read(own_cluster: Cluster, tmp_path: Path) -> None:
    with own_cluster() as server:
        with psycopg.connect(server.dsn(), autocommit=True) as connection:
            create(connection, Variant(seq="bigint"))
            load(
                connection,
                "talk",
                (line.raw for line in JarvisWriter(random.Random(4), marks=False).turns(3).lines),
                Variant(seq="bigint"),
            )
        server.become_standby()
        code, report = verify(server.dsn(), home=tmp_path)
        assert (code, found(report)) == (0, [])
        assert report["counts"]["records"] > 3


def test_a_server_that_goes_away(own_cluster: Cluster) -> None:
    with own_cluster() as server:
        with psycopg.connect(server.dsn(), autocommit=True) as connection:
            create(connection, NUMBERED)
        store = PostgresStore(server.dsn(), JARVIS)
        server.stop("immediate")
        look: Callable[[], object] = store.inventory
        with pytest.raises(StoreError, match=r"^postgresql://postgres@127\.0\.0\.1:\d+/postgres: "):
            look()
        store.transaction.close()
