"""The only code that changes files: whole, at once, and lasting through a power cut."""

from __future__ import annotations

import contextlib
import errno
import os

# What a file system answers that cannot flush a folder: it has no such operation, which is no failure of ours.
NO_FOLDER_FLUSH = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP})

NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


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
    folder = os.path.dirname(path) or "."
    if make_parent:
        _make_folder(folder)
    temporary = _write_beside(path, data, mode)
    try:
        os.replace(temporary, path)
    except BaseException:
        _remove_quietly(temporary)
        raise
    flush_folder(folder)


def flush_folder(folder: str) -> None:
    """Make the names in `folder` survive a power cut. OSError, unless the file system merely has no such operation."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in NO_FOLDER_FLUSH:
            raise
    finally:
        os.close(descriptor)


def _write_beside(path: str, data: bytes, mode: int) -> str:
    """Write `data` to a new hidden file in the folder of `path`, flushed; its name. On any error nothing is left."""
    folder, name = os.path.split(path)
    # A name that no other process can guess; cut short, so that a long file name does not become too long.
    temporary = os.path.join(folder, f".{name[:40]}.{os.urandom(8).hex()}.tmp")
    descriptor = os.open(temporary, NEW_FILE, 0o600)
    try:
        try:
            os.fchmod(descriptor, mode)
            _write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except BaseException:
        _remove_quietly(temporary)
        raise
    return temporary


def _write_all(descriptor: int, data: bytes) -> None:
    """Write every byte: one call of `write` may take fewer than it was given."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _make_folder(folder: str) -> None:
    """Make a folder and those above it that are missing, for the owner alone, each name flushed in the one above."""
    if os.path.isdir(folder):
        return
    above = os.path.dirname(folder.rstrip(os.sep)) or "."
    _make_folder(above)
    with contextlib.suppress(FileExistsError):
        os.mkdir(folder, 0o700)
    flush_folder(above)


def _remove_quietly(path: str) -> None:
    """Remove a file of ours; when that fails, the error that led here is the one to report."""
    with contextlib.suppress(OSError):
        os.unlink(path)
