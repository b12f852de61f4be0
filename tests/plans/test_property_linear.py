"""Any mix of faults in a JARVIS conversation heals to no error, and nothing gets lost on the way."""

from __future__ import annotations

import contextlib
import json
import random
import re
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jarvis_ops.model.finding import Finding
from jarvis_ops.model.pieces import Span
from jarvis_ops.rules.catalog import RULES
from tests.faults_jarvis import ANYWHERE, LAST
from tests.generate import JarvisWriter
from tests.plans.healing import LOG, Patient, errors

# What nobody mends by itself: two records with one id, a wrong shape, a compaction that names nobody.
LEFT = {"duplicate-id", "bad-shape", "compaction-dangling"}
THOROUGH = settings(max_examples=700, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))


def damaged(seed: int) -> bytes:
    """A conversation with one to four faults."""
    rng = random.Random(seed)
    writer = JarvisWriter(rng, marks=rng.random() < 0.5).turns(1)
    for _ in range(rng.randint(1, 4)):
        writer.turns(rng.randrange(3))
        with contextlib.suppress(ValueError, IndexError):  # some faults want whole lines to work on
            rng.choice(ANYWHERE)(writer)
    writer.turns(rng.randrange(3))
    if rng.random() < 0.3:
        rng.choice(LAST)(writer)
    return b"".join(line.raw for line in writer.lines)


def left_by_row(findings: list[Finding]) -> list[str]:
    return [rule for rule in errors(findings) if RULES[rule].repair and rule not in LEFT]


@THOROUGH
@given(seed=st.integers(0, 2**32))
def test_any_mix_of_faults_heals_and_loses_nothing(seed: int) -> None:
    content = damaged(seed)
    patient = Patient({LOG: content})
    left = patient.heal()
    assert left_by_row(left) == [], (left, patient.refused)
    after = patient.contents()[LOG]
    again = Patient({LOG: after})
    again.heal()
    assert again.contents()[LOG] == after
    assert again.done == []
    check_lines(content, patient)
    check_bytes(content, after, patient)
    check_results(content, after)


def check_lines(before: bytes, patient: Patient) -> None:
    """A line that no repair names is there as it was; what was not moved keeps its order."""
    spans = [piece for table in patient.tables.values() for piece in table.pieces if isinstance(piece, Span)]
    starts = [span.start for span in spans]
    assert len(starts) - longest_rise(starts) <= sum(repair.moves for repair in patient.done)
    place = changed = 0
    for line in re.findall(rb"[^\n]*\n|[^\n]+", before):
        changed += not any(span.start <= place and place + len(line) <= span.end for span in spans)
        place += len(line)
    named = sum(edit.end > edit.start for repair in patient.done for edit in repair.edits)
    joined = sum(
        repair.finding.facts.get("count", 1) - 1 for repair in patient.done if repair.finding.rule == "split-line"
    )
    assert changed <= named + joined


def longest_rise(numbers: list[int]) -> int:
    """The length of the longest rising subsequence."""
    best = [1] * len(numbers)
    for place, number in enumerate(numbers):
        best[place] = 1 + max((best[k] for k in range(place) if numbers[k] < number), default=0)
    return max(best, default=0)


def check_bytes(before: bytes, after: bytes, patient: Patient) -> None:
    """Every byte of the original is either there once, or named as removed."""
    kept = sum(
        piece.length for table in patient.tables.values() for piece in table.pieces if not isinstance(piece, bytes)
    )
    gone = b"".join(patient.removed())
    assert kept + len(gone) == len(before)
    put_in = sum(len(piece) for table in patient.tables.values() for piece in table.pieces if isinstance(piece, bytes))
    assert len(after) == kept + put_in


def check_results(before: bytes, after: bytes) -> None:
    """A call that had a result somewhere still has a real one."""
    had = {call_id for call_id, made in results(before) if not made}
    calls = call_ids(after)
    now: dict[str, list[bool]] = {}
    for call_id, made in results(after):
        now.setdefault(call_id, []).append(made)
    for call_id in had & calls:
        assert now.get(call_id), call_id
        assert not any(now[call_id]), call_id


def records(content: bytes) -> list[dict[str, Any]]:
    found = []
    for line in content.replace(b"\0", b"").split(b"\n"):
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def results(log: bytes) -> list[tuple[str, bool]]:
    """(call id, whether we made it) of all results."""
    found = []
    for record in records(log):
        made = "jarvis_ops" in record
        content = record.get("content")
        blocks = content if isinstance(content, list) else []
        found += [(block["tool_use_id"], made) for block in blocks if block.get("type") == "tool_result"]
        if record.get("tool_call_id"):
            found.append((record["tool_call_id"], made))
    return [one for one in found if one[0] not in {None, "", "unknown"}]


def call_ids(content: bytes) -> set[str]:
    return {
        call["id"] for record in records(content) for call in record.get("tool_calls") or () if isinstance(call, dict)
    }
