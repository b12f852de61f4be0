"""Keeps what is needed to mend an unexpected fault, and nothing of what was being read."""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime

from jarvis_ops.cli.version import version
from jarvis_ops.stores.disk import replace_file


def keep(error: BaseException) -> str:
    """Write a report of the fault, and return one sentence for a person that says where it is."""
    text = "\n".join(_report(error)) + "\n"
    kind = type(error).__name__
    for folder in _folders():
        path = os.path.join(folder, f"fault-{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{os.getpid()}.txt")
        try:
            replace_file(path, text.encode("utf-8", "backslashreplace"), make_parent=True)
        except OSError:
            continue
        return f"an unexpected fault ({kind}); please report it with {path}, which holds no message text"
    return f"an unexpected fault ({kind}), of which no report could be written"


def _folders() -> Iterator[str]:
    from platformdirs import user_cache_dir

    yield os.path.join(user_cache_dir("jarvis-ops", appauthor=False), "faults")
    yield tempfile.gettempdir()


def _report(error: BaseException) -> Iterator[str]:
    """Versions, then the frames of the error and of those that led to it.

    The text of an exception may quote what was read, and so may a local value: neither is kept.
    """
    yield f"jarvis-ops {version()}, Python {sys.version.split()[0]} on {sys.platform}"
    current: BaseException | None = error
    seen: set[int] = set()
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield ""
        yield f"{type(current).__module__}.{type(current).__qualname__}{_number(current)}"
        yield from _frames(current)
        current = current.__cause__ or current.__context__


def _number(error: BaseException) -> str:
    return f" (errno {error.errno})" if isinstance(error, OSError) else ""


def _frames(error: BaseException) -> Iterator[str]:
    for frame in traceback.extract_tb(error.__traceback__):
        yield f"  {frame.filename}:{frame.lineno} in {frame.name}"
    # An error from another process carries its frames as text, between lines that may quote anything.
    remote = getattr(error, "tb", None)
    if isinstance(remote, str):
        yield from (line for line in remote.splitlines() if line.startswith('  File "'))
