"""Remembers which conversations were wholly clean, so that those which nobody touched need not be read again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from jarvis_ops.model.conversation import Conversation, Inventory
from jarvis_ops.model.report import Outcome
from jarvis_ops.model.settings import Settings
from jarvis_ops.operations.footprint import Mark, footprint
from jarvis_ops.operations.landscape import Share

FORMAT = 2
# What a setting says of time itself, or of findings after they were made, changes no verdict on a clean log.
NOT_IN_KEY = ("now", "accept")


class Entry(msgspec.Struct):
    """A clean conversation: how its files looked, and its share in what the store as a whole shows."""

    marks: tuple[Mark, ...]
    share: Share


class State(msgspec.Struct):
    """The file: clean conversations by id; `metadata` says that conversations of the store had metadata files."""

    format: int
    metadata: bool
    clean: dict[str, Entry]


class Memory:
    """What earlier runs over one store found clean, and what this run adds.

    A verdict may depend on the clock as long as a turn could still be running, so a conversation is remembered only
    once all its files have been quiet for longer than any time-out, and never while it has a lock file.
    """

    def __init__(self, state: bytes | None, settings: Settings) -> None:
        """`state` is the content of the state file, None if there is none. ValueError if it is none of ours."""
        known = _decoded(state) if state is not None else State(FORMAT, metadata=False, clean={})
        self._clean = dict(known.clean)
        self._metadata = known.metadata
        quiet = max(settings.turn_timeout, settings.open_call_timeout)
        self._quiet_since = (settings.now - quiet) * 1_000_000
        self._before: dict[str, tuple[Mark, ...]] = {}
        self._shares: dict[str, Share] = {}

    def changed(self, inventory: Inventory, chosen: Sequence[Conversation]) -> list[Conversation]:
        """Those of the chosen conversations whose earlier verdict does not hold, if they ever had one."""
        metadata = any(one.metadata is not None for one in inventory.conversations)
        if metadata != self._metadata:
            self._clean.clear()  # whether a conversation lacks metadata depends on whether others have it
        self._metadata = metadata
        present = {one.id for one in inventory.conversations}
        self._clean = {name: entry for name, entry in self._clean.items() if name in present}
        return [one for one in chosen if not self._unchanged(one)]

    def _unchanged(self, conversation: Conversation) -> bool:
        """Whether an earlier verdict still holds; if not, how it looks now is noted before it is read."""
        marks = footprint(conversation)
        entry = self._clean.get(conversation.id)
        if marks is not None and entry is not None and entry.marks == marks:
            return True
        self._clean.pop(conversation.id, None)
        if marks is not None and conversation.lock is None and all(mark[3] < self._quiet_since for mark in marks):
            self._before[conversation.id] = marks
        return False

    def share(self, conversation: str) -> Share | None:
        """What a conversation that is not judged again adds to what the store shows."""
        entry = self._clean.get(conversation)
        return entry.share if entry is not None else None

    def learn(self, conversation: str, share: Share) -> None:
        """Take what a conversation that was judged adds to what the store shows."""
        self._shares[conversation] = share

    def judged(self, outcome: Outcome) -> None:
        """Take note of a verdict."""
        name = outcome.conversation or ""
        marks, share = self._before.get(name), self._shares.pop(name, None)
        spotless = outcome.status == "clean" and not (outcome.findings or outcome.errors or outcome.accepted)
        if marks is not None and share is not None and spotless:
            self._clean[name] = Entry(marks, share)

    def encoded(self) -> bytes:
        """The content of the state file. Names that are not UTF-8 are left out, and so judged again."""
        clean = {name: entry for name, entry in self._clean.items() if _plain(name, entry.marks)}
        return msgspec.json.encode(State(FORMAT, self._metadata, clean))


def _decoded(state: bytes) -> State:
    try:
        decoded = msgspec.json.decode(state, type=State)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ValueError("it is damaged") from error
    if decoded.format != FORMAT:
        raise ValueError(f"it has format {decoded.format}")
    return decoded


def _plain(name: str, marks: Iterable[Mark]) -> bool:
    try:
        "".join((name, *(mark[0] for mark in marks))).encode()
    except UnicodeEncodeError:
        return False
    return True


def state_name(store: str, settings: Settings, version: str) -> str:
    """The name of the state file: one for each store, set of settings that matter, and version of the tool."""
    values: Mapping[str, Any] = msgspec.to_builtins(settings)
    kept = {key: value for key, value in values.items() if key not in NOT_IN_KEY}
    text = repr((store, sorted(kept.items()), version))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32] + ".json"
