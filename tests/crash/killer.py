"""Does as it is told, one line of JSON at a time, in a process of its own that was forked from this warm one.

Started as a program. Each line asks for an operation in a folder and says which call of the disk is the last; the
answer is what became of the process: "killed", or how many calls it made.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

from jarvis_ops.errors import OpsError
from jarvis_ops.stores.jsonl.ours import Files, ours
from jarvis_ops.stores.jsonl.recovery import recover
from tests.crash import naive
from tests.crash.faulty import FaultyDisk, append_line, killing
from tests.crash.stories import conversation_in, heal, heal_sealed, undo


def recovery(disk: Files, folder: str) -> None:
    recover(disk, ours(disk, conversation_in(folder)), "a")


OPERATIONS: dict[str, Callable[[Files, str], None]] = {
    "heal": heal,
    "undo": undo,
    "heal-sealed": heal_sealed,
    "recover": recovery,
    "naive": naive.heal,
}


def work(order: dict[str, Any]) -> int:
    """Do it; how many calls were made."""
    folder = order["folder"]

    def writer(now: int) -> None:
        if now == order["writer"]:
            append_line(os.path.join(folder, "a.jsonl"), b'{"id":"w00"}\n', order["acknowledged"])

    disk: FaultyDisk = killing(order["last"], after=order["after"], writer=writer)
    try:
        OPERATIONS[order["operation"]](disk, folder)
    except OpsError as error:
        if error.code not in {"busy", "stale"}:
            raise
    return len(disk.calls)


def answer(order: dict[str, Any]) -> str:
    """What became of a child that did it."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            os.write(writer, str(work(order)).encode())
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is the answer
            os.write(writer, repr(error).encode())
        os._exit(0)
    os.close(writer)
    _, status = os.waitpid(child, 0)
    said = os.read(reader, 1 << 16).decode()
    os.close(reader)
    return "killed" if os.WIFSIGNALED(status) else said


def main() -> None:
    """Answer until there is nothing more to do."""
    for line in sys.stdin:
        sys.stdout.write(answer(json.loads(line)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
