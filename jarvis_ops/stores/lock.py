"""Who else is at work on a conversation."""

from __future__ import annotations

import errno
import os
import signal
import sys

if sys.platform != "win32":
    import fcntl


def has_writer(descriptor: int) -> bool | None:
    """Whether any process has the file of a read-only descriptor open for writing; None if the system cannot tell.

    Linux refuses a read lease while somebody may write: exact, in some microseconds, and without a lock file. The
    lease is given back at once. It needs a file of our own user (or the right to take leases) on a local file system.
    """
    if sys.platform != "linux":
        return None
    try:
        # Should a writer come in this moment, the signal must be one that does no harm: SIGIO would end the process.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError as error:
        return True if error.errno == errno.EAGAIN else None
    fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return False


def is_locked(path: str) -> bool:
    """Whether another process holds the lock file at `path`; False if there is none or it cannot be opened."""
    if sys.platform == "win32":
        return False
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False
