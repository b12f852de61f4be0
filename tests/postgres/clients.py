"""A client of the database in a process of its own: `python -m tests.postgres.clients KIND DSN RATE SEED`.

Works until its standard input is closed, then prints as JSON how long its statements took and what went wrong.
"""

from __future__ import annotations

import json
import random
import select
import sys
import time
from collections.abc import Callable
from typing import Any

import psycopg

INSERT = (
    b"INSERT INTO jarvis_entries (id, session_id, role, content, tool_calls, tool_call_id, timestamp)"
    b" VALUES (%s, %s, %s, to_jsonb(%s::text), %s, %s, %s)"
)
PAGE = b"SELECT id, role, content FROM jarvis_entries WHERE session_id = %s ORDER BY timestamp DESC LIMIT 50"
OLD_SESSIONS = 200
NEW_TIME = 1_800_000_000_000


class Client:
    """One connection; every statement is timed, and every error kept."""

    def __init__(self, dsn: str, seed: int) -> None:
        self.dsn = dsn
        self.chance = random.Random(time.time_ns() + seed)
        self.seed = seed
        self.times: list[float] = []
        self.errors: list[str] = []
        self.written: list[tuple[str, str]] = []
        self.count = 0
        self.connection = psycopg.connect(dsn, autocommit=True)

    def run(self, statement: bytes, values: tuple[Any, ...]) -> None:
        began = time.monotonic()
        try:
            self.connection.execute(statement, values)
        finally:
            self.times.append(time.monotonic() - began)

    def write(self) -> None:
        """A turn of three rows in one transaction; three turns share a time on purpose."""
        self.count += 1
        session = f"s{self.chance.randrange(OLD_SESSIONS)}" if self.count % 2 else f"new{self.seed}"
        moment = NEW_TIME + self.seed + 1000 * (self.count // 3)
        call = f"call_{self.seed}_{self.count}"
        calls = json.dumps([{"id": call, "name": "look", "arguments": {}}])
        rows = [("assistant", calls, None), ("tool", None, call), ("assistant", None, None)]
        keys = [f"{self.chance.randrange(1 << 60):015x}" for _ in rows]
        with self.connection.transaction():
            for key, (role, listed, result) in zip(keys, rows, strict=True):
                text = "y" * self.chance.choice((50, 200, 1500))
                self.run(INSERT, (key, session, role, text, listed, result, moment))
        self.written += [(session, key) for key in keys]

    def insert(self) -> None:
        """A single row."""
        self.count += 1
        key, session = f"{self.chance.randrange(1 << 60):015x}", f"s{self.chance.randrange(OLD_SESSIONS)}"
        self.run(INSERT, (key, session, "user", "z" * 200, None, None, NEW_TIME + self.count))

    def read(self) -> None:
        self.run(PAGE, (f"s{self.chance.randrange(OLD_SESSIONS)}",))

    def change(self) -> None:
        """Update an old row, and now and then delete one."""
        key = f"old{self.chance.randrange(20_000)}"
        self.run(b"UPDATE jarvis_entries SET compacted_at = now() WHERE id = md5(%s)", (key,))
        if self.chance.random() < 0.1:
            self.run(b"DELETE FROM jarvis_entries WHERE id = md5(%s)", (f"old{self.chance.randrange(20_000)}",))

    def work(self, act: Callable[[], None], pause: float) -> None:
        """Act at this rate until standard input is closed."""
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        due = time.monotonic()
        while not select.select([sys.stdin], [], [], max(0.0, due - time.monotonic()))[0]:
            due = max(due + pause, time.monotonic() - 1)
            try:
                act()
            except psycopg.OperationalError as error:
                self.errors.append(f"{type(error).__name__}: {error}")
                self._connect_again()
            except psycopg.Error as error:
                self.errors.append(f"{type(error).__name__}: {error}")

    def _connect_again(self) -> None:
        for _ in range(100):
            try:
                self.connection = psycopg.connect(self.dsn, autocommit=True)
            except psycopg.OperationalError:
                time.sleep(0.1)
            else:
                return

    def report(self) -> str:
        return json.dumps({"times": self.times, "errors": self.errors, "written": self.written})


def main(kind: str, dsn: str, rate: str, seed: str) -> None:
    client = Client(dsn, int(seed))
    client.work(getattr(client, kind), 1 / float(rate))
    sys.stdout.write(client.report())


if __name__ == "__main__":
    main(*sys.argv[1:])
