"""The pages are true: their commands answer as they say, and every name in them exists."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import subprocess
import sys
import termios
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from jarvis_ops import config
from jarvis_ops.cli.interruption import CLOSED_PIPE, INTERRUPTED, TERMINATED
from jarvis_ops.dialects.registry import DIALECTS
from jarvis_ops.errors import BusyError, OpsError, UsageError
from jarvis_ops.model.quantity import duration
from jarvis_ops.model.report import Report
from jarvis_ops.model.settings import Accept, Limits, Settings
from jarvis_ops.render import metrics
from jarvis_ops.rules.catalog import RULES
from tests.cli_pages import PAGES, commands, pages

ROOT = Path(__file__).resolve().parents[1]
ENGLISH, KOREAN = ROOT / "README.md", ROOT / "README.ko.md"
READMES = [ENGLISH, KOREAN]
EVERY_PAGE = [
    *READMES, PAGES, ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", ROOT / "sample_data" / "README.md",
    ROOT / "tests" / "bench" / "README.md",
]  # fmt: skip
# Options in the READMEs that belong to other programs.
FOREIGN_OPTIONS = {"--without-pip", "--python", "--big"}
# Words that are spelled as rules are, and are none.
NO_RULES = {"last-turn", "claude-code", "jarvis-ops", *commands()}

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Block(NamedTuple):
    """A fenced block of a page: the word behind the fence, and what is inside."""

    kind: str
    content: str


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def blocks(page: Path) -> list[Block]:
    return [Block(*match) for match in BLOCK.findall(text_of(page))]


def block(page: Path, kind: str) -> str:
    """The first block of a kind."""
    return next(each.content for each in blocks(page) if each.kind == kind)


def inline(page: Path) -> set[str]:
    """Everything that stands between backticks in running text."""
    return set(INLINE.findall(BLOCK.sub("", text_of(page))))


def rows_below(page: Path, heading: str) -> list[list[str]]:
    """The cells of the first table below a heading, without its head."""
    section = text_of(page).partition(f"\n## {heading}\n")[2]
    lines = re.search(r"(?:^\|.*\n)+", section, re.MULTILINE)
    assert lines, heading
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[0].splitlines()[2:]]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder with the samples as a clone has them, and with the command where the README installs it."""
    root = tmp_path / "clone"
    shutil.copytree(ROOT / "sample_data", root / "sample_data", ignore=shutil.ignore_patterns("__pycache__", ".*"))
    for path in root.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    command = root / ".venv" / "bin" / "jarvis-ops"
    command.parent.mkdir(parents=True)
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m jarvis_ops "$@"\n')
    command.chmod(0o755)
    return root


