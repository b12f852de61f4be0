"""The only code that changes files: one small call after another, each of which can be watched, or made to fail."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import time
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from jarvis_ops.stores import lock

if TYPE_CHECKING:
    from ctypes import _NamedFuncPointer

# What a file system answers that cannot flush a folder: it has no such operation, which is no failure of ours.
NO_FOLDER_FLUSH = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP})
# What a system or a file system answers that cannot let two names change places.
NO_EXCHANGE = frozenset({errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP})

NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
OLD_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
APPENDED = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
AT_FDCWD, RENAME_EXCHANGE = -100, 2
BLOCK = 1 << 20


class Status(NamedTuple):
    """What a file is. `mode` is the permission bits, `links` the number of its names."""

    device: int
    inode: int
    size: int
    mtime_ns: int
    mode: int
    uid: int
    gid: int
    links: int
    regular: bool


class Disk:
    """The calls by which files are read and changed where a crash matters. All raise OSError.

    Paths of files are real ones: a link in the last place is never followed.
    """

    def resolve(self, path: str) -> str:
        """The absolute path that `path` leads to, links followed."""
        return os.path.realpath(path)

    def open(self, path: str) -> int:
        """A descriptor for reading."""
        return os.open(path, OLD_FILE)

    def close(self, descriptor: int) -> None:
        """Give a descriptor back."""
        os.close(descriptor)

    def status(self, path: str) -> Status | None:
        """What lies at a path; None if nothing does."""
        try:
            return _status(os.lstat(path))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def status_of(self, descriptor: int) -> Status:
        """What an open file is."""
        return _status(os.fstat(descriptor))

    def read(self, descriptor: int, length: int, offset: int) -> bytes:
        """At most `length` bytes from `offset` on; none at the end."""
        return os.pread(descriptor, length, offset)

    def free_space(self, folder: str) -> int:
        """The bytes that may still be written to the file system of a folder."""
        found = os.statvfs(folder)
        return found.f_bavail * found.f_frsize

    def lease(self, descriptor: int) -> bool | None:
        """Hold off writers of a file; False if there is one already, None where the system knows no such thing."""
        return lock.take_lease(descriptor)

    def waiting(self, descriptor: int) -> bool:
        """Whether a writer waits for the lease of a file to end."""
        return lock.is_awaited(descriptor)

    def end_lease(self, descriptor: int) -> None:
        """Let writers in."""
        lock.end_lease(descriptor)

    def pause(self, seconds: float) -> None:
        """Let others come to the end of what they are at."""
        time.sleep(seconds)

    def is_root(self) -> bool:
        """Whether files of ours must be given to the owner of what lies beside them."""
        return hasattr(os, "geteuid") and os.geteuid() == 0

    def make_folder(self, path: str) -> None:
        """Make a folder that its owner alone can enter."""
        os.mkdir(path, 0o700)

    def create(self, path: str) -> int:
        """A descriptor for writing to a new file (0600); FileExistsError if something has that name."""
        return os.open(path, NEW_FILE, 0o600)

    def open_to_append(self, path: str) -> int:
        """A descriptor whose writes go to the end of a file."""
        return os.open(path, APPENDED)

    def give(self, path: str, like: Status) -> None:
        """Give a file or folder to the owner and group of another one."""
        os.chown(path, like.uid, like.gid, follow_symlinks=False)

    def set_mode(self, descriptor: int, mode: int) -> None:
        """Give an open file permission bits, whatever the umask."""
        os.fchmod(descriptor, mode)

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        """Write some bytes; how many were taken."""
        return os.write(descriptor, data)

    def flush(self, descriptor: int) -> None:
        """Make the bytes of a file survive a power cut."""
        if sys.platform == "darwin":
            import fcntl

            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
        else:
            os.fsync(descriptor)

    def flush_folder(self, path: str) -> None:
        """Make the names in a folder survive a power cut, as far as its file system has such an operation."""
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        except OSError as error:
            if error.errno not in NO_FOLDER_FLUSH:
                raise
        finally:
            os.close(descriptor)

    def link(self, path: str, name: str) -> None:
        """Give a file a further name; FileExistsError if something has that name."""
        os.link(path, name, follow_symlinks=False)

    def rename(self, path: str, name: str) -> None:
        """Let a file have another name, in place of what had it."""
        os.replace(path, name)

    def exchange(self, path: str, other: str) -> bool:
        """Let two files change names at once; False where that cannot be done."""
        import ctypes

        call = _renameat2()
        if call is None:
            return False
        if call(AT_FDCWD, os.fsencode(path), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE) == 0:
            return True
        number = ctypes.get_errno()
        if number in NO_EXCHANGE:
            return False
        raise OSError(number, os.strerror(number), path, None, other)

    def remove(self, path: str) -> None:
        """Take a name from a file."""
        os.unlink(path)

    def remove_folder(self, path: str) -> None:
        """Remove an empty folder."""
        os.rmdir(path)


def open_lock(path: str) -> int:
    """A descriptor of a lock file (0600), made if missing. Nothing of it need survive a power cut. OSError."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def sign(descriptor: int, text: bytes) -> None:
    """Let a lock file say who holds it. OSError."""
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, text, 0)


