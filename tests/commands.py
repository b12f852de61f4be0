"""Runs the real command as a user would, and reads its JSON report."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent


class Answer(NamedTuple):
    """What a command answered: its exit code, its JSON report, and what it said on standard error."""

    code: int
    report: dict[str, Any]
    complaints: str

    @property
    def findings(self) -> list[dict[str, Any]]:
        return [finding for outcome in self.report["outcomes"] for finding in outcome.get("findings", [])]

    @property
    def steps(self) -> list[dict[str, Any]]:
        return [step for outcome in self.report["outcomes"] for step in outcome.get("steps", [])]

    @property
    def run(self) -> str:
        """The run of the first conversation that was changed; "" if none was."""
        return next((str(outcome["run"]) for outcome in self.report["outcomes"] if outcome.get("run")), "")


def command(name: str, *options: str, store: Path, home: Path) -> Answer:
    """Run a command on a store. `home` keeps the settings of whoever runs the tests out."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("JARVIS", "PIPPA", "XDG_"))}
    environment = kept | {"HOME": str(home), "NO_COLOR": "1"}
    line = [sys.executable, "-m", "jarvis_ops", name, *options, "--store", str(store), "--output", "json"]
    done = subprocess.run(line, cwd=ROOT, env=environment, capture_output=True, check=False)
    complaints = done.stderr.decode(errors="replace")
    assert "Traceback" not in complaints, complaints
    return Answer(done.returncode, json.loads(done.stdout), complaints)


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file of a store save our own, with its bytes and its mode."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and ".jarvis-ops" not in path.parts)
    return {str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mode) for path in files}
