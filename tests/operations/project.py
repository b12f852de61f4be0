"""A project folder of Claude Code with transcripts made line by line, and the real command on it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.commands import Answer, command

Json = dict[str, Any]
FOLDER = "projects/-home-mina-garden"
ONE, TWO, THREE = (f"{digit * 8}-0000-4000-8000-00000000000{digit}" for digit in "123")


class Project:
    """A store with one project folder. Records are named by a session and a number."""

    def __init__(self, place: Path) -> None:
        self.store = place / "store"
        self.home = place
        self.folder = self.store / FOLDER
        self.folder.mkdir(parents=True)

    def log(self, session: str) -> Path:
        """The transcript of a session."""
        return self.folder / f"{session}.jsonl"

    def write(self, session: str, *lines: bytes, end: bytes = b"\n") -> Path:
        """A transcript that holds these lines."""
        log = self.log(session)
        log.write_bytes(b"\n".join(lines) + end)
        log.chmod(0o600)
        return log

    def lines(self, session: str) -> list[bytes]:
        """The lines of a transcript."""
        return self.log(session).read_bytes().splitlines()

    def heal(self, *options: str) -> Answer:
        """The command `heal` on all of the store."""
        return command("heal", "--all", *options, store=self.store, home=self.home)

    def run(self, name: str, *options: str) -> Answer:
        """Any command on the store."""
        return command(name, *options, store=self.store, home=self.home)

    def found(self, rule: str) -> list[Json]:
        """What verify-pairs finds of a rule."""
        return [one for one in self.run("verify-pairs").findings if one["rule"] == rule]


def name(session: str, number: int) -> str:
    """The id of a record."""
    return f"{session[:9]}{number:04d}-4000-9000-000000000000"


def record(session: str, number: int, parent: str | int | None = -1, **more: Any) -> bytes:
    """A record as a line without its end: a prompt if its number is odd, else an answer; it hangs on the one before."""
    above = name(session, number - 1) if parent == -1 and number > 1 else None if parent == -1 else parent
    above = name(session, above) if isinstance(above, int) else above
    role = "user" if number % 2 else "assistant"
    message: Json = {"role": role, "content": f"text {number}"}
    if role == "assistant":
        content = [{"type": "text", "text": f"text {number}"}]
        message |= {"id": f"msg_{session[0]}{number}", "type": "message", "content": content, "stop_reason": "end_turn"}
    value = {
        "parentUuid": above,
        "isSidechain": False,
        "cwd": "/home/mina/garden",
        "sessionId": session,
        "version": "2.1.100",
        "type": role,
        "message": message,
        "uuid": name(session, number),
        "timestamp": f"2026-03-10T09:{number:02d}:00.000Z",
    }
    return json.dumps({**value, **more}, separators=(",", ":")).encode()
