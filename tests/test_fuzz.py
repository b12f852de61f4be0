"""Mutated lines and files: never an exception, and a line is called damaged just when orjson refuses it.

`JARVIS_OPS_FUZZ_LINES` sets how many lines are tried (200,000 unless set).
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterable
from pathlib import Path

import orjson
import pytest

from jarvis_ops.model.finding import Finding
from jarvis_ops.model.settings import Settings
from tests.generate import NOW
from tests.in_process import findings_in
from tests.mutate import FILE_MUTATIONS, Mutation, good_lines, mutated_file

LINES = int(os.environ.get("JARVIS_OPS_FUZZ_LINES", "200000"))
LINES_A_FILE = 2_500
FILES = max(LINES // LINES_A_FILE, 1)
# The findings that say: this line is not one strict JSON object.
DAMAGE = {"torn-tail", "glued-lines", "nul-run", "split-line", "bad-utf8", "lone-surrogate", "bad-line"}
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def strict(line: bytes) -> bool:
    """Whether orjson reads the line as one object."""
    try:
        return isinstance(orjson.loads(line), dict)
    except orjson.JSONDecodeError:
        return False


def refuse(name: str) -> None:
    raise ValueError(name)


def beyond_a_double(line: bytes) -> bool:
    """Whether only the size of a number speaks against the line: Python's reader, made as strict, takes it."""
    try:
        value = json.loads(line.decode(), parse_constant=refuse)
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict)


def damaged_lines(findings: Iterable[Finding]) -> set[int]:
    """The lines that a verdict calls damaged."""
    lines: set[int] = set()
    for finding in findings:
        if finding.rule in DAMAGE:
            assert finding.position.line is not None
            lines.update(finding.facts.get("lines", [finding.position.line]))
    return lines


def disagreements(content: bytes, findings: Iterable[Finding]) -> list[tuple[int, bytes]]:
    """The lines on which the verdict and orjson differ."""
    found = damaged_lines(findings)
    lines = content.removeprefix(BYTE_ORDER_MARK).split(b"\n")
    wrong = []
    for number, line in enumerate(lines, start=1):
        blank = not line.strip(b" \t\r")
        if (number in found) != (not blank and not strict(line)) and not beyond_a_double(line):
            wrong.append((number, line))
    return wrong


def judged(folder: Path, content: bytes, kind: str) -> list[Finding]:
    """The findings of a store whose one log has this content."""
    (folder / "talk.jsonl").write_bytes(content)
    (folder / "talk.meta.json").write_text('{"id":"talk"}')
    return findings_in(folder, Settings(now=NOW, dialect=kind, scope="full"))


@pytest.mark.parametrize("number", range(FILES))
def test_mutated_lines_are_judged_as_strictly_as_orjson_does(number: int, tmp_path: Path) -> None:
    rng = random.Random(number)
    kind = ("jarvis", "claude_code")[number % 2]
    content = mutated_file(rng, kind, LINES_A_FILE, share=1.0 if number % 5 else 0.1)
    findings = judged(tmp_path, content, kind)
    assert disagreements(content, findings)[:5] == []


@pytest.mark.parametrize("mutation", FILE_MUTATIONS, ids=lambda mutation: mutation.__name__)
@pytest.mark.parametrize("kind", ["jarvis", "claude_code"])
def test_mutated_files_are_judged_as_strictly_as_orjson_does(mutation: Mutation, kind: str, tmp_path: Path) -> None:
    rng = random.Random(f"{mutation.__name__} {kind}")
    for _ in range(30):
        content = b"\n".join(good_lines(rng, kind, rng.randrange(60))) + b"\n"
        for _ in range(rng.randint(1, 3)):
            content = mutation(rng, content)
        assert disagreements(content, judged(tmp_path, content, kind))[:5] == []


@pytest.mark.parametrize("nest", [b"[", b'{"a":', b'[{"a":', b'{"a":['])
def test_brackets_without_end_are_judged(nest: bytes, tmp_path: Path) -> None:
    line = b'{"role":"user","content":' + nest * 20_000
    content = line + b"\n" + b'{"role":"user","content":"x"}\n'
    findings = judged(tmp_path, content, "jarvis")
    assert disagreements(content, findings) == []
    assert damaged_lines(findings) == {1}
