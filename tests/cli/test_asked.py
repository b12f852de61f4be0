"""What a person reads about repairs that are made only when their rule is named."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, Run
from tests.cli.made import conversation, talk


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    store = tmp_path / "claude"
    shutil.copytree(ROOT / "sample_data/foreign-record", store)
    for log in store.rglob("*.jsonl"):
        log.chmod(0o600)
    return store


@pytest.fixture
def index(tmp_path: Path) -> Path:
    store = tmp_path / "claude"
    shutil.copytree(ROOT / "sample_data/index-stale", store)
    return store


def said(run: Run, *arguments: str, code: int) -> str:
    done = run(*arguments)
    assert done.returncode == code, done.stderr
    return done.stdout.decode() + done.stderr.decode()


def test_a_move_is_held_back_until_it_is_named(run: Run, foreign: Path) -> None:
    text = said(run, "heal", "--all", "--store", str(foreign), code=0)
    assert "(held back)" in text
    assert "add --rule foreign-record" in text
    text = said(run, "heal", "--all", "--rule", "foreign-record", "--store", str(foreign), code=1)
    assert "it goes behind projects/-home-mina-garden/20000000-0000-4000-8000-000000000002.jsonl:5" in text
    assert "Lines: 12 kept, 1 moved, 1 added." in text
    assert "2 steps planned in 2 conversations" in text
    text = said(run, "heal", "--all", "--rule", "foreign-record", "--apply", "--store", str(foreign), code=0)
    assert "2 steps taken in 2 conversations" in text


def test_the_index_is_the_store_itself(run: Run, index: Path) -> None:
    options = ("heal", "--all", "--rule", "index-stale", "--store", str(index))
    text = said(run, *options, code=1)
    assert "sessions-index.json:1: asked set-aside index-stale" in text
    assert "1 step planned in the store itself" in text
    assert "To carry it out" in text
    assert "none is made up" in text
    text = said(run, *options, "--apply", code=0)
    assert "1 step taken in the store itself" in text
    assert "jarvis-ops undo" in text
    assert "nothing to mend" in said(run, *options, "--apply", code=0)


@pytest.mark.parametrize(
    "chosen", [("10000000-0000-4000-8000-000000000001",), ("--only", "*"), ("--idle-for", "1d")], ids=" ".join
)
def test_the_index_needs_all(run: Run, index: Path, chosen: tuple[str, ...]) -> None:
    text = said(run, "heal", *chosen, "--rule", "index-stale", "--store", str(index), code=2)
    assert "--rule 'index-stale' is about the store as a whole, so it needs --all" in text


def test_a_mode_is_one_of_its_conversation(run: Run, tmp_path: Path) -> None:
    store = tmp_path / "sessions"
    store.mkdir()
    log = conversation(store, "open", *talk())
    log.chmod(0o644)
    options = ("heal", "open", "--rule", "file-mode", "--store", str(store))
    text = said(run, *options, code=1)
    assert "open.jsonl: asked set-mode file-mode others may read it (mode 0644); it gets mode 0600" in text
    said(run, *options, "--apply", code=0)
    assert log.stat().st_mode & 0o777 == 0o600
    report = json.loads(run("runs", "--store", str(store), "--json").stdout)
    assert [step["step"] for step in report["outcomes"][0]["steps"]] == ["set-mode"]
    text = said(run, "undo", report["outcomes"][0]["run"], "--apply", "--store", str(store), code=0)
    assert "0644, is put back" in text
    assert log.stat().st_mode & 0o777 == 0o644


def test_an_accepted_mode_stays(run: Run, tmp_path: Path) -> None:
    store = tmp_path / "sessions"
    store.mkdir()
    conversation(store, "open", *talk()).chmod(0o644)
    settings = tmp_path / "home/.config/jarvis-ops/config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('[[accept]]\nrule = "file-mode"\n')
    said(run, "heal", "--all", "--rule", "file-mode", "--apply", "--store", str(store), code=0)
    assert (store / "open.jsonl").stat().st_mode & 0o777 == 0o644
