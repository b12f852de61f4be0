"""The problem table is complete: whatever the code or a case names is in it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import orjson
import pytest

from jarvis_ops.errors import UsageError
from jarvis_ops.model.finding import SEVERITIES, Safety
from jarvis_ops.rules.catalog import RULES, Rule, explain

ROOT = Path(__file__).parents[1]
EXPECTED = sorted(path for folder in ("tests/cases", "sample_data") for path in (ROOT / folder).rglob("expected.json"))
SOURCES = sorted(
    path for path in (ROOT / "jarvis_ops").rglob("*.py") if "rows" not in path.relative_to(ROOT / "jarvis_ops").parts
)
RULE_NAME = re.compile(r"[a-z]+(-[a-z0-9]+)+|growth|secret|crlf|unreadable")
# Calls whose first text names an encoding, which is spelled as rules are.
CODECS = {"decode", "encode", "bytes", "str"}
PROVIDER_RULE = re.compile(r"(GEN|ANT|OAI|RSP|GEM|BED|MIS|DSK)-[1-9][0-9]?")


def rules_in(value: Any) -> Iterator[str]:
    """Every value of a key `rule`, at any depth."""
    if isinstance(value, dict):
        if isinstance(value.get("rule"), str):
            yield value["rule"]
        for inner in value.values():
            yield from rules_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from rules_in(inner)


def literals(node: ast.expr) -> Iterator[str]:
    """The text, or both texts of a choice between two, that an expression is made of."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from literals(node.body)
        yield from literals(node.orelse)


def called(node: ast.Call) -> str:
    """The last name of what is called, in small letters."""
    function = node.func
    if isinstance(function, ast.Attribute):
        return function.attr.lower()
    return function.id.lower() if isinstance(function, ast.Name) else ""


def rules_named(tree: ast.AST, *, judging: bool = False) -> Iterator[str]:
    """Every rule that code names: `rule=…`, `x.rule == …`, the first text given to what makes a finding.

    In the modules that judge, that is the first text of any call, where it is spelled as a rule is.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                if keyword.arg == "rule":
                    yield from literals(keyword.value)
            if node.args and ("finding" in called(node) or called(node) == "found"):
                yield from literals(node.args[0])
            elif node.args and judging and called(node) not in CODECS:
                yield from filter(RULE_NAME.fullmatch, literals(node.args[0]))
        elif isinstance(node, ast.Compare) and isinstance(node.left, ast.Attribute) and node.left.attr == "rule":
            for right in node.comparators:
                yield from literals(right)


# The step of an undo mends no fault, and says so.
TAKEN_BACK = "undo"


def test_cases_are_found() -> None:
    assert EXPECTED


@pytest.mark.parametrize("path", EXPECTED, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_rule_of_a_case_is_in_the_table(path: Path) -> None:
    assert set(rules_in(orjson.loads(path.read_bytes()))) <= set(RULES)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_rule_that_code_names_is_in_the_table(path: Path) -> None:
    judging = path.parent.name == "rules"
    named = set(rules_named(ast.parse(path.read_bytes()), judging=judging))
    assert named <= {*RULES, TAKEN_BACK}


def test_the_scan_finds_what_the_judging_modules_say() -> None:
    judging = [path for path in SOURCES if path.parent.name == "rules"]
    named = {rule for path in judging for rule in rules_named(ast.parse(path.read_bytes()), judging=True)}
    assert {"torn-tail", "unanswered-call", "segment-gap"} <= named


def test_the_scan_sees_the_ways_in_which_code_names_a_rule() -> None:
    code = """
Finding(rule="a-one", severity="error")
self.finding("a-two" if x else "a-three", 1)
if found.rule == "a-four": pass
found("a-five", place)
self.report("a-six", "some text")
other("some text")
"""
    named = {"a-one", "a-two", "a-three", "a-four", "a-five"}
    assert set(rules_named(ast.parse(code))) == named
    assert set(rules_named(ast.parse(code), judging=True)) == named | {"a-six"}


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
def test_a_row_is_whole(rule: Rule) -> None:
    assert RULE_NAME.fullmatch(rule.name)
    assert RULES[rule.name] is rule
    assert rule.severity in SEVERITIES
    assert rule.group
    assert rule.what[0].isupper() or rule.what[0] == "`"
    assert rule.what.endswith(".")
    assert len(rule.what) > 40
    assert bool(rule.repair) == bool(rule.safety)
    assert rule.safety in ("", *get_args(Safety))
    assert all(PROVIDER_RULE.fullmatch(name) for name in rule.provider_rules)
    assert len(set(rule.provider_rules)) == len(rule.provider_rules)


def test_no_two_rows_say_the_same() -> None:
    assert len({rule.what for rule in RULES.values()}) == len(RULES)


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
def test_explain_says_everything_a_row_knows(rule: Rule) -> None:
    text = explain(rule.name)
    assert text.splitlines()[0].startswith(rule.name)
    for part in (rule.severity, rule.what, rule.repair, rule.safety, *rule.provider_rules):
        assert part in text
    assert text.isprintable() or set(text) - {"\n"} <= {c for c in text if c.isprintable()}


def test_explain_says_when_nothing_is_repaired() -> None:
    assert "Repair: none" in explain("segment-gap")
    assert "Safety" not in explain("segment-gap")


def test_explain_of_an_unknown_rule_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="torn-tail") as caught:
        explain("torntail")
    assert caught.value.exit_code == 2
    with pytest.raises(UsageError, match="no rule"):
        explain("zzz")
