"""Taking a run back."""

from __future__ import annotations

from pathlib import Path

import orjson

from tests.cli.conftest import Run
from tests.cli.made import conversation, damage, message
from tests.cli.test_heal import name_in, report_of


def mend(run: Run, store: Path) -> str:
    """The name of the run that has mended the store."""
    report = report_of(run, "heal", store, "--all", "--apply")
    assert report["exit_code"] == 0
    return name_in(report)


def test_a_run_is_taken_back_when_told_so(run: Run, store: Path) -> None:
    log = store / "broken.jsonl"
    first = log.read_bytes()
    name = mend(run, store)
    healed = log.read_bytes()
    plan = report_of(run, "undo", store, name)
    assert (plan["exit_code"], plan["status"]) == (1, "planned")
    assert plan["outcomes"][0]["undoes"] == name
    assert log.read_bytes() == healed
    done = report_of(run, "undo", store, name, "--apply")
    assert (done["exit_code"], done["status"]) == (0, "applied")
    assert done["outcomes"][0]["run"] != name
    assert log.read_bytes() == first
    again = report_of(run, "undo", store, name, "--apply", "-v")
    assert (again["exit_code"], again["status"]) == (0, "clean")
    assert log.read_bytes() == first


def test_one_conversation_of_a_run(run: Run, store: Path) -> None:
    other = conversation(store, "other", *damage())
    first = {log: log.read_bytes() for log in (store / "broken.jsonl", other)}
    name = mend(run, store)
    report = report_of(run, "undo", store, name, "other", "--apply")
    assert [one["conversation"] for one in report["outcomes"]] == ["other"]
    assert other.read_bytes() == first[other]
    assert (store / "broken.jsonl").read_bytes() != first[store / "broken.jsonl"]
    report_of(run, "undo", store, name, "--apply")
    assert all(log.read_bytes() == content for log, content in first.items())


def test_what_was_added_since_stays(run: Run, store: Path) -> None:
    log = store / "broken.jsonl"
    first = log.read_bytes()
    name = mend(run, store)
    added = orjson.dumps(message(9)) + b"\n" + orjson.dumps(message(10, "assistant")) + b"\n"
    with log.open("ab") as stream:
        stream.write(added)
    assert report_of(run, "undo", store, name, "--apply")["exit_code"] == 0
    assert log.read_bytes() == first + added


def test_a_run_that_is_not_known(run: Run, store: Path) -> None:
    name = mend(run, store)
    wrong = f"{name[:-1]}{'0' if name[-1] != '0' else '1'}"
    done = run("undo", wrong, "--store", str(store))
    assert done.returncode == 2
    assert name in done.stderr.decode()
    other = run("undo", name, "good", "--store", str(store))
    assert other.returncode == 2
    assert "did not change 'good'" in other.stderr.decode()


def test_a_conversation_that_is_gone(run: Run, store: Path) -> None:
    name = mend(run, store)
    for file in ("broken.jsonl", "broken.meta.json"):
        (store / file).unlink()
    report = report_of(run, "undo", store, name, "--apply")
    assert report["exit_code"] in {2, 3}
    assert report["errors"]
