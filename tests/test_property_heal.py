"""Healing on the disk: any mix of faults heals, what leaves is kept aside, a second run does nothing, undo is exact."""

from __future__ import annotations

import json
import os
import random
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jarvis_ops.model.plan import Change
from jarvis_ops.model.report import HealOutcome
from jarvis_ops.model.settings import Settings
from jarvis_ops.operations.driver import Manner
from jarvis_ops.operations.heal import heal
from jarvis_ops.operations.mending import Wish
from jarvis_ops.operations.undo import undo
from jarvis_ops.stores.jsonl.store import JsonlStore
from tests.generate import NOW
from tests.generate_claude import SESSION
from tests.plans.test_property_linear import damaged as damaged_jarvis
from tests.plans.test_tree_property import damaged as damaged_claude

SEEDS = st.integers(0, 2**32)
ON_DISK = settings(max_examples=300, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))


def healed(store: JsonlStore, number: int, plans: list[Change]) -> HealOutcome:
    """Heal the only conversation of a store."""
    inventory = store.inventory()
    outcomes = heal(
        store,
        inventory,
        inventory.conversations,
        Settings(now=NOW, assume_idle=True),
        Wish(apply=True, lossy=True, wait=0),
        run=f"20261201T000000Z-{number:04x}",
        advance=lambda _: None,
        keep_plan=plans.append,
    )
    return next(iter(outcomes))


def undone(store: JsonlStore) -> list[HealOutcome]:
    """Take the newest run back."""
    inventory = store.inventory()
    newest = store.runs(inventory)[-1]
    manner = Manner(run="20261201T000000Z-ffff", apply=True)
    return list(undo(store, inventory, [newest], manner, advance=lambda _: None))


def aside(folder: Path) -> Iterator[tuple[int, bytes]]:
    """(offset, bytes) of all that was kept aside, checked against its index."""
    for index in sorted(folder.rglob(".jarvis-ops/quarantine/*/*.jsonl")):
        raw = index.with_suffix(".raw").read_bytes()
        for line in index.read_bytes().splitlines():
            entry = json.loads(line)
            yield entry["offset"], raw[entry["raw_offset"] : entry["raw_offset"] + entry["length"]]


def state(folder: Path) -> list[tuple[str, int, int, int]]:
    paths = sorted(folder.rglob("*"))
    return [(str(one), (seen := os.stat(one)).st_ino, seen.st_mtime_ns, seen.st_size) for one in paths]


@pytest.mark.parametrize(
    ("name", "damaged"), [("talk", damaged_jarvis), (SESSION, damaged_claude)], ids=["jarvis", "claude"]
)
@ON_DISK
@given(seed=SEEDS)
def test_any_mix_of_faults(seed: int, name: str, damaged: Callable[[int], bytes]) -> None:
    before = damaged(seed)
    with tempfile.TemporaryDirectory() as place:
        folder, plans = Path(place), list[Change]()
        log = folder / f"{name}.jsonl"
        log.write_bytes(before)
        log.chmod(random.Random(seed).choice([0o600, 0o640, 0o644]))
        mode = log.stat().st_mode
        store = JsonlStore(place)
        first = healed(store, 1, plans)
        assert first.errors == []
        after = log.read_bytes()
        assert log.stat().st_mode == mode
        gone = list(aside(folder))
        assert [(one.span.start, one.span.length) for plan in plans for one in plan.asides] == [
            (offset, len(data)) for offset, data in gone
        ]
        assert all(before[offset : offset + len(data)] == data for offset, data in gone)
        settled = state(folder)
        second = healed(store, 2, [])
        assert (second.run, second.errors, log.read_bytes()) == (None, [], after)
        assert state(folder) == settled
        if first.run is not None:
            assert [one.errors for one in undone(store)] == [[]]
            assert log.read_bytes() == before
            assert log.stat().st_mode == mode
        else:
            assert after == before
