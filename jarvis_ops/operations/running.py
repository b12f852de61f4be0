"""Signs that a turn is still running: what looks open then is no damage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jarvis_ops.dialects.blocks import milliseconds
from jarvis_ops.model.conversation import Conversation
from jarvis_ops.model.message import Message
from jarvis_ops.model.settings import Settings
from jarvis_ops.operations.surroundings import Surroundings
from jarvis_ops.rules.turns import Turns
from jarvis_ops.stores.agentlock import live_lock
from jarvis_ops.stores.base import Snapshot, Store
from jarvis_ops.stores.jsonl.bundle import LOCK, LOG
from jarvis_ops.stores.jsonl.processes import open_for_writing


def sign_of_life(
    metadata: Mapping[str, Any] | None,
    turns: Turns,
    settings: Settings,
    *,
    open_calls: bool,
    hard: str,
    soft: str = "",
) -> str:
    """Why the end of a conversation must be taken for a running turn; "" when nothing says so.

    `hard` is a sign that no option overrides (a lock, a live process, an open writing descriptor),
    `soft` one that --assume-idle does.
    """
    if hard:
        return hard
    if settings.assume_idle:
        return ""
    if soft:
        return soft
    last = turns.last
    if metadata is not None and metadata.get("state") == "running":
        started = milliseconds(metadata.get("turn_started_at")) or milliseconds(metadata.get("updated_at"))
        started = started or (last.time if last is not None else None)
        if started is not None and settings.now - started < settings.turn_timeout:
            return "its metadata says that a turn is running"
    accepted = turns.accepted
    if accepted is not None and accepted.time is not None and settings.now - accepted.time < settings.turn_timeout:
        return "a turn was accepted and has not ended"
    return young_end(last, settings, open_calls=open_calls)


def young_end(last: Message | None, settings: Settings, *, open_calls: bool) -> str:
    """That the last message is one behind which more is to come, and too young to say that it does not."""
    if last is None or last.time is None:
        return ""
    age = settings.now - last.time
    if open_calls and not last.typed and age < settings.open_call_timeout:
        return "its last record is young, and tools run long"
    if last.typed and age < settings.turn_timeout:
        return "its last record, a message of the user, is young"
    if last.results and last.role != "assistant" and age < settings.turn_timeout:
        return "its last record, the result of a tool, is young"
    return ""


def hard_sign(store: Store, conversation: Conversation, snapshot: Snapshot, around: Surroundings) -> str:
    """A sign of a live owner that holds whatever the clock says; "" when there is none."""
    if store.locked(conversation):
        return "its lock is held"
    return named_in_lock(conversation) or around.live.get(conversation.session_id, "") or writing(snapshot)


def named_in_lock(conversation: Conversation) -> str:
    """Who says in a lock file beside the log that it is at work; "" for nobody who is alive."""
    live = conversation.live
    if live is None:
        return ""
    return live_lock(live.path + LOCK) or live_lock(live.path.removesuffix(LOG) + LOCK)


def writing(snapshot: Snapshot) -> str:
    """Who has the log open for writing: by a lease, or by the open files where there is none."""
    held = snapshot.writer()
    if held is None and snapshot.parts:
        pids = open_for_writing(snapshot.parts[-1]).pids
        return f"process {pids[0]} has its log open for writing" if pids else ""
    return "a program has its log open for writing" if held else ""
