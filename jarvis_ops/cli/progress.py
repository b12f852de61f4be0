"""A progress bar on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from jarvis_ops.render.form import Form


def wanted(form: Form) -> bool:
    """Whether to draw one: as the option says, else on a terminal that is not busy showing lines already."""
    if form.progress is not None:
        return form.progress
    busy = form.output == "jsonl" and sys.stdout.isatty()
    return sys.stderr.isatty() and not form.quiet and not busy


@contextmanager
def progress(form: Form, total: int, unit: str = "B") -> Iterator[Callable[[int], None]]:
    """A bar that is gone when the block ends; what it yields takes the bytes (or what `unit` is) done since last time.

    A `total` of 0 is one that is not known.
    """
    if not wanted(form):
        yield _nothing
        return
    from tqdm import tqdm

    # Its thread, which only redraws a stalled bar, would make forking unsafe.
    tqdm.monitor_interval = 0
    with tqdm(total=total or None, file=sys.stderr, unit=unit, unit_scale=True, leave=False, disable=False) as bar:
        yield lambda done: _advance(bar, done)


def _advance(bar: object, done: int) -> None:
    bar.update(done)  # type: ignore[attr-defined]


def _nothing(done: int) -> None:
    """No bar, nothing to move."""
