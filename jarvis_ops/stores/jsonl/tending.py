"""What our own folders hold: runs that are remembered, and files that can go."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime
from typing import Literal

from jarvis_ops.model.run import Freed, Run, RunState
from jarvis_ops.stores.jsonl.journal import UNFINISHED, Journal, State, load, named
from jarvis_ops.stores.jsonl.ours import BACKUPS, FOLDER, RUN, Files, Ours
from jarvis_ops.stores.jsonl.watch import Watch

ASIDE: tuple[Literal["quarantine", "trash"], ...] = ("quarantine", "trash")
BACKUP = re.compile(rf".*\.(?P<size>[0-9]+)\.(?P<run>{RUN.pattern})\.bak", re.DOTALL)
STATES: dict[State, RunState] = {
    "begun": "unfinished",
    "ready": "unfinished",
    "done": "done",
    "put-back": "put-back",
    "undone": "undone",
}
DAY = 86_400_000
# What is remembered at most: for so long, and, of what is more than a day old, so many bytes in one folder.
RETENTION, LIMIT = 7 * DAY, 10 << 30


def run_time(run: str) -> int:
    """When a run began (milliseconds since the epoch), as its name says. ValueError if it is no name of a run."""
    began = datetime.strptime(run.partition("-")[0], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    return int(began.timestamp() * 1000)


def as_run(disk: Files, ours: Ours, journal: Journal, conversation: str) -> Run:
    """What a journal tells of one conversation of a run. OSError."""
    backups = [ours.inside(BACKUPS, swap.backup) for swap in journal.files]
    sizes = {path: found.size for path in backups if (found := disk.status(path)) is not None}
    return Run(
        run=journal.run,
        command=journal.command,
        conversation=conversation,
        state=STATES[journal.state],
        steps=journal.steps,
        journal=ours.journal(journal.run),
        backups=tuple(sizes),
        bytes=sum(sizes.values()),
        undoes=journal.undoes,
    )


def freeable(disk: Files, base: str, kinds: Collection[str], before: int) -> list[Freed]:
    """What our folder in `base` holds from before an instant (ms), and nothing needs any more. OSError."""
    return [one for one in _held(disk, base) if one.kind in kinds and run_time(one.run) < before]


def overdue(disk: Files, base: str, now: int, retention: int = RETENTION, limit: int = LIMIT) -> list[Freed]:
    """What is older than `retention` (ms), and of what is older than a day the oldest that is more than the limit.

    What a repair took out is not among it: that goes only when somebody says so.
    """
    held = sorted((one for one in _held(disk, base) if one.kind != "quarantine"), key=lambda one: one.run)
    total = sum(one.bytes for one in held)
    found = []
    for one in held:
        age = now - run_time(one.run)
        if age > retention or (age > DAY and total > limit):
            found.append(one)
            total -= one.bytes
    return found


def free(disk: Files, items: Collection[Freed]) -> None:
    """Remove such files, and the folders and journals of runs of which nothing is left. OSError."""
    for item in items:
        if disk.status(item.path) is not None:
            disk.remove(item.path)
    bases = {item.path.rpartition(f"/{FOLDER}/")[0] for item in items}
    for base in sorted(bases):
        for run in sorted({item.run for item in items}):
            _forget(disk, base, run)


def forget_old(disk: Files, base: str, now: int, retention: int = RETENTION) -> None:
    """Remove the journals of old runs of which nothing else is left. OSError."""
    for run in sorted({run for run, _, _ in named(disk, base)}):
        if now - run_time(run) > retention:
            _forget(disk, base, run)


def _held(disk: Files, base: str) -> list[Freed]:
    """All that can go as soon as it is old enough."""
    ours = Ours(base, "")
    busy = {run for run, name, is_temporary in named(disk, base) if is_temporary or _unfinished(disk, base, run, name)}
    carried = _carried(disk, base)
    found: list[Freed] = []
    for name in disk.names(ours.inside(BACKUPS)):
        said = BACKUP.fullmatch(name)
        path = ours.inside(BACKUPS, name)
        if said and _unchanged(disk, path, carried.get(name, int(said["size"]))):
            found.append(Freed("backups", path, _size(disk, path), said["run"]))
    for kind in ASIDE:
        for run in disk.names(ours.inside(kind)):
            if RUN.fullmatch(run):
                paths = [ours.inside(kind, run, name) for name in disk.names(ours.inside(kind, run))]
                found += [Freed(kind, path, _size(disk, path), run) for path in paths]
    return [one for one in found if one.run not in busy and _is_time(one.run)]


def _unfinished(disk: Files, base: str, run: str, name: str) -> bool:
    return load(disk, Ours(base, name).journal(run)).state in UNFINISHED


def _carried(disk: Files, base: str) -> dict[str, int]:
    """How many bytes of each backup are accounted for, as the journals know it."""
    known: dict[str, int] = {}
    for run, name, is_temporary in named(disk, base):
        if not is_temporary:
            journal = load(disk, Ours(base, name).journal(run))
            known.update({swap.backup: swap.carried for swap in journal.files})
    return known


def _unchanged(disk: Files, path: str, size: int) -> bool:
    """Whether a backup has no byte that is not accounted for, and nobody has it open to add one."""
    watch = Watch(disk, path)
    try:
        return watch.seen.size == size and watch.is_free()
    finally:
        watch.close()


def _size(disk: Files, path: str) -> int:
    found = disk.status(path)
    return found.size if found is not None else 0


def _is_time(run: str) -> bool:
    try:
        return run_time(run) > 0
    except ValueError:
        return False


def _forget(disk: Files, base: str, run: str) -> None:
    """Remove the empty folders of a run, and its journals if none of its files is left."""
    ours = Ours(base, "")
    for kind in ASIDE:
        folder = ours.inside(kind, run)
        if disk.status(folder) is not None:
            if disk.names(folder):
                return
            disk.remove_folder(folder)
    if any((said := BACKUP.fullmatch(name)) and said["run"] == run for name in disk.names(ours.inside(BACKUPS))):
        return
    for _, name, is_temporary in [each for each in named(disk, base) if each[0] == run]:
        path = Ours(base, name).journal(run)
        if not is_temporary and not _unfinished(disk, base, run, name):
            disk.remove(path)


def journals_in(disk: Files, base: str) -> Iterator[tuple[Ours, Journal]]:
    """All journals below a folder, oldest first. OSError, or UnreadableError for one that is none."""
    for run, name, is_temporary in named(disk, base):
        if not is_temporary:
            ours = Ours(base, name)
            yield ours, load(disk, ours.journal(run))


def interrupted(disk: Files, base: str) -> Sequence[tuple[str, str]]:
    """(run, conversation) of the runs that were interrupted in a folder, as their journals name them."""
    return [
        (journal.run, journal.conversation) for _, journal in journals_in(disk, base) if journal.state in UNFINISHED
    ]
