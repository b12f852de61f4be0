"""Remembers which conversations were wholly clean, so that those which nobody touched need not be read again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from jarvis_ops.model.conversation import Conversation
from jarvis_ops.model.report import Outcome
from jarvis_ops.model.settings import Settings
from jarvis_ops.operations.footprint import Mark, footprint

FORMAT = 1
# What a setting says of time itself, or of findings after they were made, changes no verdict on a clean log.
NOT_IN_KEY = ("now", "accept")


class State(msgspec.Struct):
    """The file: the footprints of clean conversations by id."""

    format: int
    clean: dict[str, tuple[Mark, ...]]


class Memory:
    """What earlier runs over one store found clean, and what this run adds.

    A verdict may depend on the clock as long as a turn could still be running, so a conversation is remembered only
    once all its files have been quiet for longer than any time-out, and never while it has a lock file.
    """

    def __init__(self, state: bytes | None, settings: Settings) -> None:
        """`state` is the content of the state file, None if there is none. ValueError if it is none of ours."""
        self._clean = dict(_decoded(state).clean) if state is not None else {}
        quiet = max(settings.turn_timeout, settings.open_call_timeout)
        self._quiet_since = (settings.now - quiet) * 1_000_000
        self._before: dict[str, tuple[Mark, ...]] = {}

    def unchanged(self, conversation: Conversation) -> bool:
        """Whether an earlier verdict still holds; if not, how it looks now is noted before it is read."""
        marks = footprint(conversation)
        if marks is not None and self._clean.get(conversation.id) == marks:
            return True
        self._clean.pop(conversation.id, None)
        if marks is not None and conversation.lock is None and all(mark[3] < self._quiet_since for mark in marks):
            self._before[conversation.id] = marks
        return False

    def judged(self, outcome: Outcome) -> None:
        """Take note of a verdict. What the store shows must show again: those it comes from are forgotten."""
        if outcome.conversation is None:
            for finding in outcome.findings:
                if finding.severity != "info":
                    self._forget_below(finding.position.file)
            return
        marks = self._before.get(outcome.conversation or "")
        spotless = outcome.status == "clean" and not (outcome.findings or outcome.errors or outcome.accepted)
        if marks is not None and spotless:
            self._clean[str(outcome.conversation)] = marks

    def _forget_below(self, file: str) -> None:
        """Drop the conversations whose logs lie in or below the folder of a file."""
        folder = file if file.endswith("/") else file.rpartition("/")[0] + "/"
        inside = "" if folder == "/" else folder
        self._clean = {name: marks for name, marks in self._clean.items() if not marks[0][0].startswith(inside)}

    def forget_all_but(self, ids: Iterable[str]) -> None:
        """Drop conversations that are gone from the store."""
        present = set(ids)
        self._clean = {name: marks for name, marks in self._clean.items() if name in present}

    def encoded(self) -> bytes:
        """The content of the state file. Names that are not UTF-8 are left out, and so judged again."""
        clean = {name: marks for name, marks in self._clean.items() if _plain(name, marks)}
        return msgspec.json.encode(State(FORMAT, clean))


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
