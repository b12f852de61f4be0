"""Repairing and taking it back, as a person types it."""

from __future__ import annotations

import fcntl
import json
from pathlib import Path
from typing import Any

import jsonschema
import orjson
import pytest

from jarvis_ops.render import envelope
from tests.cli.conftest import Run
from tests.cli.made import conversation, damage, message

SCHEMA = json.loads(envelope.schema())


def report_of(run: Run, command: str, store: Path, *options: str) -> dict[str, Any]:
    """The document of a command; it keeps to the schema, and its exit code is that of the process."""
    done = run(command, "--store", str(store), "--json", *options)
    assert b"Traceback" not in done.stderr
    report: dict[str, Any] = orjson.loads(done.stdout)
    name = {"undo": "Heal"}.get(command, command.capitalize())
    jsonschema.validate(report, {"$ref": f"#/$defs/{name}Report", "$defs": SCHEMA["$defs"]})
    assert report["exit_code"] == done.returncode
    return report


def name_in(report: dict[str, Any]) -> str:
    """The name of the run that a report is about."""
    (name,) = {one["run"] for one in report["outcomes"]} - {None}
    return str(name)


def lossy(folder: Path) -> Path:
    """A result that no call asked for, between two turns."""
    stray = message(3, "tool", tool_call_id="call_9", name="search", is_error=False)
    return conversation(
        folder, "stray", message(1), message(2, "assistant"), stray, message(4), message(5, "assistant")
    )


def test_a_plan_and_what_it_becomes(run: Run, store: Path) -> None:
    first = (store / "broken.jsonl").read_bytes()
    plan = report_of(run, "heal", store, "--all")
    assert (plan["status"], plan["exit_code"], plan["counts"]["planned"]) == ("planned", 1, 1)
    (outcome,) = plan["outcomes"]
    assert (outcome["run"], outcome["writer_check"]) == (None, None)
    assert [step["step"] for step in outcome["steps"]] == ["insert"]
    assert (store / "broken.jsonl").read_bytes() == first
    done = report_of(run, "heal", store, "--all", "--apply")
    assert (done["status"], done["exit_code"], done["counts"]["applied"]) == ("applied", 0, 1)
    (outcome,) = done["outcomes"]
    assert outcome["steps"] == plan["outcomes"][0]["steps"]
    assert outcome["writer_check"] in {"lease", "open-files", "quiet"}
    assert (done["counts"]["lines_kept"], done["counts"]["lines_added"]) == (4, 1)
    assert set(first.splitlines()) < set((store / "broken.jsonl").read_bytes().splitlines())
    assert run("verify-pairs", "--store", str(store)).returncode == 0
    healed = (store / "broken.jsonl").read_bytes()
    again = report_of(run, "heal", store, "--all", "--apply")
    assert (again["exit_code"], again["counts"]["applied"]) == (0, 0)
    assert (store / "broken.jsonl").read_bytes() == healed


def test_what_is_said_after_a_repair(run: Run, store: Path) -> None:
    done = run("heal", "--store", str(store), "broken", "--apply")
    lines = done.stdout.decode().splitlines()
    assert done.returncode == 0
    assert lines[0].startswith("broken.jsonl:2: safe insert unanswered-call ")
    assert lines[-1] == "An agent that has it in memory must reopen it."
    assert lines[-2].startswith("  jarvis-ops undo ")
    undone = run(*lines[-2].split()[1:])
    assert undone.returncode == 0, undone.stderr


def test_lossy_repairs_wait_for_their_option(run: Run, healthy: Path) -> None:
    log = lossy(healthy)
    first = log.read_bytes()
    held = report_of(run, "heal", healthy, "--all", "--apply")
    assert held["exit_code"] == 1
    assert held["counts"]["held"] == {"lossy": 1}
    assert held["outcomes"][0]["steps"][0]["held"] == "lossy"
    assert log.read_bytes() == first
    done = report_of(run, "heal", healthy, "--all", "--apply", "--lossy")
    assert (done["exit_code"], done["counts"]["lines_quarantined"]) == (0, 1)
    assert len(log.read_bytes().splitlines()) == 4


