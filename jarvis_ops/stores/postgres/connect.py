"""Connections to a database, and what went wrong with one in a sentence that names no password."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict

from jarvis_ops.errors import ConfigurationError, StoreError

DRIVER = re.compile(r"^(postgres(?:ql)?)\+\w+:", re.IGNORECASE)
APPLICATION = "jarvis-ops"
# How long to wait for a server to answer (seconds).
PATIENCE = 10
# What the server and the library say of a connection that cannot be made, and what it means.
CAUSES = {
    "password authentication failed": "the server refuses the password of this role",
    "no password supplied": "the server wants a password; put it into POSTGRES_DSN, a service file or .pgpass",
    "Connection refused": "no server answers there",
    "resolve": "there is no host of this name",
    "timeout expired": f"the server did not answer within {PATIENCE} seconds",
    'FATAL: database "': "there is no database of this name",
    'FATAL: role "': "the server knows no role of this name",
    "No such file or directory": "no server answers there",
    "no pg_hba.conf entry": "the server lets nobody in from here as this role",
}
BY_KIND: dict[type[psycopg.Error], str] = {
    errors.InvalidCatalogName: "there is no database of this name",
    errors.InvalidPassword: "the server refuses the password of this role",
    errors.InvalidAuthorizationSpecification: "the server lets nobody in from here as this role",
    errors.InsufficientPrivilege: "this role may not read all of it",
    errors.QueryCanceled: "a statement took too long, or was cancelled",
    errors.SerializationFailure: "the standby had to break the reading off to follow its primary; run it again",
    errors.AdminShutdown: "the server is shutting down",
    errors.TooManyConnections: "the server has no connection left",
    errors.UndefinedTable: "a table is gone",
    errors.UndefinedColumn: "a column is gone",
}


def connection_of(dsn: str) -> dict[str, Any]:
    """The parameters of an address or of connection words. ConfigurationError where they are none.

    An @ that is no separator is most likely one of the password, which would then be taken for a host, and shown.
    """
    beyond = dsn.partition("://")[2]
    if beyond.count("@") > 1 or "@" in beyond.partition("/")[2] or "?" in beyond.rpartition("@")[0]:
        raise ConfigurationError(
            "the address of the database cannot be read; in a password, @ is written %40, / is %2F and ? is %3F"
        )
    try:
        return dict(conninfo_to_dict(DRIVER.sub(r"\1:", dsn)))
    except psycopg.ProgrammingError:
        raise ConfigurationError("the address of the database cannot be read") from None


def name_of(dsn: str) -> str:
    """The address as a report may hold it: user, host and database, never a password."""
    known = connection_of(dsn)
    user = f"{known['user']}@" if known.get("user") else ""
    port = f":{known['port']}" if known.get("port") else ""
    return f"postgresql://{user}{known.get('host', '')}{port}/{known.get('dbname', '')}"


def connect(dsn: str, **options: Any) -> psycopg.Connection[Any]:
    """A new connection; `options` are those of psycopg. ConfigurationError for an address that is none.

    Raises what psycopg raises; see `explained`.
    """
    known = {"connect_timeout": PATIENCE, "application_name": APPLICATION, **connection_of(dsn)}
    # A pooler may give the next transaction another server, which knows no statement that was prepared before.
    return psycopg.connect(**{**known, "prepare_threshold": None, **options})


@contextmanager
def explained(dsn: str) -> Iterator[None]:
    """Turns what psycopg raises into a StoreError."""
    try:
        yield
    except psycopg.Error as error:
        raise StoreError(f"{name_of(dsn)}: {reason(error)}") from None


def reason(error: psycopg.Error) -> str:
    """What went wrong, in a sentence that does not name the address."""
    said = words(error)
    cause = BY_KIND.get(type(error)) or next((text for part, text in CAUSES.items() if part in said), None)
    if cause is None:
        return said
    return f"{cause} ({error.diag.message_primary})" if error.diag.message_primary else cause


def words(error: psycopg.Error) -> str:
    """The server's own words, or the library's, on one line."""
    text = error.diag.message_primary or str(error)
    return " ".join(text.split()) or type(error).__name__
