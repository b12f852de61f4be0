"""Measures `heal`: `python -m tests.bench.heal` from the root of the repository. See README.md here."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from tests.bench import logs
from tests.bench.figures import MEGABYTE, Figure, show
from tests.bench.processes import median, run, verify
from tests.generate import START, Json, encode

SEGMENT = 8 << 20
COPY = """
import os, shutil, sys
shutil.copyfile(sys.argv[1], sys.argv[2])
with open(sys.argv[2], "rb") as file:
    os.fsync(file.fileno())
"""


def broken_turn() -> bytes:
    """A turn whose call has no result, long over, and one behind it."""
    call = {"id": "lost_call", "name": "read", "arguments": {"path": "notes/lost.md"}}
    records: tuple[Json, ...] = (
        {"role": "user", "content": "Read the lost note, please."},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "user", "content": "Are you there?"},
        {"role": "assistant", "content": "Yes."},
    )
    fields = {"timestamp": START, "turn_id": "lost"}
    return b"".join(encode({"id": f"lost-{step}", **record, **fields}) for step, record in enumerate(records))


def single(folder: Path, size: int) -> Path:
    """A store of one log with a broken turn in its middle; give the log."""
    log = logs.store(folder, "single", logs.short(), size // 2)
    with log.open("ab") as file:
        file.write(broken_turn())
        turns = islice(logs.short(), 1 << 40)
        for turn in renamed(turns):
            if file.tell() >= size:
                break
            file.write(turn)
    return log


def renamed(turns: Iterator[bytes]) -> Iterator[bytes]:
    """The same turns under other ids, so that no record stands twice."""
    for turn in turns:
        yield turn.replace(b'"id":"', b'"id":"b').replace(b'"tool_call_id":"', b'"tool_call_id":"b')


def segmented(folder: Path, size: int) -> Path:
    """A store of one conversation in segments, whose live file ends with a broken turn; give the live file."""
    parts = folder / "long.segments"
    parts.mkdir(parents=True)
    turns, written, number = logs.short(), 0, 0
    while written < size:
        number += 1
        path = parts / f"{number:06}.jsonl"
        with path.open("wb") as file:
            begin(file, number)
            while file.tell() < min(SEGMENT, size - written):
                file.write(next(turns))
        written += path.stat().st_size
    live = folder / "long.jsonl"
    with live.open("wb") as file:
        begin(file, number + 1)
        for turn in islice(turns, 1_000):
            file.write(turn)
        file.writelines(broken_turn().splitlines(keepends=True)[:2])
    (folder / "long.meta.json").write_bytes(encode({"id": "long", "state": "idle"}))
    return live


def begin(file: BinaryIO, number: int) -> None:
    """The marker at the beginning of a file that is not the first."""
    if number > 1:
        named = {"seq": number - 1, "segment": f"{number - 1:06}.jsonl"}
        file.write(encode({"type": "pippa_segment_sealed", **named, "timestamp": START}))


def heal_once(store: Path, live: Path, *options: str) -> tuple[float, float]:
    """Heal a store, and put it back as it was; the seconds and the peak memory (MiB)."""
    kept = live.with_suffix(".kept")
    shutil.copyfile(live, kept)
    used = run(
        sys.executable, "-m", "jarvis_ops", "heal", "--all", "--apply", "--assume-idle", "--store", str(store), "-q",
        *options,
    )  # fmt: skip
    if live.read_bytes() == kept.read_bytes():
        raise SystemExit("nothing was mended")
    kept.replace(live)
    shutil.rmtree(store / ".jarvis-ops")
    return used.seconds, used.mebibytes


def missing_result(folder: Path, size: int, rounds: int) -> list[Figure]:
    """One missing result, against verifying and against a copy that reaches the disk."""
    log = single(folder / "single", size)
    healed, verified, copied, peak = [], [], [], 0.0
    for _ in range(rounds):
        verified.append(verify(log.parent, "serial", code=1))
        copied.append(run(sys.executable, "-c", COPY, str(log), str(folder / "copy")))
        seconds, mebibytes = heal_once(log.parent, log)
        healed.append(seconds)
        peak = max(peak, mebibytes)
    ours = sorted(healed)[len(healed) // 2]
    bound = 3 * median(verified).seconds + 1.5 * median(copied).seconds
    log.unlink()
    return [
        Figure("one missing result: heal --apply", ours, "s"),
        Figure("one missing result: verify-pairs, serial", median(verified).seconds, "s"),
        Figure("one missing result: copy and flush", median(copied).seconds, "s"),
        Figure("heal against 3 x verify + 1.5 x copy", ours / bound, "", ceiling=1),
        Figure("one missing result: peak memory", peak, "MiB", ceiling=140),
    ]


def last_turn(folder: Path, sizes: tuple[int, int], rounds: int) -> list[Figure]:
    """The last turn of a short conversation and of one a hundred times as long."""
    lives = [segmented(folder / f"segmented{size}", size) for size in sizes]
    times: list[list[float]] = [[], []]
    for _ in range(rounds):
        for number, live in enumerate(lives):
            times[number].append(heal_once(live.parent, live, "--scope", "last-turn")[0])
    short, long = (sorted(each)[len(each) // 2] for each in times)
    return [
        Figure(f"--scope last-turn, {sizes[0] / MEGABYTE:.0f} MB", short, "s"),
        Figure(f"--scope last-turn, {sizes[1] / MEGABYTE:.0f} MB", long, "s"),
        Figure("last turn: long against short", long / short, "", ceiling=1.2),
    ]


def main() -> int:
    """Measure, print, and with `--check` judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=200, help="size of the log with one missing result")
    parser.add_argument("--rounds", type=int, default=5, help="how often each is run")
    parser.add_argument("--folder", type=Path, help="where to make the logs (default: the system's temporary folder)")
    parser.add_argument("--check", action="store_true", help="exit 1 where a figure falls short")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=chosen.folder) as name:
        figures = missing_result(Path(name), chosen.megabytes * MEGABYTE, chosen.rounds)
        figures += last_turn(Path(name), (16 * MEGABYTE, 1_600 * MEGABYTE), chosen.rounds)
    return show(figures, check=chosen.check)


if __name__ == "__main__":
    raise SystemExit(main())
