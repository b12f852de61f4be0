"""Chooses how conversations are judged: one after another, or in processes when that pays."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.context import BaseContext

from jarvis_ops.errors import UsageError

# Bytes that a second process has to take over before starting it pays. A forked one starts in about 10 ms, a
# spawned one imports everything anew; a log is judged at some 400 MB/s.
FORK_PAYS = 32 << 20
SPAWN_PAYS = 192 << 20
MOST_PROCESSES = 61


def processes(name: str | None, sizes: Sequence[int]) -> int:
    """How many processes to use, 0 for none: `name` is `serial`, `process`, `process:N`, or None to choose.

    `sizes` are the bytes of the conversations. UsageError for any other name.
    """
    if name is None:
        return _paying(sizes)
    kind, separator, number = name.partition(":")
    if name == "serial":
        return 0
    if kind != "process" or (separator and not _counts(number)):
        raise UsageError(f"--executor {name!r} is not known; write serial, process or process:N with N from 1 to 61")
    return int(number) if separator else cores()


def _counts(number: str) -> bool:
    return number.isascii() and number.isdigit() and 1 <= int(number[:4]) <= MOST_PROCESSES and len(number) < 4


def cores() -> int:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return min(len(os.sched_getaffinity(0)), MOST_PROCESSES)
    return min(os.cpu_count() or 1, MOST_PROCESSES)


def _paying(sizes: Sequence[int]) -> int:
    """All processors when enough work would leave the first one: the largest conversation is never divided."""
    workers = min(cores(), len(sizes))
    if workers < 2:
        return 0
    total = sum(sizes)
    saved = total - max(*sizes, total // workers)
    return workers if saved >= (FORK_PAYS if fork_is_safe() else SPAWN_PAYS) else 0


def fork_is_safe() -> bool:
    """Only on Linux, and only while there is no second thread whose locks a child would inherit."""
    return sys.platform == "linux" and threading.active_count() == 1


@contextmanager
def open_executor(workers: int) -> Iterator[Executor | None]:
    """A pool of `workers` processes, or None for none. When the block is left early, what has not begun is dropped."""
    if not workers:
        yield None
        return
    context: BaseContext = multiprocessing.get_context("fork" if fork_is_safe() else "spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_in_worker)
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _in_worker() -> None:
    """Ctrl-C reaches the whole group of processes; only the first one answers it, so that the work is finished."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
