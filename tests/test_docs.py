"""The pages are true: their commands answer as they say, and every name in them exists."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import termios
import tomllib
from pathlib import Path

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
from tests.documents import (
    BLOCK,
    PLAYBOOKS,
    ROOT,
    Block,
    Reader,
    blocks,
    clone,
    exchanges,
    inline,
    surroundings,
    text_of,
)

ENGLISH, KOREAN = ROOT / "README.md", ROOT / "README.ko.md"
READMES = [ENGLISH, KOREAN]
EVERY_PAGE = [
    *READMES, *PLAYBOOKS, PAGES, ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", ROOT / "sample_data" / "README.md",
    ROOT / "tests" / "bench" / "README.md",
]  # fmt: skip
# Options on these pages that belong to other programs.
FOREIGN_OPTIONS = {"--without-pip", "--python", "--big", "--resume"}
# Words that are spelled as rules are, and are none.
NO_RULES = {"last-turn", "claude-code", "jarvis-ops", *commands()}

OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def block(page: Path, kind: str) -> str:
    """The first block of a kind."""
    return next(each.content for each in blocks(page) if each.kind == kind)


def rows_below(page: Path, heading: str) -> list[list[str]]:
    """The cells of the first table below a heading, without its head."""
    section = text_of(page).partition(f"\n## {heading}\n")[2]
    lines = re.search(r"(?:^\|.*\n)+", section, re.MULTILINE)
    assert lines, heading
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[0].splitlines()[2:]]


def on_terminal(root: Path, line: str) -> str:
    """What a terminal of 80 columns shows of a line of shell."""
    leader, follower = pty.openpty()
    termios.tcsetwinsize(follower, (40, 80))
    with subprocess.Popen(
        ["sh", "-c", line], cwd=root, env=surroundings(root), stdin=subprocess.DEVNULL, stdout=follower,
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


def test_the_first_command_answers_as_the_readme_says(tmp_path: Path) -> None:
    line = block(ENGLISH, "sh")
    assert line.count("\n") == 1
    setup, separator, rest = line.partition(" && for ")
    assert "pip install -q ." in setup
    assert on_terminal(clone(tmp_path), separator.removeprefix(" && ") + rest) == block(ENGLISH, "text")


def test_the_commands_answer_as_the_readme_says(tmp_path: Path) -> None:
    reader = Reader(clone(tmp_path))
    for exchange in exchanges(ENGLISH):
        said, expected = reader.types(exchange)
        if expected.startswith("{"):
            assert json.loads(said) == json.loads(expected)
        else:
            assert said == expected, exchange.command


def test_the_second_command_runs_the_gates() -> None:
    command = [each.content for each in blocks(ENGLISH) if each.kind == "sh"][1].strip()
    assert os.access(ROOT / command, os.X_OK)
    assert "pytest" in text_of(ROOT / command)


def test_the_help_pages_are_what_help_says() -> None:
    assert text_of(PAGES) == pages(), "python -m tests.cli_pages writes them anew"


@pytest.mark.parametrize("page", [*READMES, *PLAYBOOKS], ids=lambda page: page.name)
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
