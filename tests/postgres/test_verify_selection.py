"""Options of selection, the listing, and the ways to name a database."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.expected import ROOT
from tests.generate import START, JarvisWriter, Line, encode, write_jarvis
from tests.postgres.conftest import Connect
from tests.postgres.loading import load, messages
from tests.postgres.tables import NEWEST, create

DAY = 86_400_000


def line(number: int, role: str, time: int, **more: Any) -> bytes:
    return encode({"id": f"r{number}", "role": role, "content": "words", "timestamp": time, **more})


@pytest.fixture
def store(connect: Connect, database: str) -> str:
    """Three conversations: an old one, a test's with a broken pair, and one that is empty."""
    connection = connect()
    create(connection, NEWEST)
    load(connection, "old", [line(1, "user", 0), line(2, "assistant", 0)], NEWEST)
    call = {"tool_calls": [{"id": "call_a/b", "name": "look", "arguments": {}}]}
    load(connection, "test-new", [line(3, "user", 0), line(4, "assistant", 0, **call), line(5, "user", 0)], NEWEST)
    later = 'UPDATE jarvis_entries SET "timestamp" = "timestamp" + %s WHERE session_id <> \'old\''
    connection.execute(later, (9 * DAY,))
    connection.execute("INSERT INTO jarvis_sessions (id, archived_at) VALUES ('empty', '2026-02-01')")
    return database


def report(*arguments: str, home: Path, **variables: str) -> tuple[int, dict[str, Any], str]:
    """The exit code, the JSON report, and what is said on standard error."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JARVIS", "PIPPA", "XDG_"))}
    done = subprocess.run(
        [sys.executable, "-m", "jarvis_ops", *arguments, "--json"],
        cwd=ROOT, env={**kept, "HOME": str(home), **variables}, capture_output=True, check=False, text=True,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    return done.returncode, json.loads(done.stdout), done.stderr


DATE = "2026-01-05"


@pytest.mark.parametrize(
    ("options", "conversations"),
    [
        ((), ["empty", "old", "test-new"]),
        (("old",), ["old"]),
        (("new",), ["test-new"]),
        (("--only", "*e*"), ["empty", "test-new"]),
        (("--kind", "test"), ["test-new"]),
        (("--since", DATE), ["test-new"]),
        (("--idle-for", "2h"), ["old", "test-new"]),
        (("--call-id", "call_a/b"), ["test-new"]),
        (("--record-id", "r1", "--record-id", "r3"), ["old", "test-new"]),
        (("--sort", "last"), ["test-new", "old", "empty"]),
        (("--sort", "bytes"), ["test-new", "old", "empty"]),
    ],
)
def test_selection(options: tuple[str, ...], conversations: list[str], store: str, tmp_path: Path) -> None:
    _, found, _ = report("verify-pairs", *options, "--store", store, "-v", home=tmp_path)
    assert [one["conversation"] for one in found["outcomes"]] == conversations
    assert found["counts"]["records"] == sum({"old": 2, "test-new": 3, "empty": 0}[name] for name in conversations)


@pytest.mark.parametrize("option", ["--call-id", "--record-id"])
def test_an_id_that_is_nowhere(option: str, store: str, tmp_path: Path) -> None:
    code, _, said = report("verify-pairs", option, "call_a", "--store", store, home=tmp_path)
    assert code == 2
    assert "no conversation holds call_a" in said


def test_the_listing(store: str, tmp_path: Path) -> None:
    code, found, _ = report("sessions", "--store", store, "--sort", "id", home=tmp_path)
    names = ("conversation", "kind", "records", "state", "last_record_at", "archived_at")
    rows = [tuple(one[name] for name in names) for one in found["outcomes"]]
    assert code == 0
    assert rows == [
        ("empty", "user", 0, "idle", None, "2026-02-01T00:00:00.000Z"),
        ("old", "user", 2, "idle", "2026-01-01T00:00:00.002Z", None),
        ("test-new", "test", 3, "idle", "2026-01-10T00:00:00.003Z", None),
    ]
    assert all(one["bytes"] > 0 for one in found["outcomes"] if one["records"])


def test_the_store_that_jarvis_itself_uses(store: str, tmp_path: Path) -> None:
    backend = {"JARVIS_SESSION__PERSISTENCE_BACKEND": "postgres", "POSTGRES_DSN": store}
    code, found, _ = report("verify-pairs", home=tmp_path, **backend)
    assert (code, found["store"], found["store_from"]) == (1, store, "variable POSTGRES_DSN")
    stray, _, _ = report("verify-pairs", home=tmp_path, POSTGRES_DSN=store)
    assert stray == 3, "without its backend variable the address decides nothing"


def test_a_password_that_is_typed_is_warned_of(store: str, tmp_path: Path) -> None:
    _, found, said = report("verify-pairs", "--store", store.replace("@", ":hush@"), home=tmp_path)
    assert said == (
        "jarvis-ops: a password that is typed can be seen by others on this machine; POSTGRES_DSN or .pgpass hide it\n"
    )
    assert found["store"] == store
    words = " ".join(f"{name}={value}" for name, value in conninfo_to_dict(store).items())
    _, found, said = report("verify-pairs", "--store", words, home=tmp_path)
    assert (found["store"], said) == (store, "")


def test_what_makes_no_sense_for_a_database(store: str, tmp_path: Path) -> None:
    code, _, said = report("verify-pairs", "--store", store, "--changed-only", home=tmp_path)
    assert code == 2
    assert "this store is a database" in said


def test_a_database_beside_its_copy_in_files(connect: Connect, database: str, tmp_path: Path) -> None:
    connection = connect()
    create(connection, NEWEST)
    lines = [one.raw for one in JarvisWriter(random.Random(3), marks=False).turns(3).lines]
    load(connection, "talk", lines, NEWEST)
    fields = ("id", "role", "content", "tool_calls", "tool_call_id")
    kept = [
        encode({**{name: one[name] for name in fields if name in one}, "timestamp": START + number})
        for number, one in enumerate(messages(lines), start=1)
    ]
    copy = tmp_path / "copy"
    write_jarvis(copy, [Line(raw) for raw in kept[:-1]])
    code, found, _ = report("verify-pairs", "--store", database, "--against", str(copy), home=tmp_path)
    rules = [one["rule"] for outcome in found["outcomes"] for one in outcome["findings"]]
    assert (code, rules) == (0, ["not-in-other"])
    code, found, _ = report("verify-pairs", "--store", str(copy), "--against", database, home=tmp_path)
    rules = [one["rule"] for outcome in found["outcomes"] for one in outcome["findings"] if one["severity"] != "info"]
    assert (code, rules) == (1, ["content-vanished"])
