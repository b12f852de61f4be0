"""Which conversations are looked at."""

from __future__ import annotations

import os
from pathlib import Path

import orjson
import pytest

from tests.cli.conftest import Run
from tests.cli.made import TIME, conversation, message, talk


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """One of each kind, of different ages."""
    folder = tmp_path / "mixed"
    folder.mkdir(mode=0o700)
    conversation(folder, "home", *talk())
    conversation(folder, "test-run", *talk())
    conversation(folder, "agent_main__home", *talk())
    conversation(folder, "agent_main__test-run", *talk())
    conversation(folder, "new", message(1, timestamp=TIME + 86_400_000_000))
    conversation(folder, "empty")
    return folder


def chosen(run: Run, store: Path, *options: str, stdin: bytes = b"") -> list[str]:
    done = run("verify-pairs", "--store", str(store), "--json", "-v", *options, stdin=stdin)
    assert done.returncode == 0, done.stderr
    outcomes = orjson.loads(done.stdout)["outcomes"]
    return [outcome["conversation"] for outcome in outcomes if outcome["conversation"] is not None]


ALL = ["agent_main__home", "agent_main__test-run", "empty", "home", "new", "test-run"]


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ((), ALL),
        (("--all",), ALL),
        (("home",), ["home"]),
        (("ew", "mpty"), ["empty", "new"]),
        (("--only", "*home"), ["agent_main__home", "home"]),
        (("--only", "h*", "--only", "n*"), ["home", "new"]),
        (("--kind", "user"), ["empty", "home", "new"]),
        (("--kind", "test"), ["agent_main__test-run", "test-run"]),
        (("--kind", "subagent"), ["agent_main__home"]),
        (("--kind", "subagent", "--kind", "test"), ["agent_main__home", "agent_main__test-run", "test-run"]),
        (("--since", "2028-01-01"), ["new"]),
        (("--since", "2026-09-21T14:13:20Z", "--only", "h*"), ["home"]),
        (("--only", "nothing*"), []),
    ],
)
def test_selected(run: Run, mixed: Path, options: tuple[str, ...], names: list[str]) -> None:
    assert chosen(run, mixed, *options) == names


def test_the_age_is_that_of_the_last_record_never_of_the_file(run: Run, mixed: Path) -> None:
    for file in mixed.iterdir():
        os.utime(file, (0, 0))
    assert chosen(run, mixed, "--idle-for", "30d", "--only", "new") == []
    old = message(1, timestamp=TIME - 5 * 365 * 86_400_000)
    with (mixed / "home.jsonl").open("wb") as log:
        log.write(orjson.dumps(old) + b"\n")
    assert chosen(run, mixed, "--idle-for", "1500d") == ["home"]


def test_a_broken_last_line_tells_no_time(run: Run, healthy: Path) -> None:
    with (healthy / "good.jsonl").open("ab") as log:
        log.write(b'{"id":"m3","timestamp":99')
    done = run("sessions", "--store", str(healthy), "--json")
    assert orjson.loads(done.stdout)["outcomes"][0]["last_record_at"] == "2026-09-21T14:13:20.002Z"


def test_ids_from_a_file_and_from_standard_input(run: Run, mixed: Path, tmp_path: Path) -> None:
    (tmp_path / "ids").write_bytes(b"home\r\n\nnew")
    assert chosen(run, mixed, "--ids-from", "ids") == ["home", "new"]
    assert chosen(run, mixed, "--ids-from", "-", "empty", stdin=b"home\n") == ["empty", "home"]
    assert chosen(run, mixed, "--ids-from", "-") == []


def test_the_conversation_that_holds_a_call(run: Run, store: Path) -> None:
    result = message(3, "tool", tool_call_id="call_9", content='{"id":"call_7"}')
    call = {"id": "call_9", "name": "search", "arguments": {"id": "call_8"}}
    conversation(
        store, "asked", message(1), message(2, "assistant", tool_calls=[call]), result, message(4, "assistant")
    )
    assert chosen(run, store, "--call-id", "call_9") == ["asked"]
    for quoted in ("call_7", "call_8", "call_"):
        done = run("verify-pairs", "--store", str(store), "--call-id", quoted)
        assert done.returncode == 2
        assert quoted.encode() in done.stderr


def test_the_conversation_that_holds_a_record(run: Run, store: Path) -> None:
    conversation(store, "asked", message(1, id="r/é"), message(2, "assistant"))
    assert chosen(run, store, "--record-id", "r/é") == ["asked"]
    log = store / "asked.jsonl"
    log.write_bytes(log.read_bytes().replace("r/é".encode(), b"r\\/\\u00e9"))
    assert chosen(run, store, "--record-id", "r/é") == ["asked"]


def test_an_id_in_a_broken_line_counts(run: Run, store: Path) -> None:
    with (store / "good.jsonl").open("ab") as log:
        log.write(b'{"tool_call_id":"call_9","content":"cut of')
    done = run("verify-pairs", "--store", str(store), "--call-id", "call_9", "--json")
    assert [outcome["conversation"] for outcome in orjson.loads(done.stdout)["outcomes"]] == ["good"]
