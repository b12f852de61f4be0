"""Heals or takes back in a database, and kills itself before or after its n-th statement on a writing connection.

`python -m tests.postgres.killed DSN heal|RUN before|after N`
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

import psycopg

from tests.postgres.healing import healed, opened, taken_back

count = 0


def deadly(method: Callable[..., Any], moment: str, number: int) -> Callable[..., Any]:
    """A method of a connection, after or before whose n-th call the process is gone."""

    def call(connection: psycopg.Connection[Any], *arguments: Any, **options: Any) -> Any:
        global count  # noqa: PLW0603 - one count over all connections
        if connection.read_only:
            return method(connection, *arguments, **options)
        count += 1
        mine = count == number
        if mine and moment == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        answer = method(connection, *arguments, **options)
        if mine:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer

    return call


def main(dsn: str, what: str, moment: str, number: str) -> None:
    """Do it."""
    for name in ("execute", "commit"):
        setattr(psycopg.Connection, name, deadly(getattr(psycopg.Connection, name), moment, int(number)))
    with opened(dsn) as store:
        outcomes = healed(store) if what == "heal" else taken_back(store, what)
    if any(outcome.errors for outcome in outcomes):
        raise SystemExit(str([outcome.errors for outcome in outcomes]))


if __name__ == "__main__":
    main(*sys.argv[1:5])