def surroundings(clone: Path) -> dict[str, str]:
    """An environment in which nothing of this machine is set."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JARVIS", "PIPPA", "FORCE_"))}
    path = f"{clone / '.venv' / 'bin'}{os.pathsep}{kept['PATH']}"
    return {**kept, "PATH": path, "PYTHONPATH": str(ROOT), "COLUMNS": "80", "TERM": "xterm", "NO_COLOR": "1"}


def on_terminal(clone: Path, line: str) -> str:
    """What a terminal of 80 columns shows of a line of shell."""
    leader, follower = pty.openpty()
    termios.tcsetwinsize(follower, (40, 80))
    with subprocess.Popen(
        ["sh", "-c", line], cwd=clone, env=surroundings(clone), stdin=subprocess.DEVNULL, stdout=follower,
        stderr=subprocess.DEVNULL,
    ):  # fmt: skip
        os.close(follower)
        drawn = b"".join(iter(lambda: read(leader), b""))
    os.close(leader)
    plain = ESCAPES.sub("", drawn.decode())
    return "".join(f"{each.rstrip()}\n" for each in plain.splitlines())


def read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


def dialogues(page: Path) -> Iterator[tuple[str, str]]:
    """Each line of shell in a page, with the answer below it."""
    for each in blocks(page):
        if each.kind == "console":
            command, _, answer = each.content.partition("\n")
            yield command.removeprefix("$ "), answer


def test_the_first_command_answers_as_the_readme_says(clone: Path) -> None:
    line = block(ENGLISH, "sh")
    assert line.count("\n") == 1
    setup, separator, rest = line.partition(" && for ")
    assert "pip install -q ." in setup
    assert on_terminal(clone, separator.removeprefix(" && ") + rest) == block(ENGLISH, "text")


@pytest.mark.parametrize(("command", "answer"), list(dialogues(ENGLISH)), ids=lambda value: value[:60])
def test_a_command_answers_as_the_readme_says(clone: Path, command: str, answer: str) -> None:
    done = subprocess.run(
        ["sh", "-c", command], cwd=clone, env=surroundings(clone), capture_output=True, check=False, text=True
    )
    assert done.stderr == ""
    if answer.startswith("{"):
        assert json.loads(done.stdout) == json.loads(answer)
    else:
        assert done.stdout == answer


def test_the_second_command_runs_the_gates() -> None:
    command = [each.content for each in blocks(ENGLISH) if each.kind == "sh"][1].strip()
    assert os.access(ROOT / command, os.X_OK)
    assert "pytest" in text_of(ROOT / command)


def test_the_help_pages_are_what_help_says() -> None:
    assert text_of(PAGES) == pages(), "python -m tests.cli_pages writes them anew"


@pytest.mark.parametrize("page", READMES, ids=lambda page: page.name)
def test_every_option_exists(page: Path) -> None:
    assert set(OPTION.findall(text_of(page))) - FOREIGN_OPTIONS <= set(OPTION.findall(text_of(PAGES)))


@pytest.mark.parametrize("page", EVERY_PAGE, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_exists(page: Path) -> None:
    assert set(re.findall(r"jarvis-ops ([a-z]+(?:-[a-z]+)*)(?=[ `\n])", BLOCK.sub("", text_of(page)))) <= set(
        commands()
    )


@pytest.mark.parametrize("page", READMES, ids=lambda page: page.name)
def test_every_command_is_named(page: Path) -> None:
    assert {f"jarvis-ops {command}" for command in commands()} <= inline(page)


@pytest.mark.parametrize("page", READMES, ids=lambda page: page.name)
def test_every_rule_exists_and_is_judged(page: Path) -> None:
    named = {word for word in inline(page) if re.fullmatch(r"[a-z]+(-[a-z0-9]+)+", word)} - NO_RULES
    sources = [path for path in (ROOT / "jarvis_ops").rglob("*.py") if "rows" not in path.parts]
    code = "\n".join(map(text_of, sources))
    assert len(named) > 30
    assert named <= set(RULES)
    assert [rule for rule in sorted(named) if f'"{rule}"' not in code] == []


def test_the_variables_are_all_named() -> None:
    variables = re.compile(r"\bJARVIS_OPS_[A-Z_]+\b")
    assert set(variables.findall(text_of(ENGLISH))) == {*variables.findall(text_of(PAGES)), config.CONFIG_VARIABLE}
    assert {config.BACKEND_VARIABLE, config.SEGMENT_VARIABLE, "SESSIONS_DIR"} <= inline(ENGLISH)


@pytest.mark.parametrize("page", READMES, ids=lambda page: page.name)
def test_the_configuration_has_every_key_and_says_the_defaults(page: Path) -> None:
    content = block(page, "toml")
    table = tomllib.loads(content)
    read_back = config.parse(content.encode(), page.name)
    settings = Settings(now=0)
    assert set(table) == {*config.OPTIONS, *config.TABLES}
    assert set(table["limits"]) == set(Limits.__struct_fields__)
    assert set(table["accept"][0]) == set(Accept.__struct_fields__)
    assert Limits(**read_back.limits) == Limits()
    assert read_back.test_prefixes == settings.test_prefixes
    assert read_back.open_call_timeout == settings.open_call_timeout
    assert duration(table["turn_timeout"]) == settings.turn_timeout
    assert table["scope"] == settings.scope
    assert table["store"] == config.DEFAULT_STORE
    assert table["dialect"] in DIALECTS


@pytest.mark.parametrize("page", READMES, ids=lambda page: page.name)
def test_the_exit_codes_are_all_named(page: Path) -> None:
    heading = "Exit codes" if page == ENGLISH else "종료 코드"
    named = {int(code) for row in rows_below(page, heading) for code in row[0].split(", ")}
    errors = {UsageError.exit_code, OpsError.exit_code, BusyError.exit_code}
    assert named == {0, 1, *errors, INTERRUPTED, TERMINATED, CLOSED_PIPE}


def test_the_metrics_exist(tmp_path: Path) -> None:
    report = Report(command="verify-pairs", store="s", store_from="flag --store")
    report.counts.findings["torn-tail"] = 1
    written = metrics.text(str(tmp_path / "none.prom"), report, ended=1, seconds=1).decode()
    named = set(re.findall(r"\bjarvis_ops_[a-z_]+", text_of(ENGLISH)))
    assert named == set(re.findall(r"^# HELP (\S+)", written, re.MULTILINE))


def test_both_languages_say_the_same() -> None:
    def shape(page: Path) -> list[Block | tuple[str, object]]:
        return [("toml", tomllib.loads(each.content)) if each.kind == "toml" else each for each in blocks(page)]

    assert shape(KOREAN) == shape(ENGLISH)
    assert inline(KOREAN) == inline(ENGLISH)
    for mark in (r"^## ", r"^\|", r"^- "):
        found = [len(re.findall(mark, BLOCK.sub("", text_of(page)), re.MULTILINE)) for page in READMES]
        assert found[0] == found[1], mark


@pytest.mark.parametrize("page", EVERY_PAGE, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", text_of(page))
    assert [target for target in targets if ":" not in target and not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", EVERY_PAGE, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_that_is_named_exists(page: Path) -> None:
    """Names with a folder in them, from the root of the repository or from the package."""
    named = {name for name in inline(page) if re.fullmatch(r"\.?[a-z_]+(/[a-z_]+)+(/|\.py|\.md)?|\.ci/run", name)}
    assert [
        name for name in sorted(named) if not ((ROOT / name).exists() or (ROOT / "jarvis_ops" / name).exists())
    ] == []


def test_the_gates_are_all_named() -> None:
    steps = re.findall(r"^step ([a-z-]+(?: [a-z]+(?= --check))?)", text_of(ROOT / ".ci" / "run"), re.MULTILINE)
    gates = " ".join(row[0] for row in rows_below(ROOT / "CONTRIBUTING.md", "Gates"))
    assert len(steps) == 5
    assert [step for step in steps if step not in gates] == []


def test_the_changelog_knows_this_version() -> None:
    version = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]["version"]
    assert f"## [{version}]" in text_of(ROOT / "CHANGELOG.md")


def test_the_samples_that_are_named_exist() -> None:
    named = {name.rstrip("/") for name in inline(ROOT / "sample_data" / "README.md") if re.fullmatch(r"[a-z-]+/", name)}
    assert len(named) >= 3
    assert [name for name in sorted(named) if not (ROOT / "sample_data" / name).is_dir()] == []
