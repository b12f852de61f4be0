"""From what a person typed to the store that it means."""

from __future__ import annotations

import re

from jarvis_ops.errors import UsageError
from jarvis_ops.stores.base import WritableStore
from jarvis_ops.stores.jsonl.store import JsonlStore

_DATABASE = re.compile(r"(postgres|postgresql|sqlite)(\+\w+)?:", re.IGNORECASE)


def open_store(where: str) -> WritableStore:
    """The store at `where`: a directory or a single file.

    StoreError if it is not there or cannot be a store; UsageError for a kind of store that this version cannot read.
    """
    database = _DATABASE.match(where)
    if database:
        kind = database[1].lower()
        raise UsageError(f"this version reads JSONL stores only, and {kind}: names a database")
    if not where:
        raise UsageError("the path of the store is empty")
    return JsonlStore(where)
