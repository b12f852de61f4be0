"""Freeing what our own folders hold."""

from __future__ import annotations

import time
from pathlib import Path

from tests.cli.conftest import Run
from tests.cli.test_heal import lossy, report_of


def held(store: Path) -> set[str]:
    return {str(path.relative_to(store)) for path in (store / ".jarvis-ops").rglob("*") if path.is_file()}


def heal(run: Run, store: Path) -> None:
    lossy(store)
    assert report_of(run, "heal", store, "--all", "--apply", "--lossy")["exit_code"] == 0
    # The age of a run is told by its name, to the second.
    time.sleep(1.1)


def test_what_is_young_is_kept(run: Run, healthy: Path) -> None:
    heal(run, healthy)
    before = held(healthy)
    report = report_of(run, "gc", healthy, "--apply")
    assert (report["exit_code"], report["outcomes"]) == (0, [])
    assert held(healthy) == before
    assert b"to free in" in run("gc", "--store", str(healthy)).stdout


def test_a_plan_and_what_it_becomes(run: Run, healthy: Path) -> None:
    heal(run, healthy)
    before = held(healthy)
    plan = report_of(run, "gc", healthy, "--older-than", "1s")
    assert (plan["exit_code"], plan["status"]) == (1, "planned")
    (outcome,) = plan["outcomes"]
    assert {file["kind"] for file in outcome["files"]} == {"backups", "quarantine"}
    assert outcome["bytes"] == sum(file["bytes"] for file in outcome["files"])
    assert held(healthy) == before
    shown = run("gc", "--store", str(healthy), "--older-than", "1s").stdout.decode().splitlines()
    assert shown[-1] == f"  jarvis-ops gc --store {healthy} --older-than 1s --apply"
    done = report_of(run, "gc", healthy, "--older-than", "1s", "--apply")
    assert (done["exit_code"], done["status"]) == (0, "applied")
    assert not [name for name in held(healthy) if "backups" in name or "quarantine" in name]
    assert report_of(run, "gc", healthy, "--older-than", "1s")["exit_code"] == 0


def test_only_what_is_named(run: Run, healthy: Path) -> None:
    heal(run, healthy)
    report = report_of(run, "gc", healthy, "--quarantine", "--older-than", "1s", "--apply")
    assert {file["kind"] for file in report["outcomes"][0]["files"]} == {"quarantine"}
    assert any("backups" in name for name in held(healthy))