def write_all(disk: Disk, descriptor: int, data: bytes) -> None:
    """Write every byte: one call of `write` may take fewer than it was given."""
    rest = memoryview(data)
    while rest:
        rest = rest[disk.write(descriptor, rest) :]


def blocks(disk: Disk, descriptor: int, start: int, end: int) -> Iterator[bytes]:
    """The bytes [start, end) of a file, a block at a time, as far as there are that many."""
    while start < end:
        block = disk.read(descriptor, min(BLOCK, end - start), start)
        if not block:
            return
        yield block
        start += len(block)


def replace(
    disk: Disk, path: str, data: bytes, *, temporary: str, mode: int = 0o600, like: Status | None = None
) -> None:
    """Let `path` hold exactly `data`, by way of `temporary`, a name in the same folder; see `replace_file`."""
    descriptor = disk.create(temporary)
    try:
        try:
            if like is not None:
                disk.give(temporary, like)
            disk.set_mode(descriptor, mode)
            write_all(disk, descriptor, data)
            disk.flush(descriptor)
        finally:
            disk.close(descriptor)
        disk.rename(temporary, path)
    except BaseException:
        remove_quietly(disk, temporary)
        raise
    disk.flush_folder(os.path.dirname(path) or ".")


def replace_file(path: str, data: bytes, mode: int = 0o600, *, make_parent: bool = False) -> None:
    """Let `path` hold exactly `data`, so that any reader at any time sees the old bytes or the new ones.

    `mode` is the permission bits of the file, whatever the umask and whatever the old file had. `make_parent` makes a
    missing folder (0700, with those above it). A symbolic link at `path` is itself replaced, never what it points to.
    When this returns, the bytes survive a power cut as far as the file system can promise it.

    Raises:
        OSError: the folder is missing or not writable, the disk is full, or `path` is a folder; the old file is then
            as it was and nothing else is left behind. Only when the very last step fails, flushing the folder, does
            `path` have the new bytes already.
    """
    folder, name = os.path.split(path)
    if make_parent:
        make_folders(Disk(), folder or ".")
    # A name that no other process can guess; cut short, so that a long file name does not become too long.
    temporary = os.path.join(folder or ".", f".{name[:40]}.{os.urandom(8).hex()}.tmp")
    replace(Disk(), path, data, temporary=temporary, mode=mode)


def flush_folder(folder: str) -> None:
    """Make the names in `folder` survive a power cut. OSError, unless the file system merely has no such operation."""
    Disk().flush_folder(folder)


def make_folders(disk: Disk, folder: str, like: Status | None = None) -> None:
    """Make a folder and those above it that are missing, for the owner alone, each name flushed in the one above.

    They are given to the owner of `like`, if there is one.
    """
    # A link to a folder will do as one.
    if disk.status(os.path.join(folder, os.curdir)) is not None:
        return
    above = os.path.dirname(folder.rstrip(os.sep)) or "."
    make_folders(disk, above, like)
    with contextlib.suppress(FileExistsError):
        disk.make_folder(folder)
        if like is not None:
            disk.give(folder, like)
    disk.flush_folder(above)


def remove_quietly(disk: Disk, path: str) -> None:
    """Remove a file of ours; when that fails, the error that led here is the one to report."""
    with contextlib.suppress(OSError):
        disk.remove(path)


def _status(found: os.stat_result) -> Status:
    return Status(
        device=found.st_dev,
        inode=found.st_ino,
        size=found.st_size,
        mtime_ns=found.st_mtime_ns,
        mode=stat.S_IMODE(found.st_mode),
        uid=found.st_uid,
        gid=found.st_gid,
        links=found.st_nlink,
        regular=stat.S_ISREG(found.st_mode),
    )


@cache
def _renameat2() -> _NamedFuncPointer | None:
    """The call of the C library that Python has no name for; None where there is none."""
    import ctypes

    if sys.platform != "linux":
        return None
    function: _NamedFuncPointer | None = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if function is not None:
        function.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    return function
