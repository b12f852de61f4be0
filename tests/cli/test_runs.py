"""What is remembered of our own runs, and what an interrupted one leaves."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from jarvis_ops.operations.runs import run_id
from tests.cli.conftest import COMMAND, Run
from tests.cli.made import conversation, damage
from tests.cli.test_heal import name_in, report_of
from tests.cli.test_heal_usage import contents


def test_the_name_of_a_run() -> None:
    assert re.fullmatch(r"20261130T221500Z-[0-9a-f]{4}", run_id(1_796_076_900_999))
    assert len({run_id(0) for _ in range(50)}) > 10


def test_runs_are_listed_with_what_they_did(run: Run, store: Path) -> None:
    assert report_of(run, "runs", store)["outcomes"] == []
    first = name_in(report_of(run, "heal", store, "broken", "--apply"))
    conversation(store, "later", *damage())
    second = name_in(report_of(run, "heal", store, "--all", "--apply"))
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
    name = name_in(report_of(run, "heal", store, "broken", "--apply"))
    done = run("runs", "--store", str(store))
    assert done.returncode == 0
    (row,) = done.stdout.decode().splitlines()
    assert row.split("\t")[:5] == [name, "heal", "broken", "done", "1 insert (unanswered-call)"]
    assert b"To take one back: jarvis-ops undo RUN --store" in done.stderr


DYING = """
import os
from jarvis_ops.stores.jsonl import rewrite

def die(*arguments):
    os._exit(9)

rewrite.swap_all = die
from jarvis_ops.cli.run import main
main()
"""


@pytest.fixture
def interrupted(environment: dict[str, str], store: Path) -> Path:
    """A store in which a run died before it put the new file in place of the old one."""
    done = subprocess.run(
        [sys.executable, "-c", DYING, "heal", "--store", str(store), "broken", "--apply"],
        env=environment,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 9, done.stderr
    return store


def test_an_interrupted_run_is_dealt_with(run: Run, interrupted: Path) -> None:
    (row,) = report_of(run, "runs", interrupted)["outcomes"]
    assert (row["conversation"], row["state"]) == ("broken", "unfinished")
    before = contents(interrupted)
    plan = report_of(run, "recover", interrupted, "--all")
    assert (plan["exit_code"], plan["status"]) == (1, "planned")
    assert [(one["conversation"], one["unfinished"]) for one in plan["outcomes"]] == [("broken", [row["run"]])]
    shown = run("recover", "--store", str(interrupted), "broken").stdout.decode().splitlines()
    assert shown[0] == f"broken: run {row['run']} was interrupted here"
    assert shown[-1] == f"  jarvis-ops recover broken --store {interrupted} --apply"
    assert contents(interrupted) == before
    done = report_of(run, "recover", interrupted, "--all", "--apply")
    assert (done["exit_code"], done["status"]) == (0, "applied")
    assert [one["run"] for one in done["outcomes"][0]["recovered"]] == [row["run"]]
    assert report_of(run, "recover", interrupted, "--all", "--apply")["outcomes"] == []


def test_an_interrupted_run_is_recovered_before_it_is_taken_back(run: Run, interrupted: Path) -> None:
    first = (interrupted / "broken.jsonl").read_bytes()
    (row,) = report_of(run, "runs", interrupted)["outcomes"]
    plan = report_of(run, "undo", interrupted, row["run"])
    assert plan["exit_code"] == 3
    assert "recover" in plan["errors"][0]["message"]
    assert report_of(run, "undo", interrupted, row["run"], "--apply")["exit_code"] == 0
    assert (interrupted / "broken.jsonl").read_bytes() == first


def test_the_next_repair_recovers_first(run: Run, interrupted: Path) -> None:
    report = report_of(run, "heal", interrupted, "broken", "--apply")
    assert report["exit_code"] == 0
    assert report["outcomes"][0]["recovered"]
    assert report["outcomes"][0]["status"] == "applied"


def test_a_request_to_end_lets_the_conversation_at_hand_be_finished(
    environment: dict[str, str], run: Run, healthy: Path
) -> None:
    for number in range(30):
        conversation(healthy, f"c{number:02d}", *damage())
    arguments = [*COMMAND, "heal", "--store", str(healthy), "--all", "--apply", "--output", "jsonl"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        lines = process.stdout.read().splitlines()
        assert process.wait(60) == 143
    counts = orjson.loads(lines[-1])["counts"]
    assert counts["applied"] + counts["clean"] + counts["skipped"] == 31
    assert b"nothing was interrupted." in run("recover", "--store", str(healthy), "--all").stdout


def test_nothing_was_interrupted(run: Run, store: Path) -> None:
    report_of(run, "heal", store, "broken", "--apply")
    report = report_of(run, "recover", store, "--all", "--apply")
    assert (report["exit_code"], report["status"]) == (0, "clean")
    assert b"nothing was interrupted." in run("recover", "--store", str(store), "--all").stdout
