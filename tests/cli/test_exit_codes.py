"""What a run answers, and what it prints where."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from tests.cli.conftest import COMMAND, Run
from tests.cli.made import conversation, damage, message, talk


def test_nothing_wrong(run: Run, healthy: Path) -> None:
    done = run("verify-pairs", "--store", str(healthy))
    assert done.returncode == 0
    assert done.stderr == b""
    assert b"1 conversation, 2 records" in done.stdout
    assert b"nothing wrong" in done.stdout
    assert b"good" not in done.stdout


def test_quiet_says_nothing_when_all_is_well(run: Run, healthy: Path) -> None:
    done = run("verify-pairs", "--store", str(healthy), "-q")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_quiet_tells_of_errors(run: Run, store: Path) -> None:
    done = run("verify-pairs", "--store", str(store), "-q")
    assert done.returncode == 1
    assert b"broken.jsonl:2: error unanswered-call" in done.stdout


def test_errors_found(run: Run, store: Path) -> None:
    done = run("verify-pairs", "--store", str(store))
    assert done.returncode == 1
    lines = done.stdout.decode().splitlines()
    assert lines[0].startswith("broken.jsonl:2: error unanswered-call ")
    assert f"in {store} (flag --store): 1 error in 1 conversation." in lines[1]
    assert lines[-1] == "  jarvis-ops verify-pairs --explain unanswered-call"


def test_clean_conversations_are_listed_when_asked(run: Run, store: Path) -> None:
    assert b"good: clean\n" in run("verify-pairs", "--store", str(store), "-v").stdout


@pytest.mark.parametrize(("least", "code"), [("error", 0), ("warning", 1), ("never", 0)])
def test_warnings_count_when_asked(run: Run, healthy: Path, least: str, code: int) -> None:
    log = conversation(healthy, "cut", *talk())
    log.write_bytes(log.read_bytes().rstrip(b"\n"))
    done = run("verify-pairs", "--store", str(healthy), "--fail-on", least)
    assert done.returncode == code
    assert b"warning no-final-newline" in done.stdout


def test_errors_fail_no_run_when_told_so(run: Run, store: Path) -> None:
    done = run("verify-pairs", "--store", str(store), "--fail-on", "never")
    assert done.returncode == 0
    assert b"unanswered-call" in done.stdout


def test_missing_store(run: Run, tmp_path: Path) -> None:
    done = run("verify-pairs", "--store", str(tmp_path / "gone"), "--json")
    assert done.returncode == 3
    report = orjson.loads(done.stdout)
    assert report["exit_code"] == 3
    assert report["status"] == "failed"
    assert report["errors"][0]["code"] == "store"
    assert report["store_from"] == "flag --store"
    assert done.stderr.count(b"\n") == 1


def test_empty_folder(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = run("verify-pairs", "--store", str(tmp_path / "empty"))
    assert done.returncode == 0
    assert b"There is no conversation to look at in" in done.stdout


def test_unknown_id_names_the_nearest(run: Run, store: Path) -> None:
    done = run("verify-pairs", "--store", str(store), "brokn", "--json")
    assert done.returncode == 2
    error = orjson.loads(done.stdout)["errors"][0]
    assert error["code"] == "unknown-conversation"
    assert "broken" in error["message"]


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "..", ""])
def test_an_id_is_never_a_path(run: Run, store: Path, name: str) -> None:
    done = run("verify-pairs", "--store", str(store), name)
    assert done.returncode == 2
    assert done.stdout == b""
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    "options",
    [
        ("--json", "--output", "jsonl"),
        ("-v", "-q"),
        ("--all", "good"),
        ("--all", "--only", "g*"),
        ("--turn-timeout", "5M"),
        ("--turn-timeout", "300"),
        ("--turn-timeout", "-5m"),
        ("--idle-for", "0s"),
        ("--since", "yesterday"),
        ("--stop-after", "0h"),
        ("--executor", "threads"),
        ("--executor", "process:0"),
        ("--executor", "process:x"),
        ("--limit", "0"),
        ("--scope", "all"),
        ("--kind", "robot"),
        ("--dialect", "clade_code"),
        ("--rule", "torn-tial"),
        ("--explain", "torn-tial"),
        ("--metrics-file", "metrics.txt"),
        ("--ids-from", "gone.txt"),
        ("--call-id", "call_404"),
        ("--frobnicate",),
    ],
)
def test_what_cannot_be_carried_out_as_typed(run: Run, store: Path, options: tuple[str, ...]) -> None:
    done = run("verify-pairs", "--store", str(store), *options)
    assert done.returncode == 2
    assert done.stderr
    assert b"Traceback" not in done.stderr
    assert b"unanswered-call" not in done.stdout


def test_a_rule_is_explained_without_a_store(run: Run) -> None:
    done = run("verify-pairs", "--explain", "torn-tail")
    assert done.returncode == 0
    assert done.stdout.startswith(b"torn-tail (error")


def test_only_named_rules_are_reported(run: Run, store: Path) -> None:
    done = run("verify-pairs", "--store", str(store), "--rule", "torn-tail", "--json")
    report = orjson.loads(done.stdout)
    assert done.returncode == 0
    assert report["counts"]["findings"] == {}
    assert report["counts"]["clean"] == 2
    assert run("verify-pairs", "--store", str(store), "--rule", "unanswered-call").returncode == 1


def test_version(run: Run) -> None:
    done = run("--version")
    assert done.returncode == 0
    assert done.stdout.startswith(b"jarvis-ops ")


def test_without_a_command_the_help_is_shown(run: Run) -> None:
    done = run()
    assert done.returncode == 2
    assert b"verify-pairs" in done.stdout + done.stderr


def many(folder: Path, number: int = 400) -> None:
    """More conversations than fit into a pipe as lines."""
    for one in range(number):
        conversation(folder, f"c{one:04d}", *damage(), title="x" * 200)


def start(environment: dict[str, str], store: Path, *options: str) -> subprocess.Popen[bytes]:
    arguments = [*COMMAND, "verify-pairs", "--store", str(store), "--output", "jsonl", *options]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)


def test_closed_pipe(environment: dict[str, str], healthy: Path) -> None:
    many(healthy)
    with start(environment, healthy) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 141


def test_pipe_closed_before_the_help(environment: dict[str, str]) -> None:
    command = f"{sys.executable} -m jarvis_ops --help | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], env=environment, capture_output=True, check=True)
    assert done.stdout.strip() in {b"141", b"0"}
    assert done.stderr == b""


@pytest.mark.parametrize("executor", ["serial", "process:2"])
def test_interrupt_finishes_the_conversation_and_reports(
    environment: dict[str, str], healthy: Path, executor: str
) -> None:
    many(healthy)
    with start(environment, healthy, "--executor", executor) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        # The pipe is soon full, so the process waits for us, in the middle of its work.
        os.kill(process.pid, signal.SIGINT)
        rest = process.stdout.read()
        assert process.wait(60) == 130
    lines = [orjson.loads(line) for line in (first + rest).splitlines()]
    summary = lines[-1]
    assert summary["type"] == "summary"
    assert summary["exit_code"] == 130
    assert summary["counts"]["skipped"] > 0
    assert summary["counts"]["conversations"] + summary["counts"]["skipped"] == 401
    assert summary["counts"]["found"] == len(lines) - 1


def test_terminated(environment: dict[str, str], healthy: Path) -> None:
    many(healthy)
    with start(environment, healthy) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        rest = process.stdout.read()
        assert process.wait(60) == 143
    summary = orjson.loads(rest.splitlines()[-1])
    assert summary["type"] == "summary"
    assert summary["exit_code"] == 143


def test_a_full_disk_under_the_output(environment: dict[str, str], store: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*COMMAND, "verify-pairs", "--store", str(store)],
            env=environment,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 3
    assert done.stderr.count(b"\n") == 1


def test_stopped_in_time(run: Run, healthy: Path) -> None:
    many(healthy, 20)
    done = run("verify-pairs", "--store", str(healthy), "--stop-after", "0.001s", "--json", "--fail-on", "never")
    counts = orjson.loads(done.stdout)["counts"]
    assert done.returncode == 4
    assert counts["conversations"] == 1
    assert counts["skipped"] == 20


BREAKING = """
import jarvis_ops.operations.verify as verify

