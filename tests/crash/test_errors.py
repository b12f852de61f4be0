"""Every call of the disk may fail in every way: then all is as before, or as after, and there is one clear sentence."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from jarvis_ops.errors import OpsError
from jarvis_ops.model.plan import Change
from jarvis_ops.stores.jsonl.ours import FOLDER
from jarvis_ops.stores.jsonl.store import JsonlStore
from jarvis_ops.stores.jsonl.writer import Writer
from tests.crash.faulty import ERRORS, FaultyDisk, ShortDisk, failing
from tests.crash.stories import conversation_in, healing, healing_sealed
from tests.crash.test_kills import Ask, ask, check, fresh, start, state, tree
from tests.stores.changes import LATER, RUN

__all__ = ["ask", "fresh"]  # fixtures

NAMES = ("heal", "undo", "heal-sealed")


def change_for(name: str, folder: Path) -> tuple[Change, str]:
    if name == "heal":
        return healing(os.fspath(folder)), RUN
    if name == "heal-sealed":
        return healing_sealed(os.fspath(folder)), RUN
    store = JsonlStore(os.fspath(folder))
    (run,) = store.runs(store.inventory())
    return store.undoing(run, conversation_in(os.fspath(folder))), LATER


def apply_on(disk: FaultyDisk, name: str, folder: Path) -> str:
    """What was said; "" when nothing was."""
    change, run = change_for(name, folder)
    try:
        Writer(disk).apply(change, run)
    except OpsError as error:
        return error.message
    return ""


def hidden(folder: Path) -> list[str]:
    return [path for path in tree(folder) if not path.startswith(FOLDER) and os.path.basename(path).startswith(".")]


@pytest.mark.parametrize("error", [*ERRORS, "short"])
@pytest.mark.parametrize("name", NAMES)
def test_a_call_that_fails(fresh: Callable[[str], Path], name: str, error: str) -> None:
    watched = FaultyDisk(lambda _, __: None)
    assert apply_on(watched, name, fresh(name)) == ""
    for number in range(len(watched.calls)):
        folder = fresh(name)
        disk = ShortDisk(number) if error == "short" else failing(number, ERRORS[error])
        said = apply_on(disk, name, folder)
        where = f"{number}:{disk.calls[number]}, after which {said or 'nothing'} was said"
        found = state(folder, name)
        assert said or found == "after", where
        assert "\n" not in said
        assert "Errno" not in said
        if error == "short":
            assert not said, where
        assert not hidden(folder), where
        check(folder, name)
        shutil.rmtree(folder)


def test_a_recovery_that_fails(ask: Ask, fresh: Callable[[str], Path], full: bool) -> None:
    calls = int(ask("heal", fresh("heal")))
    for last in range(20, calls, 3 if full else 12):
        for error in ERRORS if full else ("EIO", "ENOSPC"):
            number, count = 0, 1
            while number < count:
                folder = fresh("heal")
                assert ask("heal", folder, last=last) == "killed"
                disk = failing(number, ERRORS[error])
                try:
                    Writer(disk).recover(conversation_in(os.fspath(folder)))
                except OpsError as said:
                    assert "Errno" not in said.message  # noqa: PT017 - it need not be raised
                state(folder, "heal")
                check(folder, "heal")
                count = max(count, len(disk.calls))
                number += 1 if full else 5
                shutil.rmtree(folder)


def test_after_a_flush_that_failed_there_is_no_other_try(fresh: Callable[[str], Path]) -> None:
    watched = FaultyDisk(lambda _, __: None)
    apply_on(watched, "heal", fresh("heal"))
    for number in [each for each, call in enumerate(watched.calls) if call == "flush"]:
        disk = failing(number, ERRORS["EIO"])
        folder = fresh("heal")
        assert apply_on(disk, "heal", folder)
        assert "flush" not in disk.calls[number + 1 :]
        start(folder)
