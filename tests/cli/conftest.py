"""A store to look at, and the real command in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.cli.made import conversation, damage, talk

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "jarvis_ops"]
Run = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment in which nothing of this machine is set, with a home of its own."""
    home = tmp_path / "home"
    home.mkdir()
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("JARVIS", "PIPPA", "XDG_", "COLUMNS")) and name not in (
            "SESSIONS_DIR", "POSTGRES_DSN", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE",
        )
    }  # fmt: skip
    return {**kept, "HOME": str(home), "PYTHONPATH": str(ROOT), "TERM": "xterm-256color"}


@pytest.fixture
def run(environment: dict[str, str], tmp_path: Path) -> Run:
    """Runs the command to its end."""

    def start(
        *arguments: str, env: Mapping[str, str] | None = None, stdin: bytes = b""
    ) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [*COMMAND, *arguments],
            input=stdin,
            capture_output=True,
            timeout=120,
            check=False,
            cwd=tmp_path,
            env={**environment, **(env or {})},
        )

    return start


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with one conversation that is whole and one that is damaged."""
    folder = tmp_path / "sessions"
    folder.mkdir(mode=0o700)
    conversation(folder, "good", *talk())
    conversation(folder, "broken", *damage())
    return folder


@pytest.fixture
def healthy(tmp_path: Path) -> Path:
    """A store with nothing wrong in it."""
    folder = tmp_path / "healthy"
    folder.mkdir(mode=0o700)
    conversation(folder, "good", *talk())
    return folder
