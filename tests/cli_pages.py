"""Writes `docs/cli.md`, the help pages of all commands: `python -m tests.cli_pages` from the root of the repository."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from jarvis_ops.cli.app import app

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "cli.md"
INTRODUCTION = """\
# The command line

What `--help` says, for each command. This page is made by `python -m tests.cli_pages`, and a test compares the two.
"""


def commands() -> list[str]:
    """The names of all commands, as the program lists them."""
    return [command.name for command in app.registered_commands if command.name is not None]


def help_of(*command: str) -> str:
    """What a command says to `--help`, 100 columns wide."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JARVIS", "FORCE_"))}
    done = subprocess.run(
        [sys.executable, "-m", "jarvis_ops", *command, "--help"],
        cwd=ROOT,
        env={**kept, "COLUMNS": "100", "NO_COLOR": "1"},
        capture_output=True,
        check=True,
        text=True,
    )
    return "\n".join(line.rstrip() for line in done.stdout.splitlines())


def page(*command: str) -> str:
    """The section of one command; without a name, that of the program."""
    return f"\n## {' '.join(('jarvis-ops', *command))}\n\n```text\n{help_of(*command)}\n```\n"


def pages() -> str:
    """The whole page."""
    return INTRODUCTION + page() + "".join(page(command) for command in commands())


if __name__ == "__main__":
    PAGES.parent.mkdir(exist_ok=True)
    PAGES.write_text(pages(), encoding="utf-8")
