"""From what a person typed to the store that it means."""

from __future__ import annotations

import os
import re

from jarvis_ops.errors import UsageError
from jarvis_ops.model.profile import Profile
from jarvis_ops.stores.base import Store, WritableStore
from jarvis_ops.stores.jsonl.store import JsonlStore

_DATABASE = re.compile(r"(postgres|postgresql|sqlite)(\+\w+)?:", re.IGNORECASE)
_WORDS = re.compile(r"(^|\s)(host|hostaddr|dbname|user|password|passfile|service)\s*=", re.IGNORECASE)


def names_database(where: str) -> bool:
    """Whether an address or words of a database connection are meant, and no path."""
    return bool(_DATABASE.match(where) or (_WORDS.search(where) and not os.path.lexists(where)))


def open_store(where: str, profile: Profile | None = None) -> WritableStore:
    """The store at `where`, for a command that may change it: a directory, a single file, or a database.

    StoreError if it is not there or cannot be a store; UsageError and RefusedError for one that this cannot be done
    with.
    """
    if names_database(where):
        check_kind(where)
        # Only who has a database waits for what it takes to speak with one.
        from jarvis_ops.stores.postgres.profiles import JARVIS
        from jarvis_ops.stores.postgres.writable import WritablePostgres

        return WritablePostgres(where, profile or JARVIS)
    if not where:
        raise UsageError("the path of the store is empty")
    return JsonlStore(where)


def open_to_read(where: str, profile: Profile | None = None) -> Store:
    """The store at `where`: a directory, a single file, or a database, whose tables `profile` describes.

    StoreError if it is not there or cannot be a store; UsageError for a kind of store that this version cannot read.
    """
    if not names_database(where):
        return open_store(where)
    check_kind(where)
    from jarvis_ops.stores.postgres.profiles import JARVIS
    from jarvis_ops.stores.postgres.store import PostgresStore

    return PostgresStore(where, profile or JARVIS)


def check_kind(where: str) -> None:
    """UsageError for a kind of database that this version knows nothing of."""
    if where.lower().startswith("sqlite"):
        raise UsageError("this version reads JSONL stores and Postgres, and sqlite: names another kind of database")
