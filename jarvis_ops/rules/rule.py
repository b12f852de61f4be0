"""One row of the problem table."""

from __future__ import annotations

from typing import Literal

import msgspec

from jarvis_ops.model.finding import Safety, Severity


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """What a finding of this name means, and what would be done about it.

    `severity` is the one a finding has unless the place it stands at says otherwise. `what` says what the fault is
    and what comes of it; `repair` is one sentence, "" where nothing is done by itself. `safety` says what the repair
    may cost: "safe" takes nothing out, "lossy" takes something readable out of the replay (it is kept aside), "asked"
    is done only when the rule is named; "" goes with no repair. `provider_rules` are the ids of what the providers
    refuse for this fault (`ANT-1`, `OAI-1`, …). `playbook` names a page with more, "" where there is none.
    """

    name: str
    severity: Severity
    group: str
    what: str
    repair: str = ""
    safety: Safety | Literal[""] = ""
    playbook: str = ""
    provider_rules: tuple[str, ...] = ()
