"""Reads the pages of the project, and types their commands where a reader would."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PLAYBOOKS = sorted((ROOT / "playbooks").glob("*.md"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
EXCHANGE = re.compile(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
RUN = re.compile(r"\b\d{8}T\d{6}Z-[0-9a-f]{4}\b")


class Block(NamedTuple):
    """A fenced block of a page: the word behind the fence, and what is inside."""

    kind: str
    content: str


class Exchange(NamedTuple):
    """A line of shell, and the answer that a page shows below it."""

    command: str
    answer: str


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def blocks(page: Path) -> list[Block]:
    return [Block(*match) for match in BLOCK.findall(text_of(page))]


def inline(page: Path) -> set[str]:
    """Everything that stands between backticks in running text."""
    return set(INLINE.findall(BLOCK.sub("", text_of(page))))


def exchanges(page: Path) -> Iterator[Exchange]:
    """What is typed and answered on a page, from top to bottom."""
    for each in blocks(page):
        if each.kind == "console":
            yield from (Exchange(*match) for match in EXCHANGE.findall(each.content))


def clone(folder: Path) -> Path:
    """A folder with the samples as a clone has them, and with the command where the README installs it."""
    root = folder / "clone"
    shutil.copytree(ROOT / "sample_data", root / "sample_data", ignore=shutil.ignore_patterns("__pycache__", ".*"))
    for path in root.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    command = root / ".venv" / "bin" / "jarvis-ops"
    command.parent.mkdir(parents=True)
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m jarvis_ops "$@"\n')
    command.chmod(0o755)
    return root


def surroundings(root: Path) -> dict[str, str]:
    """An environment in which nothing of this machine is set."""
    mine = ("JARVIS", "PIPPA", "FORCE_", "XDG_", "SESSIONS_DIR")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(mine)}
    path = f"{root / '.venv' / 'bin'}{os.pathsep}{kept['PATH']}"
    plain = {"COLUMNS": "80", "TERM": "xterm", "NO_COLOR": "1"}
    return {**kept, "PATH": path, "PYTHONPATH": str(ROOT), "HOME": str(root), **plain}


class Reader:
    """Types one command after the other in a clone. A run has another name here than on the page."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._runs: dict[str, str] = {}

    def types(self, exchange: Exchange) -> tuple[str, str]:
        """What is answered, complaints included, and what the page says."""
        done = subprocess.run(
            ["sh", "-c", self._here(exchange.command)], cwd=self._root, env=surroundings(self._root),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, text=True,
        )  # fmt: skip
        for on_page, here in zip(RUN.findall(exchange.answer), RUN.findall(done.stdout), strict=False):
            self._runs.setdefault(on_page, here)
        return done.stdout, self._here(exchange.answer)

    def _here(self, text: str) -> str:
        return RUN.sub(lambda match: self._runs.get(match[0], match[0]), text)
