"""Who has no database never waits for what it takes to speak with one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.expected import ROOT


@pytest.mark.parametrize(
    "arguments",
    [("--help",), ("verify-pairs", "--store", "sample_data/healthy"), ("sessions", "--store", "sample_data/healthy")],
)
def test_nothing_of_a_database_is_loaded_for_files(arguments: tuple[str, ...], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "jarvis_ops", *arguments],
        cwd=ROOT, env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}, capture_output=True, check=False, text=True,
    )  # fmt: skip
    assert done.returncode == 0
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "jarvis_ops.cli.app" in loaded
    assert not [name for name in loaded if name.startswith(("psycopg", "jarvis_ops.stores.postgres"))]