def test_a_conversation_in_use_is_left_alone(run: Run, store: Path) -> None:
    lock = store / "broken.lock"
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        report = report_of(run, "heal", store, "--all", "--apply", "--wait", "0s")
    assert (report["exit_code"], report["status"]) == (4, "skipped")
    assert report["errors"][0]["code"] == "busy"
    assert report["errors"][0]["conversation"] == "broken"


def test_stopped_in_time(run: Run, healthy: Path) -> None:
    for number in range(5):
        conversation(healthy, f"c{number}", *damage())
    report = report_of(run, "heal", healthy, "--all", "--apply", "--stop-after", "0.001s")
    assert (report["counts"]["conversations"], report["counts"]["skipped"]) == (1, 5)
    assert report["exit_code"] in {1, 4}


def test_a_reviewed_plan(run: Run, store: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    done = run("heal", "--store", str(store), "--all", "--plan-out", str(plan))
    assert done.returncode == 1
    assert done.stdout.decode().splitlines()[-1] == f"  jarvis-ops heal --plan {plan} --apply --store {store}"
    assert plan.stat().st_mode & 0o777 == 0o600
    report = report_of(run, "heal", store, "--plan", str(plan), "--apply")
    assert (report["exit_code"], report["status"]) == (0, "applied")
    assert run("verify-pairs", "--store", str(store)).returncode == 0
    stale = report_of(run, "heal", store, "--plan", str(plan), "--apply")
    assert stale["exit_code"] == 3
    assert stale["errors"][0]["code"] == "stale"


def test_a_plan_of_what_has_grown_is_refused(run: Run, store: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    run("heal", "--store", str(store), "--all", "--plan-out", str(plan))
    with (store / "broken.jsonl").open("ab") as log:
        log.write(orjson.dumps(message(9)) + b"\n" + orjson.dumps(message(10, "assistant")) + b"\n")
    grown = (store / "broken.jsonl").read_bytes()
    report = report_of(run, "heal", store, "--plan", str(plan), "--apply")
    assert (report["exit_code"], report["errors"][0]["code"]) == (3, "stale")
    assert (store / "broken.jsonl").read_bytes() == grown


def test_a_reviewed_plan_for_some(run: Run, store: Path, tmp_path: Path) -> None:
    conversation(store, "again", *damage())
    plan = tmp_path / "plan.json"
    run("heal", "--store", str(store), "--all", "--plan-out", str(plan))
    report = report_of(run, "heal", store, "again", "--plan", str(plan), "--apply")
    assert [one["conversation"] for one in report["outcomes"]] == ["again"]
    none = report_of(run, "heal", store, "good", "--plan", str(plan), "--apply")
    assert none["exit_code"] == 2
    assert "has no plan for what was chosen" in none["errors"][0]["message"]


def test_a_real_result_from_another_store(run: Run, store: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir(mode=0o700)
    records = damage()
    real = message(7, "tool", tool_call_id="call_1", name="search", is_error=False, content="what it found")
    conversation(other, "broken", *records[:2], real, *records[2:])
    report = report_of(run, "heal", store, "broken", "--apply", "--from", str(other))
    assert report["exit_code"] == 0
    lines = (store / "broken.jsonl").read_bytes().splitlines()
    assert orjson.loads(lines[2])["content"] == "what it found"


def test_metrics(run: Run, store: Path, tmp_path: Path) -> None:
    pytest.importorskip("prometheus_client")
    file = tmp_path / "heal.prom"
    run("heal", "--store", str(store), "--all", "--apply", "--metrics-file", str(file))
    text = file.read_text()
    assert 'jarvis_ops_conversations{command="heal",status="applied"' in text
    assert 'jarvis_ops_exit_code{command="heal"' in text
