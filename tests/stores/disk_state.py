"""Puts files where a test wants them, and reads a store back."""

from __future__ import annotations

import os
from pathlib import Path

from jarvis_ops.model.conversation import Inventory
from jarvis_ops.stores.base import Store
from jarvis_ops.stores.jsonl.store import JsonlStore


def put(folder: Path, files: dict[str, bytes]) -> Path:
    """Write files by their places below `folder`; a place that ends in "/" is an empty folder."""
    for place, data in files.items():
        path = folder / place
        if place.endswith("/"):
            path.mkdir(parents=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def listed(path: Path | str) -> Inventory:
    return JsonlStore(os.fspath(path)).inventory()


def ids(path: Path | str) -> list[str]:
    return [each.id for each in listed(path).conversations]


def oddities(path: Path | str) -> list[tuple[str, str]]:
    return [(each.what, each.file) for each in listed(path).oddities]


def lines_of(store: Store, conversation: str) -> list[bytes]:
    """All lines of one conversation, forward."""
    (found,) = [each for each in store.inventory().conversations if each.id == conversation]
    with store.open(found) as snapshot:
        return [line for chunk in snapshot.chunks() for line in chunk.lines]
