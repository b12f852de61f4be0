"""Measures `verify-pairs`: `python -m tests.bench.verify` from the root of the repository. See README.md here."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

from tests.bench import logs
from tests.bench.figures import MEGABYTE, Figure, show
from tests.bench.processes import bare, median, run, verify
from tests.generate import encode, endless


def against_bare_loop(name: str, store: Path, log: Path, rounds: int, floor: float) -> list[Figure]:
    """Verify as it comes, in a single process, and the bare loop, in turn on one log."""
    runs = [(verify(store), verify(store, "serial"), bare(log)) for _ in range(rounds)]
    ours, alone, theirs = (median([each[number] for each in runs]) for number in range(3))
    size = log.stat().st_size / MEGABYTE
    return [
        Figure(f"{name}: verify-pairs", size / ours.seconds, "MB/s"),
        Figure(f"{name}: verify-pairs, serial", size / alone.seconds, "MB/s"),
        Figure(f"{name}: bare orjson loop", size / theirs.seconds, "MB/s"),
        Figure(f"{name}: ratio", theirs.seconds / ours.seconds, "", floor=floor),
        Figure(f"{name}: ratio, serial", theirs.seconds / alone.seconds, ""),
        Figure(f"{name}: peak memory", max(ours.mebibytes, alone.mebibytes), "MiB"),
    ]


def single_logs(folder: Path, size: int, rounds: int) -> list[Figure]:
    """The named logs, each made, measured and removed."""
    makers = {
        "large-korean": (logs.large(logs.KOREAN, logs.ENGLISH), 0.9),
        "large-escapes": (logs.large(logs.REPEATED), 0.8),
        "large-escapes, varied": (logs.large(logs.ESCAPED), 0.8),
        "short": (logs.short(), 0.5),
    }
    figures = []
    for name, (turns, floor) in makers.items():
        log = logs.store(folder / name, name, turns, size)
        figures += against_bare_loop(name, folder / name, log, rounds, floor)
        log.unlink()
    transcript = logs.claude_store(folder / "claude", size)
    figures += against_bare_loop("claude", folder / "claude", transcript, rounds, 0)
    transcript.unlink()
    return figures


def two_processes(folder: Path, size: int, rounds: int) -> list[Figure]:
    """One process against two on eight logs."""
    store = folder / "eight"
    for number in range(8):
        logs.store(store, f"log{number}", logs.short(), size // 2)
    pairs = [(verify(store, "serial"), verify(store, "process:2")) for _ in range(rounds)]
    one, two = median([pair[0] for pair in pairs]), median([pair[1] for pair in pairs])
    for log in store.glob("*.jsonl"):
        log.unlink()
    return [
        Figure("8 logs, one process", one.seconds, "s"),
        Figure("8 logs, two processes", two.seconds, "s"),
        Figure("8 logs: one against two", one.seconds / two.seconds, "", floor=1.5),
    ]


def long_conversation(folder: Path, rounds: int) -> list[Figure]:
    """The endless conversation of 47,775 lines and 16.4 MB."""
    store = folder / "endless"
    store.mkdir()
    with (store / "endless.jsonl").open("wb") as file:
        file.writelines(endless(random.Random(1), 47_775, 359))
    (store / "endless.meta.json").write_bytes(encode({"id": "endless", "state": "idle"}))
    used = median([verify(store, "serial") for _ in range(rounds)])
    size = (store / "endless.jsonl").stat().st_size / MEGABYTE
    return [
        Figure(f"47,775 lines, {size:.1f} MB: CPU with start", used.cpu, "s", ceiling=0.5),
        Figure("47,775 lines: peak memory", used.mebibytes, "MiB"),
    ]


def start(rounds: int) -> list[Figure]:
    """`--help` against the import that it cannot do without."""
    pairs = [
        (run(sys.executable, "-m", "jarvis_ops", "--help"), run(sys.executable, "-c", "import typer"))
        for _ in range(2 * rounds + 1)
    ]
    ours, theirs = median([pair[0] for pair in pairs]), median([pair[1] for pair in pairs])
    return [
        Figure("--help", ours.seconds * 1000, "ms"),
        Figure("import typer", theirs.seconds * 1000, "ms"),
        Figure("--help against import typer", ours.seconds / theirs.seconds, "", ceiling=2),
    ]


def one_gibibyte(folder: Path) -> list[Figure]:
    """The peak memory for one conversation of 1 GiB in short lines."""
    log = logs.store(folder / "big", "big", logs.short(), 1 << 30)
    used, alone = verify(folder / "big"), verify(folder / "big", "serial")
    log.unlink()
    return [
        Figure("1 GiB of short lines: peak memory", used.mebibytes, "MiB", ceiling=140),
        Figure("1 GiB of short lines: peak memory, serial", alone.mebibytes, "MiB", ceiling=140),
        Figure("1 GiB of short lines: verify-pairs", (1 << 30) / MEGABYTE / used.seconds, "MB/s"),
    ]


def main() -> int:
    """Measure, print, and with `--check` judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=200, help="size of each log")
    parser.add_argument("--rounds", type=int, default=5, help="how often each pair is run")
    parser.add_argument("--folder", type=Path, help="where to make the logs (default: the system's temporary folder)")
    parser.add_argument("--big", action="store_true", help="measure a conversation of 1 GiB, too")
    parser.add_argument("--check", action="store_true", help="exit 1 where a figure falls short")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=chosen.folder) as name:
        folder, size = Path(name), chosen.megabytes * MEGABYTE
        figures = start(chosen.rounds) + long_conversation(folder, chosen.rounds)
        figures += single_logs(folder, size, chosen.rounds)
        figures += two_processes(folder, size, chosen.rounds)
        if chosen.big:
            figures += one_gibibyte(folder)
    return show(figures, check=chosen.check)


if __name__ == "__main__":
    raise SystemExit(main())
