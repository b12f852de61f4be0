"""Small transcripts for the tests of the tree planner, and what they look like after healing."""

from __future__ import annotations

import json
from typing import Any

from tests.plans.tree_patient import Patient
from tests.scenarios.made import SESSION, Transcript

Json = dict[str, Any]


def healed(t: Transcript, *asked: str, elsewhere: dict[str, bytes] | None = None) -> Patient:
    """A transcript after it was healed; healing it again changes nothing."""
    patient = Patient(b"".join(t.lines), *asked, session=SESSION, elsewhere=elsewhere).heal()
    again = Patient(patient.content, *asked, session=SESSION, elsewhere=elsewhere)
    assert not again.round(), [one.finding.rule for one in again.done]
    return patient


def sound(t: Transcript, *asked: str, elsewhere: dict[str, bytes] | None = None) -> Patient:
    """A transcript that was healed of all errors, and lost nothing that was not set aside."""
    patient = healed(t, *asked, elsewhere=elsewhere)
    assert patient.errors == [], (patient.look.findings, patient.refused)
    assert patient.look.reachable >= patient.first.reachable - sum(one.removes for one in patient.done)
    return patient


def records(patient: Patient) -> list[Json]:
    return [json.loads(line) for line in patient.lines]


def ways(patient: Patient) -> list[str]:
    """How records hang together: `3<2` for each, by the lines of the original; new ones are `+1`, `+2`, roots `0`."""
    names: dict[str | None, str] = {None: "0"}
    old = [json.loads(line) for line in patient.original.splitlines() if line.startswith(b"{") and line.endswith(b"}")]
    for number, value in enumerate(old, start=1):
        names.setdefault(value.get("uuid"), str(number))
    new = 0
    for value in records(patient):
        if "uuid" in value and value["uuid"] not in names:
            new += 1
            names[value["uuid"]] = f"+{new}"
    return [f"{names[one['uuid']]}<{names.get(one['parentUuid'], '?')}" for one in records(patient) if "uuid" in one]


def changed(patient: Patient) -> list[str]:
    """The links that are not as they were."""
    before = set(ways(Patient(patient.original, session=SESSION)))
    return [way for way in ways(patient) if way not in before]


def rules(patient: Patient) -> list[str]:
    return [one.finding.rule for one in patient.done]


def use(call: Any, **arguments: Any) -> Json:
    return {"type": "tool_use", "id": call, "name": "Bash", "input": arguments or {"command": "ls"}}


def answer_to(call: Any, content: str = "done") -> Json:
    return {"type": "tool_result", "tool_use_id": call, "content": content, "is_error": False}


def signed() -> Json:
    return {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
