"""Who else is at work on a conversation."""

from __future__ import annotations

import errno
import os
import signal
import sys

if sys.platform != "win32":
    import fcntl


def take_lease(descriptor: int) -> bool | None:
    """Hold off whoever wants to write to the file of a read-only descriptor, until `end_lease` or the end of us.

    False if somebody has it open for writing already; None if the system cannot tell. Linux refuses a read lease while
    somebody may write: exact, in some microseconds, and without a lock file. It needs a file of our own user (or the
    right to take leases) on a local file system.
    """
    if sys.platform != "linux":
        return None
    try:
        # Should a writer come meanwhile, the signal must be one that does no harm: SIGIO would end the process.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError as error:
        return False if error.errno == errno.EAGAIN else None
    return True


def is_awaited(descriptor: int) -> bool:
    """Whether somebody waits, in his call of `open`, for our lease to end. Only while there is one."""
    return sys.platform == "linux" and fcntl.fcntl(descriptor, fcntl.F_GETLEASE) != fcntl.F_RDLCK


def end_lease(descriptor: int) -> None:
    """Let writers in."""
    if sys.platform == "linux":
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)


def has_writer(descriptor: int) -> bool | None:
    """Whether any process has the file of a read-only descriptor open for writing; None if the system cannot tell."""
    granted = take_lease(descriptor)
    if granted:
        end_lease(descriptor)
    return None if granted is None else not granted


def take(descriptor: int, *, shared: bool = False) -> bool:
    """Take the lock of an open lock file, until it is closed; False if another process holds it. OSError."""
    if sys.platform == "win32":
        raise OSError(errno.ENOTSUP, "this system has no locks of the kind that is needed")
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_locked(path: str) -> bool:
    """Whether another process holds the lock file at `path`; False if there is none or it cannot be opened."""
    if sys.platform == "win32":
        return False
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not take(descriptor, shared=True)
    except OSError:
        return False
    finally:
        os.close(descriptor)
