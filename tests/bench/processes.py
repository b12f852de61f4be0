"""Runs whole processes and says what they took."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
BARE_LOOP = """
import sys, orjson
for line in open(sys.argv[1], "rb", buffering=1 << 20):
    orjson.loads(line)
"""


class Usage(NamedTuple):
    """One process from start to end: seconds on the clock, CPU seconds, peak memory in MiB."""

    seconds: float
    cpu: float
    mebibytes: float


def run(*command: str, code: int = 0) -> Usage:
    """Run a command whose answer has to be exit code `code`.

    The peak memory of a child is never less than what this process has when it starts it, so the bench stays small.
    """
    start = time.perf_counter()
    # Compiled modules are kept, as they are where the project is installed.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != code:
        raise SystemExit(f"exit code {child.returncode} from {' '.join(command)}")
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10  # ru_maxrss counts bytes there, KiB elsewhere
    return Usage(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / unit)


def verify(store: Path, executor: str | None = None, code: int = 0) -> Usage:
    """`verify-pairs` with all default rules, and with the executor that it chooses itself if none is named."""
    command = ("-m", "jarvis_ops", "verify-pairs", "--store", str(store), "-q")
    return run(sys.executable, *command, *(("--executor", executor) if executor is not None else ()), code=code)


def bare(log: Path) -> Usage:
    """A loop that parses each line with orjson and does nothing else."""
    return run(sys.executable, "-c", BARE_LOOP, str(log))


def median(usages: Sequence[Usage]) -> Usage:
    """The median of each figure, save the memory, of which the worst counts."""
    return Usage(
        statistics.median(usage.seconds for usage in usages),
        statistics.median(usage.cpu for usage in usages),
        max(usage.mebibytes for usage in usages),
    )
