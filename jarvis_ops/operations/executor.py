"""Chooses how conversations are judged: one after another, or in processes when that pays."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from jarvis_ops.errors import UsageError, WorkerDiedError

if TYPE_CHECKING:
    from concurrent.futures import Executor
    from multiprocessing.context import BaseContext

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
    """Processes when enough work would leave the first one; of a single conversation it keeps a portion itself."""
    total, all_cores = sum(sizes), cores()
    if all_cores < 2 or not sizes:
        return 0
    workers = min(all_cores, len(sizes)) if len(sizes) > 1 else all_cores - 1
    saved = total - (max(*sizes, total // workers) if len(sizes) > 1 else total // all_cores)
    return workers if saved >= (FORK_PAYS if fork_is_safe() else SPAWN_PAYS) else 0


def fork_is_safe() -> bool:
    """Only on Linux, and only while there is no second thread whose locks a child would inherit."""
    return sys.platform == "linux" and threading.active_count() == 1


@contextmanager
def open_executor(workers: int) -> Iterator[Executor | None]:
    """A pool of `workers` processes, or None for none. When the block is left early, what has not begun is dropped.

    What a second Ctrl-C or a request to terminate interrupts is not waited for. WorkerDiedError when a process of
    the pool was ended from outside.
    """
    if not workers:
        yield None
        return
    # Two imports that only a run with processes has to wait for.
    import multiprocessing
    from concurrent.futures import BrokenExecutor, ProcessPoolExecutor

    context: BaseContext = multiprocessing.get_context("fork" if fork_is_safe() else "spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_in_worker)
    try:
        yield pool
    except BrokenExecutor as error:
        raise WorkerDiedError("a process that judged conversations died; try --executor serial") from error
    except (Exception, GeneratorExit):
        raise
    except BaseException:
        for worker in multiprocessing.active_children():
            worker.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _in_worker() -> None:
    """Ctrl-C reaches the whole group of processes; only the first one answers it, so that the work is finished."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
