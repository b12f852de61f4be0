"""Frozen values that configuration produces and every layer below reads."""

from __future__ import annotations

from typing import Literal

import msgspec

Scope = Literal["last-turn", "replay", "full"]


class Accept(msgspec.Struct, frozen=True):
    """A finding that its owner has looked at: counted as accepted, never failing a run.

    A field that is None matches all; `until` is the last day (UTC, ISO date) on which it holds.
    """

    conversation: str | None = None
    rule: str | None = None
    record: str | None = None
    until: str | None = None


class Limits(msgspec.Struct, frozen=True):
    """Sizes in bytes above which a rule speaks."""

    long_line: int = 8 << 20
    segment: int = 8 << 20


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """How to judge. Times are milliseconds; `now` is milliseconds since the epoch, given once a run.

    `memory_dirs` are absolute paths of folders in which an agent's memory may name records of its conversations.
    """

    now: int
    scope: Scope = "replay"
    dialect: str | None = None
    profile: str | None = None
    turn_timeout: int = 300_000
    open_call_timeout: int = 3_600_000
    assume_idle: bool = False
    limits: Limits = Limits()
    accept: tuple[Accept, ...] = ()
    test_prefixes: tuple[str, ...] = ("test-", "live-", "probe-", "exp-")
    memory_dirs: tuple[str, ...] = ()
