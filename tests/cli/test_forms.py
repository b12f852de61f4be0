"""The forms of a report: valid against the schema, and harmless to a terminal."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import termios
from pathlib import Path

import jsonschema
import orjson
import pytest

from jarvis_ops.render.visible import encodable, inert_json, visible
from tests.cli.conftest import COMMAND, Run
from tests.cli.made import conversation, damage, message

ESCAPES = re.compile(rb"\x1b\[[0-9;]*m")
HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202eevil\u009b31m"


@pytest.fixture
def schema(run: Run) -> dict[str, object]:
    parsed: dict[str, object] = orjson.loads(run("schema").stdout)
    return parsed


def check(schema: dict[str, object], name: str, value: object) -> None:
    jsonschema.validate(value, {"$ref": f"#/$defs/{name}", "$defs": schema["$defs"]})
    jsonschema.validate(value, schema)


def test_the_schema_is_one(schema: dict[str, object]) -> None:
    jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("options", [(), ("-v",), ("nobody",), ("--scope", "full")])
@pytest.mark.parametrize(("command", "name"), [("verify-pairs", "Report"), ("sessions", "SessionsReport")])
def test_documents(
    run: Run, schema: dict[str, object], store: Path, options: tuple[str, ...], command: str, name: str
) -> None:
    if command == "sessions" and options[:1] == ("--scope",):
        options = ("--sort", "id")
    done = run(command, "--store", str(store), "--json", *options)
    report = orjson.loads(done.stdout)
    check(schema, name, report)
    assert report["exit_code"] == done.returncode
    assert report["command"] == command


def test_lines(run: Run, schema: dict[str, object], store: Path) -> None:
    names = {"outcome": "OutcomeLine", "error": "ErrorLine", "summary": "SummaryLine"}
    found = run("verify-pairs", "--store", str(store), "--output", "jsonl", "-v").stdout.splitlines()
    failed = run("verify-pairs", "--store", "/gone", "--output", "jsonl").stdout.splitlines()
    lines = [orjson.loads(line) for line in (*found, *failed)]
    for line in lines:
        check(schema, names[line["type"]], line)
    assert [line["type"] for line in lines] == ["outcome", "outcome", "summary", "error", "summary"]


def test_sessions_as_lines(run: Run, schema: dict[str, object], store: Path) -> None:
    done = run("sessions", "--store", str(store), "--output", "jsonl")
    lines = [orjson.loads(line) for line in done.stdout.splitlines()]
    assert [line["type"] for line in lines] == ["outcome", "outcome", "summary"]
    for line in lines[:2]:
        check(schema, "SessionLine", line)


def test_the_rules_of_providers_stand_beside_a_finding(run: Run, store: Path) -> None:
    report = orjson.loads(run("verify-pairs", "--store", str(store), "--json").stdout)
    assert report["outcomes"][0]["findings"][0]["provider_rules"]


def hostile(folder: Path) -> None:
    """Names and ids that would act on a terminal."""
    records = damage()
    records[1]["tool_calls"] = [{"id": HOSTILE, "name": "search", "arguments": {}}]
    records[1]["id"] = HOSTILE
    conversation(folder, "plain", *records)
    conversation(folder, f"x{HOSTILE.replace('/', '')}", *damage())
    conversation(folder, os.fsdecode(b"x\xff\xfe"), *damage())


@pytest.mark.parametrize("command", ["verify-pairs", "sessions"])
@pytest.mark.parametrize("output", ["table", "json", "jsonl"])
def test_nothing_from_a_store_reaches_the_terminal_raw(run: Run, healthy: Path, command: str, output: str) -> None:
    hostile(healthy)
    done = run(command, "--store", str(healthy), "--output", output, "-v")
    for text in (done.stdout.decode(), done.stderr.decode()):
        assert not {"\x1b", "\x07", "\u202e", "\u009b"} & set(text)
    if output == "table":
        assert rb"\x1b[2J" in done.stdout
        assert rb"x\xff\xfe" in done.stdout
    else:
        assert [orjson.loads(line) for line in done.stdout.splitlines()]
        assert rb"x\\xff\\xfe" in done.stdout


def test_what_was_typed_is_harmless_too(run: Run, store: Path) -> None:
    done = run("verify-pairs", "--store", str(store), HOSTILE)
    assert b"\x1b" not in done.stderr
    assert b"\x1b" not in run("verify-pairs", "--store", str(store), f"--{HOSTILE}").stderr


def on_terminal(environment: dict[str, str], *arguments: str) -> tuple[int, bytes]:
    """Run with a terminal of 100 columns on all three streams; the exit code and what was drawn."""
    leader, follower = pty.openpty()
    termios.tcsetwinsize(follower, (40, 100))
    with subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env=environment,
        start_new_session=True,
    ) as process:
        os.close(follower)
        drawn = b"".join(iter(lambda: _read(leader), b""))
        os.close(leader)
        return process.wait(60), drawn


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


def test_a_table_on_a_terminal(environment: dict[str, str], store: Path) -> None:
    code, drawn = on_terminal(environment, "verify-pairs", "--store", str(store), "-v")
    text = ESCAPES.sub(b"", drawn).decode()
    assert code == 1
    assert re.search(r"where +severity +rule +what", text)
    assert re.search(r"broken\.jsonl:2 +error +unanswered-call", text)
    assert re.search(r"good +clean +jarvis +2", text)
    assert ESCAPES.search(drawn)


@pytest.mark.parametrize("command", ["verify-pairs", "sessions"])
def test_no_colour_when_told_so(environment: dict[str, str], store: Path, command: str) -> None:
    _, drawn = on_terminal({**environment, "NO_COLOR": "1"}, command, "--store", str(store), "--no-progress")
    assert not re.search(rb"\x1b\[[0-9;]*3[0-7]m", drawn)


def test_colour_without_a_terminal_when_told_so(run: Run, store: Path) -> None:
    assert b"\x1b" not in run("verify-pairs", "--store", str(store)).stdout
    done = run("verify-pairs", "--store", str(store), env={"FORCE_COLOR": "1"})
    assert b"\x1b[" in done.stdout
    assert b"broken.jsonl:2: error unanswered-call" in ESCAPES.sub(b"", done.stdout)


def test_hostile_text_on_a_terminal(environment: dict[str, str], healthy: Path) -> None:
    hostile(healthy)
    for command in ("verify-pairs", "sessions"):
        _, drawn = on_terminal(environment, command, "--store", str(healthy), "--no-progress")
        rest = ESCAPES.sub(b"", drawn)
        assert b"\x1b" not in rest
        assert "\u202e".encode() not in rest


def test_markup_is_text(environment: dict[str, str], healthy: Path) -> None:
    conversation(healthy, "[red]x", *damage())
    _, drawn = on_terminal(environment, "verify-pairs", "--store", str(healthy), "--no-progress")
    assert b"[red]x.jsonl:2" in ESCAPES.sub(b"", drawn)


def test_many_findings_are_grouped_by_rule(environment: dict[str, str], healthy: Path) -> None:
    for number in range(50):
        conversation(healthy, f"c{number:02d}", *damage())
    _, drawn = on_terminal(environment, "verify-pairs", "--store", str(healthy), "--no-progress")
    text = ESCAPES.sub(b"", drawn).decode()
    assert re.search(r"unanswered-call +error +50 +50 +c00\.jsonl:2", text)


def test_a_bar_only_where_somebody_looks(environment: dict[str, str], run: Run, store: Path) -> None:
    _, drawn = on_terminal(environment, "verify-pairs", "--store", str(store))
    assert b"B/s" in drawn
    assert b"B/s" not in run("verify-pairs", "--store", str(store)).stderr
    forced = run("verify-pairs", "--store", str(store), "--progress")
    assert b"B/s" in forced.stderr
    assert b"B/s" not in forced.stdout


def test_a_limit_lists_less_and_counts_all(run: Run, healthy: Path) -> None:
    for number in range(5):
        conversation(healthy, f"c{number}", *damage())
    report = orjson.loads(run("verify-pairs", "--store", str(healthy), "--limit", "2", "--json").stdout)
    assert [outcome["conversation"] for outcome in report["outcomes"]] == ["c0", "c1"]
    assert report["counts"]["findings"] == {"unanswered-call": 5}
    assert report["counts"]["unlisted"] == 3
    done = run("verify-pairs", "--store", str(healthy), "--limit", "2")
    assert b"3 more counted but not listed" in done.stdout


def test_an_order(run: Run, healthy: Path) -> None:
    late, early = damage(), damage()
    for record in late:
        record["timestamp"] = 1_800_000_000_000
    conversation(healthy, "a", *early, message(9))
    conversation(healthy, "b", *late)

    def listed(order: str) -> list[str]:
        done = run("verify-pairs", "--store", str(healthy), "--sort", order, "--json", "--rule", "unanswered-call")
        return [outcome["conversation"] for outcome in orjson.loads(done.stdout)["outcomes"]]

    assert listed("id") == ["a", "b"]
    assert listed("last") == ["b", "a"]
    assert listed("bytes") == ["a", "b"]


def test_korean_in_an_encoding_without_it(run: Run, healthy: Path) -> None:
    conversation(healthy, "대화", *damage())
    done = run("verify-pairs", "--store", str(healthy), env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 1
    assert rb"\ub300\ud654.jsonl:2: error" in done.stdout


def test_visible_text() -> None:
    assert visible("a\x1b[31m\u202eb\ud83d\udcff\n한국어 🔔") == r"a\x1b[31m\u202eb\ud83d\xff\n한국어 🔔".replace(
        r"\n", r"\x0a"
    )
    assert encodable("\x1b\ud83d\udcff") == "\x1b" + r"\ud83d\xff"


def test_inert_json_reads_back_the_same() -> None:
    text = "\u007f\u009b\u202e\u2028\U000e0041한국어"
    document = inert_json(orjson.dumps(text))
    assert orjson.loads(document) == text
    assert document.decode() == r'"\u007f\u009b\u202e\u2028\udb40\udc41한국어"'
