"""What one run leaves for the next: the memory of `--changed-only`, and metrics."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.cli.conftest import Run
from tests.cli.made import conversation, damage, talk


@pytest.fixture
def quiet(store: Path) -> Path:
    """A store that nobody has touched for a day."""
    age(store)
    return store


def age(store: Path) -> None:
    yesterday = time.time() - 86_400
    for file in store.iterdir():
        os.utime(file, (yesterday, yesterday))


def counts(run: Run, store: Path, *options: str, env: dict[str, str] | None = None) -> dict[str, Any]:
    done = run("verify-pairs", "--store", str(store), "--changed-only", "--json", *options, env=env)
    answer: dict[str, Any] = orjson.loads(done.stdout)["counts"]
    assert answer["conversations"] == len(list(store.glob("*.jsonl")))
    return answer


def test_only_what_was_spotless_and_is_untouched_is_passed_over(run: Run, quiet: Path) -> None:
    assert counts(run, quiet)["unchanged"] == 0
    again = counts(run, quiet)
    assert again["unchanged"] == 1
    assert (again["clean"], again["found"]) == (1, 1)
    assert again["findings"] == {"unanswered-call": 1}


def test_a_change_is_seen(run: Run, quiet: Path) -> None:
    counts(run, quiet)
    conversation(quiet, "good", *damage())
    age(quiet)
    assert counts(run, quiet)["findings"] == {"unanswered-call": 2}


def test_a_change_of_metadata_is_seen(run: Run, quiet: Path) -> None:
    counts(run, quiet)
    conversation(quiet, "good", *talk(), title="another")
    age(quiet)
    assert counts(run, quiet)["unchanged"] == 0


def test_what_was_touched_just_now_is_not_remembered(run: Run, store: Path) -> None:
    counts(run, store)
    assert counts(run, store)["unchanged"] == 0


def test_settings_that_matter_have_a_memory_of_their_own(run: Run, quiet: Path) -> None:
    counts(run, quiet)
    assert counts(run, quiet, "--scope", "full")["unchanged"] == 0
    assert counts(run, quiet, "--fail-on", "never")["unchanged"] == 1


def test_a_filtered_report_remembers_the_whole_verdict(run: Run, quiet: Path) -> None:
    assert counts(run, quiet, "--rule", "torn-tail")["found"] == 0
    assert counts(run, quiet)["findings"] == {"unanswered-call": 1}


def test_a_broken_memory_is_noted_and_not_used(run: Run, environment: dict[str, str], quiet: Path) -> None:
    counts(run, quiet)
    (state,) = Path(environment["HOME"]).rglob("changed/*.json")
    assert state.stat().st_mode & 0o777 == 0o600
    for content in (b"{", b'{"format":9,"clean":{}}', b"\xff"):
        state.write_bytes(content)
        done = run("verify-pairs", "--store", str(quiet), "--changed-only")
        assert done.returncode == 1
        assert b"memory of --changed-only is not used" in done.stderr
    assert counts(run, quiet)["unchanged"] == 1


def test_a_memory_that_cannot_be_kept_is_no_failure(run: Run, quiet: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = run(
        "verify-pairs", "--store", str(quiet), "--changed-only", "good", env={"XDG_CACHE_HOME": str(tmp_path / "file")}
    )
    assert done.returncode == 0
    assert b"cannot be" in done.stderr


def values(file: Path) -> dict[str, float]:
    """The samples of a metrics file; labels of the run itself are left out."""
    text = re.sub(r'(command|store)="[^"]*",?', "", file.read_text())
    samples = (line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    return {name.replace(",}", "}").replace("{}", ""): float(value) for name, value in samples}


def test_metrics(run: Run, store: Path, tmp_path: Path) -> None:
    file = tmp_path / "x.prom"
    begun = time.time()
    assert run("verify-pairs", "--store", str(store), "--metrics-file", str(file)).returncode == 1
    first = values(file)
    assert first['jarvis_ops_findings{rule="unanswered-call"}'] == 1
    assert first["jarvis_ops_exit_code"] == 1
    assert first["jarvis_ops_read_bytes"] == sum(log.stat().st_size for log in store.glob("*.jsonl"))
    assert begun <= first["jarvis_ops_last_success_timestamp_seconds"] <= time.time()
    assert first["jarvis_ops_run_seconds"] > 0
    assert file.stat().st_mode & 0o777 == 0o644

    store.rename(tmp_path / "moved")
    assert run("verify-pairs", "--store", str(store), "--metrics-file", str(file)).returncode == 3
    second = values(file)
    success = "jarvis_ops_last_success_timestamp_seconds"
    assert second[success] == first[success]
    assert second["jarvis_ops_last_run_timestamp_seconds"] > first["jarvis_ops_last_run_timestamp_seconds"]


def test_metrics_that_cannot_be_written(run: Run, healthy: Path) -> None:
    done = run("verify-pairs", "--store", str(healthy), "--metrics-file", "/gone/x.prom", "--json")
    assert done.returncode == 3
    assert orjson.loads(done.stdout)["exit_code"] == 3


def test_metrics_without_their_library(run: Run, environment: dict[str, str], healthy: Path, tmp_path: Path) -> None:
    (tmp_path / "prometheus_client.py").write_text("raise ImportError\n")
    path = {"PYTHONPATH": f"{tmp_path}:{environment['PYTHONPATH']}"}
    done = run("verify-pairs", "--store", str(healthy), "--metrics-file", "x.prom", env=path)
    assert done.returncode == 2
    assert b"jarvis-ops[metrics]" in done.stderr


@pytest.mark.parametrize("executor", ["serial", "process", "process:3"])
def test_however_it_is_carried_out_the_answer_is_the_same(run: Run, store: Path, executor: str) -> None:
    for number in range(30):
        conversation(store, f"c{number:02d}", *(damage() if number % 3 else talk()))
    plain = run("verify-pairs", "--store", str(store), "--output", "jsonl", "-v").stdout
    done = run("verify-pairs", "--store", str(store), "--output", "jsonl", "-v", "--executor", executor)
    assert done.stdout == plain
    assert done.stderr == b""


def shown(run: Run, store: Path, *options: str) -> list[dict[str, Any]]:
    """What a run over a store says of the store as a whole, and of conversations."""
    report = orjson.loads(run("verify-pairs", "--store", str(store), "--json", *options).stdout)
    return [outcome for outcome in report["outcomes"] if outcome["findings"]]


def test_the_store_shows_the_same_when_conversations_are_remembered(run: Run, tmp_path: Path) -> None:
    """Two projects in one folder, an index with a wrong count, and a new transcript that alone is judged again."""
    project = tmp_path / "projects" / "-home-mina-app"
    project.mkdir(parents=True)
    index: list[dict[str, object]] = []

    def transcript(session: str, cwd: str) -> None:
        common = {"sessionId": session, "cwd": cwd, "isSidechain": False, "timestamp": "2026-03-10T09:00:02.000Z"}
        records = (
            {"type": "user", "uuid": f"{session}-1", "parentUuid": None, "message": {"role": "user", "content": "hi"}},
            {
                "type": "assistant",
                "uuid": f"{session}-2",
                "parentUuid": f"{session}-1",
                "message": {"id": "m1", "role": "assistant", "content": [{"type": "text", "text": "hello"}]},
            },
        )
        log = project / f"{session}.jsonl"
        log.write_bytes(b"".join(orjson.dumps({**common, **record}) + b"\n" for record in records))
        index.append({"sessionId": session, "messageCount": 9})
        (project / "sessions-index.json").write_bytes(orjson.dumps({"version": 1, "entries": index}))
        age(project)

    transcript("a", "/home/mina/app")
    transcript("b", "/home/mina-app")
    first = shown(run, tmp_path, "--changed-only")
    assert first == shown(run, tmp_path)
    assert shown(run, tmp_path, "--changed-only") == first
    transcript("c", "/home/mina/app")
    assert shown(run, tmp_path, "--changed-only") == shown(run, tmp_path)


def test_modes_and_metadata_of_the_others_count_though_they_are_remembered(run: Run, store: Path) -> None:
    for log in store.iterdir():
        log.unlink() if log.name.startswith("bad") or log.name.endswith(".meta.json") else log.chmod(0o644)
    age(store)
    shown(run, store, "--changed-only")
    conversation(store, "private", *talk())
    age(store)
    again = shown(run, store, "--changed-only")
    assert again == shown(run, store)
    rules = {finding["rule"] for outcome in again for finding in outcome["findings"]}
    assert rules >= {"file-mode", "meta-missing"}


def test_a_change_of_mode_is_seen(run: Run, quiet: Path) -> None:
    shown(run, quiet, "--changed-only")
    (quiet / "good.jsonl").chmod(0o644)
    assert shown(run, quiet, "--changed-only") == shown(run, quiet)
