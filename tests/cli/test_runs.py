"""What is remembered of our own runs, and what an interrupted one leaves."""

from __future__ import annotations

import re
from pathlib import Path

from jarvis_ops.operations.runs import run_id
from tests.cli.conftest import Run
from tests.cli.made import conversation, damage
from tests.cli.test_heal import report_of


def test_the_name_of_a_run() -> None:
    assert re.fullmatch(r"20261130T221500Z-[0-9a-f]{4}", run_id(1_796_076_900_999))
    assert len({run_id(0) for _ in range(50)}) > 10


def test_runs_are_listed_with_what_they_did(run: Run, store: Path) -> None:
    assert report_of(run, "runs", store)["outcomes"] == []
    first = report_of(run, "heal", store, "broken", "--apply")["outcomes"][0]["run"]
    conversation(store, "later", *damage())
    second = report_of(run, "heal", store, "--all", "--apply")["outcomes"][0]["run"]
    report_of(run, "undo", store, first, "--apply")
    report = report_of(run, "runs", store)
    rows = {row["run"]: row for row in report["outcomes"]}
    assert report["exit_code"] == 0
    assert (rows[first]["command"], rows[first]["conversation"], rows[first]["state"]) == ("heal", "broken", "undone")
    assert (rows[second]["conversation"], rows[second]["state"]) == ("later", "done")
    assert [step["rule"] for step in rows[second]["steps"]] == ["unanswered-call"]
    assert rows[second]["backups"]
    assert any(row["undoes"] == first for row in report["outcomes"])


def test_rows_for_other_programs(run: Run, store: Path) -> None:
    name = report_of(run, "heal", store, "broken", "--apply")["outcomes"][0]["run"]
    done = run("runs", "--store", str(store))
    assert done.returncode == 0
    (row,) = done.stdout.decode().splitlines()
    assert row.split("\t")[:5] == [name, "heal", "broken", "done", "1 insert (unanswered-call)"]
    assert b"To take one back: jarvis-ops undo RUN --store" in done.stderr


def test_nothing_was_interrupted(run: Run, store: Path) -> None:
    report_of(run, "heal", store, "broken", "--apply")
    report = report_of(run, "recover", store, "--all", "--apply")
    assert (report["exit_code"], report["status"]) == (0, "clean")
    assert b"nothing was interrupted." in run("recover", "--store", str(store), "--all").stdout
