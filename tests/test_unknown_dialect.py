"""Files of a form that nobody knows: named and left alone, a failure only where they were asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_ops.model.report import Outcome
from jarvis_ops.model.settings import Accept, Settings
from jarvis_ops.operations.verify import verify
from jarvis_ops.stores.open import open_store
from tests.generate import NOW

STRANGER = b'{"type":"session","version":3,"id":"x","cwd":"/"}\n{"type":"message","message":{"role":"user"}}\n'
TALK = b'{"id":"m1","role":"user","content":"hi"}\n{"id":"m2","role":"assistant","content":"hello"}\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "stranger.jsonl").write_bytes(STRANGER)
    (tmp_path / "talk.jsonl").write_bytes(TALK)
    return tmp_path


def judged(folder: Path, *, whole: bool = True, accept: tuple[Accept, ...] = (), dialect: str | None = None) -> Outcome:
    """What comes of the stranger."""
    store = open_store(str(folder))
    inventory = store.inventory()
    chosen = [one for one in inventory.conversations if whole or one.id == "stranger"]
    settings = Settings(now=NOW, accept=accept, dialect=dialect)
    outcomes = verify(store, inventory, chosen, settings, whole=whole, executor=None, advance=lambda _: None)
    return next(outcome for outcome in outcomes if outcome.conversation == "stranger")


def test_in_a_sweep_it_is_left_alone(folder: Path) -> None:
    outcome = judged(folder)
    assert (outcome.status, outcome.errors, outcome.records) == ("skipped", [], 0)
    assert [(one.rule, one.severity) for one in outcome.findings] == [("unknown-dialect", "warning")]
    assert (folder / "stranger.jsonl").read_bytes() == STRANGER


def test_asked_for_it_is_a_failure(folder: Path) -> None:
    outcome = judged(folder, whole=False)
    assert (outcome.status, [one.code for one in outcome.errors]) == ("failed", ["unknown-dialect"])


@pytest.mark.parametrize("whole", [True, False])
def test_accepted_it_is_nothing(folder: Path, whole: bool) -> None:
    outcome = judged(folder, whole=whole, accept=(Accept(conversation="stranger", rule="unknown-dialect"),))
    assert (outcome.status, outcome.errors, outcome.findings, outcome.accepted) == ("clean", [], [], 1)


def test_a_dialect_can_be_forced(folder: Path) -> None:
    outcome = judged(folder, dialect="jarvis")
    assert outcome.dialect == "jarvis"
    assert outcome.records == 2


def test_metadata_beside_it_makes_it_a_conversation_of_jarvis(folder: Path) -> None:
    (folder / "stranger.meta.json").write_text('{"id":"stranger"}')
    assert judged(folder).dialect == "jarvis"
