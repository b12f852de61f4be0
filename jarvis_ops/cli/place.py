"""Which store is meant, where its name came from, and how it may be shown."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import typer

from jarvis_ops.config import Config, Place, own_store

if TYPE_CHECKING:
    from jarvis_ops.stores.base import Store

_SCHEME = re.compile(r"[a-z][a-z0-9+]*://", re.IGNORECASE)
_PASSWORD = re.compile(r"://[^/?@]*:[^/?@]+@|\bpassword\s*=", re.IGNORECASE)
_CONNECTION_WORDS = re.compile(r"(^|\s)(host|hostaddr|dbname|user|password|passfile|service)\s*=", re.IGNORECASE)

# Where the name of a store came from that stands in the command itself.
TYPED = "flag --store"


def place_of(ctx: typer.Context, store: str | None, config: Config) -> Place:
    """The store of an option, a variable or the file, else the one that JARVIS itself is set to."""
    source = ctx.get_parameter_source("store")
    origin = source.name if source is not None else "DEFAULT"
    if store is None or origin == "DEFAULT":
        return own_store(os.environ)
    names = {"COMMANDLINE": TYPED, "ENVIRONMENT": "variable JARVIS_OPS_STORE"}
    return Place(store, names.get(origin, f"file {config.file}"))


def path_of(place: Place) -> str:
    """What to open: the address or the words of a database connection as they are, or a path."""
    from jarvis_ops.stores.open import names_database

    return place.where if names_database(place.where) else os.path.expanduser(place.where)


def other_store(option: str, where: str | None, config: Config | None = None) -> Store | None:
    """The store that an option names beside the one of the command; None if it is not given. StoreError, UsageError."""
    if where is None:
        return None
    from jarvis_ops.stores.open import open_to_read

    return open_to_read(path_of(Place(where, f"option {option}")), config.schema if config is not None else None)


def holds_password(where: str) -> bool:
    """Whether the address or the words of a database connection have a password in them."""
    return bool(_PASSWORD.search(where))


def shown(where: str) -> str:
    """The name of a store as a report may hold it: a password never stands in it."""
    if _SCHEME.match(where):
        return _shown_address(where)
    if _is_connection(where):
        return "a database connection"
    return os.path.expanduser(where)


def _shown_address(where: str) -> str:
    """User, host and database. Of an address in which a password might stand elsewhere, only the scheme is shown."""
    scheme = where.partition("://")[0]
    try:
        parts = urlsplit(where)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return f"{scheme}://"
    if "@" in where.replace(parts.netloc, "", 1) or "@" in parts.netloc.rpartition("@")[0]:
        return f"{scheme}://"
    user = f"{parts.username}@" if parts.username else ""
    return f"{scheme}://{user}{parts.hostname or ''}{port}{parts.path}"


def _is_connection(where: str) -> bool:
    return _CONNECTION_WORDS.search(where) is not None
