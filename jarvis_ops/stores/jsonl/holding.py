"""Holds a conversation: against other runs of ours, and against its agent where that knows a lock."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import time
from collections.abc import Iterator

from jarvis_ops.errors import BusyError
from jarvis_ops.model.conversation import Conversation
from jarvis_ops.stores import lock
from jarvis_ops.stores.agentlock import live_lock
from jarvis_ops.stores.disk import Status, make_folders, open_lock, remove_quietly, sign
from jarvis_ops.stores.jsonl.opening import places
from jarvis_ops.stores.jsonl.ours import LOCKS, Files, Ours, owner

POLL = 0.05


@contextlib.contextmanager
def hold(disk: Files, ours: Ours, conversation: Conversation, run: str, *, wait: float = 0) -> Iterator[None]:
    """Hold a conversation, after at most `wait` seconds. BusyError, saying who holds it; OSError."""
    deadline = time.monotonic() + wait
    with contextlib.ExitStack() as held:
        while True:
            try:
                with contextlib.ExitStack() as attempt:
                    _agents_lock(places(conversation).lock.path, attempt)
                    _check_lock_file(places(conversation).live.path + ".lock")
                    _our_lock(disk, ours, run, _like(disk, ours, conversation), attempt)
                    held.push(attempt.pop_all())
                break
            except BusyError:
                if time.monotonic() >= deadline:
                    raise
                time.sleep(POLL)
        yield


def _agents_lock(path: str, held: contextlib.ExitStack) -> None:
    """Take the lock file that an agent has made; none is made for it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    held.callback(os.close, descriptor)
    if not lock.take(descriptor):
        raise BusyError("its lock is held by its agent; it was left alone")


def _check_lock_file(path: str) -> None:
    """BusyError if an agent holds a lock whose file is there only while it is held."""
    holder = live_lock(path)
    if holder:
        raise BusyError(f"{holder}; it was left alone")


def _like(disk: Files, ours: Ours, conversation: Conversation) -> Status | None:
    """Whose our files are to be: the live file's owner, or that of its folder where there is none."""
    live = disk.status(disk.resolve(places(conversation).live.path))
    return live or disk.status(os.path.join(ours.base, os.curdir))


def _our_lock(disk: Files, ours: Ours, run: str, like: Status | None, held: contextlib.ExitStack) -> None:
    """Take the lock of our own runs; it is removed when it is given back."""
    path = ours.inside(LOCKS, ours.id)
    while True:
        try:
            make_folders(disk, ours.inside(LOCKS), owner(disk, like) if like is not None else None)
            descriptor = open_lock(path)
        except FileNotFoundError:
            if disk.status(ours.base) is None:
                raise
            continue  # the run before us has just removed the folder
        held.callback(os.close, descriptor)
        if not lock.take(descriptor):
            raise BusyError(f"another run works on it{_signed(descriptor)}; it was left alone")
        now = disk.status(path)
        if now is not None and now.inode == os.fstat(descriptor).st_ino:
            break
    held.callback(_give_back, disk, ours, path)
    if like is not None and disk.is_root():
        disk.give(path, like)
    text = {"pid": os.getpid(), "host": socket.gethostname(), "run": run, "since": int(time.time() * 1000)}
    sign(descriptor, json.dumps(text).encode())


def _signed(descriptor: int) -> str:
    try:
        said = json.loads(os.pread(descriptor, 1 << 12, 0))
        return f" (process {int(said['pid'])} on {said['host']}, run {said['run']})"
    except (ValueError, TypeError, LookupError, OSError):
        return ""


def _give_back(disk: Files, ours: Ours, path: str) -> None:
    """Remove the lock while we still hold it, and folders of ours in which nothing is left."""
    remove_quietly(disk, path)
    for folder in (ours.inside(LOCKS), ours.folder):
        with contextlib.suppress(OSError):
            disk.remove_folder(folder)
