"""The playbook of `migrate-seq` works: typed from top to bottom, each command answers as the page says."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.documents import ROOT, Reader, clone, exchanges

PAGE = ROOT / "playbooks" / "migrate-seq.md"
ADDRESS = "postgresql://jarvis@db.example/jarvis"
AMOUNT = re.compile(r"\d+(\.\d+)? (ms|s|bytes|kB|MB)\b")


def plain(text: str, dsn: str) -> str:
    """An answer without what differs from one run to the next."""
    return AMOUNT.sub(r"N \2", text.replace(dsn, ADDRESS))


def test_the_playbook_can_be_followed(
    database: str, pg_programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DSN", database)
    monkeypatch.setenv("PATH", f"{pg_programs}{os.pathsep}{os.environ['PATH']}")
    reader = Reader(clone(tmp_path))
    typed = list(exchanges(PAGE))
    assert typed
    for exchange in typed:
        said, expected = reader.types(exchange)
        assert plain(said, database) == plain(expected, database), exchange.command
