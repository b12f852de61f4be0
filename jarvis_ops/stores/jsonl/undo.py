"""The change that takes a run back: the bytes that were there before, and behind them what an agent has added since."""

from __future__ import annotations

import base64
import contextlib
import json
from collections.abc import Iterator

from jarvis_ops.errors import RefusedError
from jarvis_ops.model.conversation import Conversation
from jarvis_ops.model.plan import Change, Content, NewMode, Part, Piece, Step
from jarvis_ops.model.record import Position
from jarvis_ops.stores.disk import blocks
from jarvis_ops.stores.jsonl.compose import digest
from jarvis_ops.stores.jsonl.journal import Journal, Swap
from jarvis_ops.stores.jsonl.late import late_bytes
from jarvis_ops.stores.jsonl.ours import BACKUPS, FOLDER, Files, Ours, real_files
from jarvis_ops.stores.jsonl.swap import places_of
from jarvis_ops.stores.jsonl.watch import Watch


def undoing(disk: Files, ours: Ours, journal: Journal, conversation: Conversation) -> Change:
    """The change that puts back what a run had found.

    OSError; RefusedError if the run is not in force, its backup is gone, or what it made was changed since.
    """
    _check_in_force(disk, ours, journal)
    names = {real: name for name, real in real_files(disk, conversation, ours.base).items()}
    fingerprint: list[Part] = []
    contents: list[Content] = []
    for file in [swap.file for swap in journal.files] + [mode.file for mode in journal.modes]:
        if file not in names:
            raise RefusedError(f"{file} is gone, so run {journal.run} cannot be taken back")
    for swap in journal.files:
        name = names[swap.file]
        size, sha256 = _check_unchanged(disk, ours, journal, swap)
        fingerprint += [Part(name, size, sha256), Part(backup_file(swap), swap.size, swap.digest)]
        contents.append(Content(name, tuple(_content(disk, ours, swap, name, size))))
    return Change(
        command="undo",
        conversation=conversation,
        fingerprint=tuple(fingerprint),
        contents=tuple(contents),
        modes=tuple(NewMode(names[mode.file], mode.new, mode.old) for mode in journal.modes),
        steps=(
            *(_step(content.file, journal.run) for content in contents),
            *(_mode_step(names[mode.file], mode, journal.run) for mode in journal.modes),
        ),
        moved=journal.moved,
        added=journal.removed,
        removed=journal.added,
        undoes=journal.run,
    )


def _check_in_force(disk: Files, ours: Ours, journal: Journal) -> None:
    if journal.state != "done":
        raise RefusedError(f"run {journal.run} is not in force (it is {journal.state}), so it cannot be taken back")
    for swap in journal.files:
        found = disk.status(places_of(ours, swap).backup)
        if found is None or found.size < swap.size:
            raise RefusedError(f"the backup of run {journal.run} is gone, so it cannot be taken back")
        if late_bytes(disk, ours, swap):
            raise RefusedError(f"the backup of run {journal.run} has got lines since; recover carries them over first")


def _check_unchanged(disk: Files, ours: Ours, journal: Journal, swap: Swap) -> tuple[int, str]:
    """The file's size and sha256 now. RefusedError unless it is what the run made, and whole lines behind it."""
    with contextlib.ExitStack() as closing:
        live = Watch(disk, places_of(ours, swap).live)
        closing.callback(live.close)
        size = live.seen.size
        if size < swap.new_size or digest(disk, live.descriptor, swap.new_size) != swap.new_digest:
            raise RefusedError(f"{swap.file} was changed since run {journal.run}; take back what came later first")
        for name in journal.inserted:
            if _has(blocks(disk, live.descriptor, swap.new_size, size), json.dumps(name, ensure_ascii=False).encode()):
                raise RefusedError(f"what was added to {swap.file} since refers to {name}, which the run had put in")
        if size > swap.new_size and disk.read(live.descriptor, 1, size - 1) != b"\n":
            raise RefusedError(f"the last line of {swap.file} is being written; try again when it is whole")
        return size, digest(disk, live.descriptor, size)


def _has(parts: Iterator[bytes], wanted: bytes) -> bool:
    """Whether some bytes stand in others, also across the border of two parts."""
    rest = b""
    for part in parts:
        if wanted in (joined := rest + part):
            return True
        rest = joined[-len(wanted) :]
    return False


def _content(disk: Files, ours: Ours, swap: Swap, name: str, size: int) -> Iterator[Piece]:
    """The old bytes, and those that stand behind the new ones now. A last line without line feed gets one."""
    places = places_of(ours, swap)
    if swap.size:
        yield Piece(file=backup_file(swap), offset=0, length=swap.size)
    if size == swap.new_size:
        return
    if _ends_in_line(disk, places.live, swap.new_size) and not _ends_in_line(disk, places.backup, swap.size):
        yield Piece(base64=base64.b64encode(b"\n").decode())
    yield Piece(file=name, offset=swap.new_size, length=size - swap.new_size)


def backup_file(swap: Swap) -> str:
    """What a change calls a backup."""
    return f"{FOLDER}/{BACKUPS}/{swap.backup}"


def _ends_in_line(disk: Files, path: str, size: int) -> bool:
    """Whether the first `size` bytes of a file are whole lines."""
    descriptor = disk.open(path)
    try:
        return not size or disk.read(descriptor, 1, size - 1) == b"\n"
    finally:
        disk.close(descriptor)


def _step(file: str, run: str) -> Step:
    return Step(
        step="replace",
        position=Position(file),
        why=f"what was there before run {run} is put back, and what was added since stays behind it",
        rule="undo",
        safety="safe",
    )


def _mode_step(file: str, mode: NewMode, run: str) -> Step:
    return Step(
        step="set-mode",
        position=Position(file),
        why=f"the mode that it had before run {run}, {mode.old:04o}, is put back",
        rule="undo",
        safety="safe",
    )
