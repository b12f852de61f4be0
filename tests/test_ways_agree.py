"""The fast way, alone or shared, and the exact way give one verdict: on healthy, faulty, and mutated conversations."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from jarvis_ops.model.settings import Limits, Settings
from jarvis_ops.model.verdict import Verdict
from jarvis_ops.operations import portions
from jarvis_ops.operations.judge import judge
from jarvis_ops.operations.screen import screened
from jarvis_ops.operations.surroundings import look_around
from jarvis_ops.stores.base import BEGINNING
from jarvis_ops.stores.open import open_store
from tests.faults_jarvis import ANYWHERE, LAST
from tests.generate import NOW, JarvisWriter, Line, cuttable, write_jarvis
from tests.mutate import insert, mutated_file, repeat_key, replace_value

SETTINGS = Settings(now=NOW, dialect="jarvis", limits=Limits(long_line=3_000))
SEPARATOR = re.compile(rb"\xe2\x80\xa8|\\u2028")
PROFILES = (None, "jarvis", "pippa")


@pytest.fixture(autouse=True)
def small_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let conversations be shared that are far too short for it to pay."""
    monkeypatch.setattr(portions, "SMALLEST", 300)


def both_ways(folder: Path, settings: Settings) -> tuple[bool, Verdict, Verdict]:
    """Whether the screen calls the one conversation of a store clean, and both verdicts on it."""
    store = open_store(str(folder))
    inventory = store.inventory()
    around = look_around(store, inventory, settings)
    (conversation,) = inventory.conversations
    with store.open(conversation) as snapshot:
        screen = screened(snapshot, settings, begin=BEGINNING, end=None)
        clean = screen is not None and screen.settled()
        fast = judge(store, conversation, snapshot, settings, around)
        exact = judge(store, conversation, snapshot, settings, around, screen=False)
        with ThreadPoolExecutor(1) as executor:
            shared = judge(store, conversation, snapshot, settings, around, hands=(executor, 3))
        assert shared == fast
    return clean, fast, exact


def compare(folder: Path, settings: Settings = SETTINGS) -> bool:
    """Whether the screen calls a store's conversation clean; fails where the two ways differ in anything."""
    clean, fast, exact = both_ways(folder, settings)
    assert fast == exact
    return clean


def healthy(rng: random.Random) -> list[Line]:
    """A healthy conversation; three in four are without the separators that the screen leaves to the exact way."""
    lines = JarvisWriter(rng).turns(rng.randrange(1, 8)).lines
    if rng.random() < 0.25:
        return lines
    return [Line(SEPARATOR.sub(b"-", line.raw), line.starts_turn) for line in lines]


def some_cuts(rng: random.Random, lines: Sequence[Line]) -> list[int]:
    places = cuttable(lines)
    return rng.sample(places, rng.randint(0, len(places)))


def test_healthy_conversations(tmp_path: Path) -> None:
    clean = 0
    for seed in range(400):
        rng = random.Random(seed)
        lines = healthy(rng)
        folder = tmp_path / str(seed)
        write_jarvis(folder, lines, some_cuts(rng, lines))
        clean += compare(folder, Settings(now=NOW, profile=PROFILES[seed % 3]))
    assert clean > 100, "the screen has to know health when it sees it"


@pytest.mark.parametrize("fault", [*LAST, *ANYWHERE], ids=lambda fault: fault.__name__)
def test_faulty_conversations(fault: Callable[[JarvisWriter], object], tmp_path: Path) -> None:
    for seed in range(40):
        rng = random.Random(seed)
        writer = JarvisWriter(rng, marks=seed % 2 == 0).turns(rng.randrange(1, 4))
        fault(writer)
        writer.turns(0 if fault in LAST else rng.randrange(3))
        folder = tmp_path / str(seed)
        write_jarvis(folder, writer.lines, some_cuts(rng, writer.lines))
        compare(folder)


def drop(rng: random.Random, lines: list[bytes]) -> None:
    del lines[rng.randrange(len(lines))]


def swap(rng: random.Random, lines: list[bytes]) -> None:
    first, second = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[first], lines[second] = lines[second], lines[first]


def swap_neighbours(rng: random.Random, lines: list[bytes]) -> None:
    at = rng.randrange(len(lines))
    lines[at - 1], lines[at] = lines[at], lines[at - 1]


def repeat(rng: random.Random, lines: list[bytes]) -> None:
    lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))


def edit(rng: random.Random, lines: list[bytes]) -> None:
    at = rng.randrange(len(lines))
    mutation = rng.choice((insert, repeat_key, replace_value, replace_value))
    lines[at] = mutation(rng, lines[at].rstrip(b"\n") or b"{}") + b"\n"


def borrow_id(rng: random.Random, lines: list[bytes]) -> None:
    """A record gets the number of another one in all its ids."""
    at = rng.randrange(len(lines))
    lines[at] = lines[at].replace(b'"id":"m', b'"id":"m1', 1)


@pytest.mark.parametrize("start", range(0, 3_000, 300))
def test_slightly_mutated_conversations(start: int, tmp_path: Path) -> None:
    for seed in range(start, start + 300):
        rng = random.Random(seed)
        lines = [line.raw for line in healthy(rng)]
        for _ in range(rng.randint(1, 2)):
            rng.choice((drop, swap, swap_neighbours, repeat, edit, edit, borrow_id))(rng, lines)
            lines = lines or [b"\n"]
        profile = PROFILES[seed % 3]
        write_jarvis(tmp_path, [Line(line) for line in lines])
        compare(tmp_path, Settings(now=NOW, dialect="jarvis", profile=profile, scope=rng.choice(("replay", "full"))))


@pytest.mark.parametrize("seed", range(12))
def test_badly_mutated_files(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    content = mutated_file(rng, "jarvis", 200, share=rng.choice((0.005, 0.02, 1.0)))
    write_jarvis(tmp_path, [])
    (tmp_path / "talk.jsonl").write_bytes(content)
    compare(tmp_path)
