"""How heal, undo, recover, runs and gc take what is typed."""

from __future__ import annotations

import shlex
from pathlib import Path

import orjson
import pytest

from tests.cli.conftest import Run
from tests.cli.made import conversation, damage


def contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file below a folder: its time of change, and what it holds."""
    return {
        str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("heal",), "say --all"),
        (("heal", "--apply"), "say --all"),
        (("heal", "--all", "broken"), "--all takes every conversation"),
        (("heal", "brokn"), "nearest: broken"),
        (("heal", "broken", "--apply", "-n"), "--apply and --dry-run contradict each other"),
        (("heal", "broken", "--rule", "unanswerd-call"), "unanswered-call"),
        (("heal", "broken", "--wait", "3"), "--wait: '3' is no duration"),
        (("heal", "broken", "--quiet-time", "5M"), "--quiet-time"),
        (("heal", "broken", "--lock-wait", "-1s"), "--lock-wait"),
        (("heal", "broken", "--dialect", "clade_code"), "claude_code"),
        (("heal", "broken", "--metrics-file", "metrics.txt"), ".prom"),
        (("heal", "broken", "--plan-out", "p.json", "--apply"), "leave out --apply"),
        (("heal", "--plan", "p.json"), "it needs --apply"),
        (("heal", "--plan", "p.json", "--apply", "--lossy"), "as it is"),
        (("heal", "--plan", "p.json", "--apply", "--rule", "torn-tail"), "as it is"),
        (("heal", "--plan", "p.json", "--apply", "--include-sealed"), "as it is"),
        (("heal", "--plan", "p.json", "--apply", "--from", "other"), "as it is"),
        (("heal", "--plan", "gone.json", "--apply"), "No such file"),
        (("heal", "broken", "--json", "--output", "jsonl"), "contradict"),
        (("undo",), "RUN"),
        (("undo", "20261130T221500Z-3fa9"), "none at all is remembered"),
        (("undo", "20261130T221500Z-3fa9", "--apply", "-n"), "contradict"),
        (("undo", "20261130T221500Z-3fa9", "--wait", "3"), "--wait"),
        (("recover",), "say --all"),
        (("recover", "--all", "--apply", "--dry-run"), "contradict"),
        (("recover", "brokn"), "nearest: broken"),
        (("gc", "--older-than", "0s"), "--older-than"),
        (("gc", "--older-than", "7"), "--older-than"),
        (("gc", "--apply", "-n"), "contradict"),
        (("gc", "--cellar"), "--cellar"),
        (("runs", "-v", "-q"), "contradict"),
    ],
)
def test_what_cannot_be_carried_out_as_typed(run: Run, store: Path, command: tuple[str, ...], said: str) -> None:
    before = contents(store)
    done = run(command[0], "--store", str(store), *command[1:])
    assert done.returncode == 2
    assert said in " ".join(done.stderr.decode().split())
    assert b"Traceback" not in done.stderr
    assert done.stdout == b""
    assert contents(store) == before


@pytest.mark.parametrize(
    "command", [("heal", "--all"), ("undo", "20261130T221500Z-3fa9"), ("recover", "--all"), ("runs",), ("gc",)]
)
def test_a_missing_store(run: Run, tmp_path: Path, command: tuple[str, ...]) -> None:
    done = run(*command, "--store", str(tmp_path / "gone"), "--json")
    report = orjson.loads(done.stdout)
    assert done.returncode == report["exit_code"] == 3
    assert report["command"] == command[0]
    assert report["errors"][0]["code"] == "store"
    assert report["store_from"] == "flag --store"


def test_the_store_of_from_must_be_there(run: Run, store: Path, tmp_path: Path) -> None:
    done = run("heal", "broken", "--store", str(store), "--from", str(tmp_path / "gone"))
    assert done.returncode == 3
    assert str(tmp_path / "gone") in done.stderr.decode()


@pytest.mark.parametrize("options", [("--all",), ("broken",), ("--only", "b*", "-n"), ("--call-id", "call_1")])
def test_a_plan_is_printed_and_nothing_is_changed(run: Run, store: Path, options: tuple[str, ...]) -> None:
    before = contents(store)
    done = run("heal", "--store", str(store), *options)
    assert done.returncode == 1, done.stderr
    lines = done.stdout.decode().splitlines()
    assert lines[0].startswith("broken.jsonl:2: safe insert unanswered-call ")
    assert "1 step planned in 1 conversation." in lines[1]
    typed = shlex.join(word for word in options if word != "-n")
    asked = f"{typed} --store {store}" if options == ("broken",) else f"--store {store} {typed}"
    assert lines[-2:] == ["Nothing was changed. To carry it out:", f"  jarvis-ops heal {asked} --apply"]
    assert contents(store) == before


def test_the_next_command_is_what_was_typed(run: Run, store: Path) -> None:
    options = ("--lossy", "--rule", "unanswered-call", "--rule", "torn-tail", "--scope", "full", "--assume-idle")
    passing = ("-v", "--no-progress", "--sort", "bytes", "--limit", "5", "--output", "table")
    done = run("heal", "--store", str(store), "broken", *passing, *options)
    mending = "--lossy --rule unanswered-call --rule torn-tail --scope full --assume-idle"
    assert done.stdout.decode().splitlines()[-1] == f"  jarvis-ops heal broken --store {store} {mending} --apply"


def test_a_store_that_was_not_typed_need_not_be(run: Run, store: Path) -> None:
    done = run("heal", "broken", env={"JARVIS_OPS_STORE": str(store)})
    assert done.stdout.decode().splitlines()[-1] == "  jarvis-ops heal broken --apply"


def test_a_name_is_quoted_for_the_shell(run: Run, healthy: Path) -> None:
    conversation(healthy, "a b'c", *damage())
    done = run("heal", "--store", str(healthy), "a b'c")
    assert f"""jarvis-ops heal 'a b'"'"'c' --store {healthy} --apply""" in done.stdout.decode()


def test_nothing_to_mend(run: Run, healthy: Path) -> None:
    before = contents(healthy)
    done = run("heal", "--store", str(healthy), "--all", "--apply")
    assert done.returncode == 0
    assert b"nothing to mend." in done.stdout
    assert contents(healthy) == before
    assert run("heal", "--store", str(healthy), "--all", "-q").stdout == b""


def test_no_option_of_the_file_applies_anything(run: Run, store: Path, tmp_path: Path) -> None:
    (tmp_path / "ops.toml").write_text("apply = true")
    done = run("heal", "--store", str(store), "--all", env={"JARVIS_OPS_CONFIG": str(tmp_path / "ops.toml")})
    assert done.returncode == 2
    assert b"'apply' is not known" in done.stderr


@pytest.mark.parametrize("command", ["runs", "gc", "recover"])
def test_a_store_that_we_never_touched(run: Run, store: Path, command: str) -> None:
    options = ("--all",) if command == "recover" else ()
    before = contents(store)
    done = run(command, "--store", str(store), *options)
    assert (done.returncode, done.stdout.count(b"\n") + done.stderr.count(b"\n")) == (0, 1)
    assert run(command, "--store", str(store), "-q", *options).stdout == b""
    assert contents(store) == before
