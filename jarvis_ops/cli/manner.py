"""How to judge, from what was typed and what the configuration says."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from jarvis_ops.cli.asking import span
from jarvis_ops.cli.near import known
from jarvis_ops.config import Config, limits
from jarvis_ops.dialects.registry import DIALECTS
from jarvis_ops.model.settings import Scope, Settings
from jarvis_ops.rules.catalog import RULES


class Manner(NamedTuple):
    """How to judge, as it was typed."""

    scope: Scope = "replay"
    turn_timeout: str = "300s"
    assume_idle: bool = False
    dialect: str | None = None
    profile: str | None = None


def settings_of(config: Config, manner: Manner) -> Settings:
    """The settings of a run that begins now. UsageError for a name or a duration that is none."""
    dialect = manner.dialect
    settings = Settings(
        now=time.time_ns() // 1_000_000,
        scope=manner.scope,
        dialect=known("dialect", dialect.replace("-", "_"), DIALECTS) if dialect is not None else None,
        profile=manner.profile,
        turn_timeout=span("--turn-timeout", manner.turn_timeout, zero=True) or 0,
        assume_idle=manner.assume_idle,
        limits=limits(config, os.environ),
        accept=config.accept,
        memory_dirs=config.memory_dirs,
    )
    if config.test_prefixes is not None:
        settings = msgspec.structs.replace(settings, test_prefixes=config.test_prefixes)
    if config.open_call_timeout is not None:
        settings = msgspec.structs.replace(settings, open_call_timeout=config.open_call_timeout)
    return settings


def check_rules(config: Config, rules: Iterable[str]) -> None:
    """UsageError, with the nearest names, for a rule that there is not, typed or in the configuration."""
    for rule in (*rules, *(one.rule for one in config.accept if one.rule is not None)):
        known("rule", rule, RULES)
