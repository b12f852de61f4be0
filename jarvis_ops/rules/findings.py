"""Findings made from the catalogue's rows."""

from __future__ import annotations

from typing import Any

from jarvis_ops.model.finding import Finding, Severity
from jarvis_ops.model.record import Position
from jarvis_ops.rules.catalog import RULES


def found(
    rule: str,
    at: Position,
    detail: str,
    *,
    severity: Severity | None = None,
    record_id: str | None = None,
    call_id: str | None = None,
    facts: dict[str, Any] | None = None,
) -> Finding:
    """A finding of `rule` at a place, with the catalogue's repair beside it; `severity` where the place changes it."""
    row = RULES[rule]
    return Finding(
        rule=rule,
        severity=severity or row.severity,
        position=at,
        record_id=record_id,
        call_id=call_id,
        detail=detail,
        repair=row.repair or None,
        safety=row.safety or None,
        provider_rules=row.provider_rules,
        facts=facts or {},
    )
