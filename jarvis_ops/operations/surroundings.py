"""What lies around the conversations of a store and bears on how they are judged; read once a run."""

from __future__ import annotations

from typing import Any

import msgspec
import orjson

from jarvis_ops.dialects.blocks import milliseconds
from jarvis_ops.errors import UnreadableError
from jarvis_ops.model.conversation import Conversation, Inventory, Oddity, PartFile
from jarvis_ops.model.settings import Settings
from jarvis_ops.stores.agentlock import is_process
from jarvis_ops.stores.base import Store


class Surroundings(msgspec.Struct, frozen=True):
    """What holds for the store as a whole.

    `metadata` says that conversations of this store have metadata files. By session id, `live` names the process that
    has it open, and `young` a registry file whose process is not seen, but which is too young to be called stale.
    `stale` are the other registry files of processes that are gone, with the session that each claims to run.
    """

    metadata: bool = False
    live: dict[str, str] = {}
    young: dict[str, str] = {}
    stale: tuple[tuple[str, str], ...] = ()


def look_around(store: Store, inventory: Inventory, settings: Settings) -> Surroundings:
    """Read the registry of running agents, where the store has one.

    On Linux its `procStart` is when the process began, as the kernel counts it; elsewhere it is a date, and not
    compared.
    """
    live: dict[str, str] = {}
    young: dict[str, str] = {}
    stale: list[tuple[str, str]] = []
    for oddity in inventory.oddities:
        entry = read_object(store, oddity) if oddity.what == "claude-registry" else None
        if entry is None or not isinstance(entry.get("sessionId"), str):
            continue
        session, pid = entry["sessionId"], entry.get("pid")
        began = milliseconds(entry.get("updatedAt")) or milliseconds(entry.get("startedAt"))
        if isinstance(pid, int) and is_process(pid, entry.get("procStart")):
            live[session] = f"process {pid} of its agent is alive"
        elif began is not None and settings.now - began < settings.turn_timeout:
            # A process of another container looks dead from here.
            young[session] = "its registry file is young, though its process is not seen here"
        elif entry.get("status") == "busy":
            stale.append((oddity.file, session))
    return Surroundings(any(one.metadata is not None for one in inventory.conversations), live, young, tuple(stale))


def read_object(store: Store, oddity: Oddity) -> dict[str, Any] | None:
    """The JSON object in a file that lies beside the conversations; None when it is none or cannot be read."""
    try:
        value = orjson.loads(store.companion(PartFile(oddity.file, oddity.path)))
    except (UnreadableError, orjson.JSONDecodeError):
        return None
    return value if isinstance(value, dict) else None


def read_metadata(  # noqa: PLR0911 - one answer for each fault
    store: Store, conversation: Conversation
) -> tuple[dict[str, Any] | None, str]:
    """The metadata of a conversation and what is wrong with it ("" for nothing)."""
    file = conversation.metadata
    if file is None:
        return None, ""
    try:
        value = orjson.loads(store.companion(file))
    except UnreadableError as error:
        return None, str(error)
    except orjson.JSONDecodeError:
        return None, "the metadata is no JSON"
    if not isinstance(value, dict):
        return None, "the metadata is no JSON object"
    named = value.get("id")
    if not isinstance(named, str):
        return value, "the metadata has no id"
    if named not in {conversation.id, conversation.session_id}:
        return value, f"the metadata names another conversation, {named}"
    return value, ""
