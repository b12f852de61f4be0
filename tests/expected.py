"""Runs the real command on a store and compares its findings with an `expected.json`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
# What an expected finding says beyond its place; compared with the finding's own facts where it states them.
FACTS = ("torn_bytes", "records", "first_line", "cwds", "bytes", "value", "call_line", "parent", "session", "lines")


def verify(store: Path | str, *options: str, home: Path, config: Path | None = None) -> tuple[int, dict[str, Any]]:
    """Run `verify-pairs` as a user would; give its exit code and its JSON report.

    `home` keeps settings out, save those of the file `config`.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JARVIS", "PIPPA", "XDG_"))}
    environment = kept | {"HOME": str(home), "NO_COLOR": "1"}
    if config is not None:
        environment["JARVIS_OPS_CONFIG"] = str(config)
    command = [sys.executable, "-m", "jarvis_ops", "verify-pairs", "--store", str(store), "--output", "json", *options]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False)
    assert b"Traceback" not in done.stderr, done.stderr.decode(errors="replace")
    return done.returncode, json.loads(done.stdout)


def found(report: dict[str, Any]) -> list[dict[str, Any]]:
    """All findings of a report."""
    return [finding for outcome in report["outcomes"] for finding in outcome["findings"]]


def unexpected(findings: list[dict[str, Any]], expected: list[dict[str, Any]]) -> list[str]:
    """Everything in which findings differ from what was expected; infos that nobody asked about are free."""
    left = list(findings)
    problems = []
    for wanted in expected:
        match = next((finding for finding in left if agrees(finding, wanted)), None)
        if match is None:
            problems.append(f"missing: {wanted}")
        else:
            left.remove(match)
    problems += [f"too much: {finding}" for finding in left if finding["severity"] != "info"]
    return problems


def agrees(finding: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Whether a finding is the wanted one: rule, severity, file, line, id, and each fact that both of them state."""
    position = finding["position"]
    if (finding["rule"], finding["severity"]) != (wanted["rule"], wanted["severity"]):
        return False
    if position["file"].rstrip("/") != wanted["file"].rstrip("/"):
        return False
    lines = wanted.get("lines") or [wanted.get("line")]
    if lines != [None] and position.get("line") not in lines:
        return False
    if "id" in wanted and wanted["id"] not in (finding.get("record_id"), finding.get("call_id")):
        return False
    facts = finding.get("facts", {})
    return all(facts[name] == wanted[name] for name in FACTS if name in wanted and name in facts)