def broken(*arguments, **words):
    secret = "the local value"
    raise ValueError("the text of a message " + secret)
    yield

verify.verify = broken
from jarvis_ops.cli.run import main
main()
"""


def test_an_unexpected_fault_keeps_messages_out(environment: dict[str, str], store: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", BREAKING, "verify-pairs", "--store", str(store), "--json"],
        env=environment,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 3
    assert done.stderr.count(b"\n") == 1
    problem = orjson.loads(done.stdout)["errors"][0]
    assert problem["code"] == "unexpected"
    (kept,) = Path(environment["HOME"]).rglob("fault-*.txt")
    assert str(kept) in problem["message"]
    text = kept.read_text()
    assert "ValueError" in text
    assert "in broken" in text
    assert "the text of a message" not in text
    assert "the local value" not in text
    assert kept.stat().st_mode & 0o777 == 0o600


DYING = """
import signal
import jarvis_ops.operations.verify as verify

def dying(*arguments, executor, **words):
    executor.submit(signal.raise_signal, signal.SIGKILL).result()
    yield

verify.verify = dying
from jarvis_ops.cli.run import main
main()
"""


def test_a_process_that_dies_is_said_plainly(environment: dict[str, str], store: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", DYING, "verify-pairs", "--store", str(store), "--json", "--executor", "process:2"],
        env=environment,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 3
    assert orjson.loads(done.stdout)["errors"][0]["code"] == "worker-died"
    assert done.stderr.count(b"\n") == 1


def test_one_that_cannot_be_read_does_not_stop_the_others(run: Run, store: Path) -> None:
    (store / "folder.jsonl").mkdir()
    os.mkfifo(store / "pipe.jsonl")
    done = run("verify-pairs", "--store", str(store), "--json")
    report = orjson.loads(done.stdout)
    assert done.returncode in {1, 3}
    assert report["counts"]["findings"]["unanswered-call"] == 1


@pytest.fixture
def reachable() -> Iterator[Path]:
    """A store below no closed folder: what pytest makes for root is closed to everybody else."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        conversation(Path(folder), "broken", *damage())
        yield Path(folder)


def test_no_permission(run: Run, reachable: Path) -> None:
    log = conversation(reachable, "closed", message(1))
    log.chmod(0)
    done = run("verify-pairs", "--store", str(reachable), "--json") if os.geteuid() else as_nobody(reachable)
    assert done.stdout, done.stderr
    report = orjson.loads(done.stdout)
    assert done.returncode == 3
    assert report["counts"]["failed"] == 1
    assert report["errors"][0]["conversation"] == "closed"
    assert report["counts"]["findings"]["unanswered-call"] == 1


AS_NOBODY = """
import os, sys
from jarvis_ops.cli.run import main, run
# Loads every module while it can still be read.
assert run(["verify-pairs", "--store", sys.argv[3], "-q", "--fail-on", "never"]) == 0
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
main()
"""


def as_nobody(store: Path) -> subprocess.CompletedProcess[bytes]:
    """As a user without rights, which only root can become."""
    for file in (store, *store.iterdir()):
        os.chown(file, 65534, 65534)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "HOME": "/nonexistent"}
    arguments = [sys.executable, "-c", AS_NOBODY, "verify-pairs", "--store", str(store), "--json"]
    return subprocess.run(arguments, env=environment, capture_output=True, check=False)
