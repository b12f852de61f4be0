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


def connection_of(dsn: str) -> dict[str, Any]:
    """The parameters of an address or of connection words. ConfigurationError where they are none.

    An @ that is no separator is most likely one of the password, which would then be taken for a host, and shown.
    """
    if "://" in dsn and dsn.count("@") > 1 or "@" in dsn.partition("://")[2].partition("/")[2]:
        raise ConfigurationError("the address of the database has an @ too many; in a password it is written %40")
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


def connect(dsn: str) -> psycopg.Connection[Any]:
    """A new connection. Raises what psycopg raises; see `explained`."""
    known = {"connect_timeout": 10, "application_name": APPLICATION, **connection_of(dsn)}
    connection = psycopg.connect(**known)
    # A pooler may give the next transaction another server, which knows no statement prepared before.
    connection.prepare_threshold = None
    return connection


@contextmanager
def explained(dsn: str) -> Iterator[None]:
    """Turns what psycopg raises into a StoreError."""
    try:
        yield
    except psycopg.Error as error:
        raise StoreError(f"{name_of(dsn)}: {reason(error)}") from None


def reason(error: psycopg.Error) -> str:
    """What went wrong, in a sentence without the address."""
    if isinstance(error, errors.InsufficientPrivilege):
        return f"the role may not read it: {first_line(error)}"
    if isinstance(error, errors.UndefinedTable):
        return f"a table is missing: {first_line(error)}"
    if isinstance(error, errors.QueryCanceled):
        return "a statement took too long and was cancelled"
    return first_line(error)


def first_line(error: psycopg.Error) -> str:
    """The server's own words, on one line."""
    text = error.diag.message_primary or str(error)
    return " ".join(text.split()) or type(error).__name__
