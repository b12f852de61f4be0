"""One fault at one place."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from jarvis_ops.model.record import Position

Severity = Literal["info", "warning", "error"]
Safety = Literal["safe", "lossy", "asked"]

SEVERITIES: tuple[Severity, ...] = ("info", "warning", "error")


class Finding(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Rule `rule` holds at `position`; what the rule means stands in the catalogue.

    `detail` is one sentence for a person (never message text beyond ids); `facts` are the same facts for
    a program (`call_line`, `torn_bytes`, `records`, `lines`, …). `record_id` and `call_id` name what the
    finding is about, as the store spells it. `provider_rules` are the providers' own rules that it breaks.
    """

    rule: str
    severity: Severity
    position: Position
    record_id: str | None = None
    call_id: str | None = None
    detail: str
    repair: str | None = None
    safety: Safety | None = None
    provider_rules: tuple[str, ...] = ()
    facts: dict[str, Any] = {}

    def told(self) -> Finding:
        """The finding as a report tells it: of a row only its table and its key, in facts as well."""
        if self.position.table is None:
            return self
        rows = [name.removesuffix("_table") for name in self.facts if name.endswith("_table")]
        inner = {f"{name}_{what}" for name in rows for what in ("file", "line", "offset")} | {
            "first_file",
            "first_line",
        }
        facts = {name: value for name, value in self.facts.items() if name not in inner}
        return msgspec.structs.replace(self, position=self.position.told(), facts=facts)
