"""Makes the new files of a change from the old ones, and keeps aside what leaves them."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping

from jarvis_ops.errors import RefusedError, StaleError, UnreadableError
from jarvis_ops.model.plan import Aside, Change, Content, Part, Piece
from jarvis_ops.stores.disk import BLOCK, Status, blocks, make_folders, write_all
from jarvis_ops.stores.jsonl.ours import QUARANTINE, Files, Ours, owner
from jarvis_ops.stores.jsonl.watch import Watch

Sources = Mapping[str, Watch]


def digest(disk: Files, descriptor: int, length: int) -> str:
    """The sha256 (hex) of the first `length` bytes of a file. OSError."""
    total = hashlib.sha256()
    for block in blocks(disk, descriptor, 0, length):
        total.update(block)
    return total.hexdigest()


def check_fresh(disk: Files, part: Part, source: Watch, *, may_grow: bool) -> None:
    """StaleError unless a file is what a change was planned from. OSError."""
    grew = source.seen.size > part.bytes and not may_grow
    if grew or source.seen.size < part.bytes or digest(disk, source.descriptor, part.bytes) != part.sha256:
        raise StaleError(f"{part.file} has changed since the plan was made")


def new_size(content: Content) -> int:
    """The bytes of a new content. ValueError for new bytes that are no base64."""
    return sum(_length(piece) for piece in content.pieces)


def write_new(disk: Files, path: str, content: Content, sources: Sources, like: Status) -> tuple[Status, str]:
    """Write a new file with the owner and the mode of `like`, safe from a power cut but for its name, and read it back.

    What it is, and its sha256 (hex). OSError; UnreadableError if it cannot be read back as it was written.
    """
    total = hashlib.sha256()
    descriptor = disk.create(path)
    try:
        made = disk.status_of(descriptor)
        if (made.uid, made.gid) != (like.uid, like.gid):
            _give(disk, path, like)
        disk.set_mode(descriptor, like.mode)
        for block in _joined(_bytes(disk, content.pieces, sources)):
            write_all(disk, descriptor, block)
            total.update(block)
        disk.flush(descriptor)
    finally:
        disk.close(descriptor)
    descriptor = disk.open(path)
    try:
        written = disk.status_of(descriptor)
        if digest(disk, descriptor, written.size) != total.hexdigest():
            raise UnreadableError(f"{content.file}: what was written could not be read back; nothing was changed")
    finally:
        disk.close(descriptor)
    return written, total.hexdigest()


def set_aside(disk: Files, ours: Ours, run: str, asides: Iterable[Aside], sources: Sources, like: Status) -> None:
    """Keep the bytes that leave a conversation, and an index of them, safe from a power cut. OSError."""
    folder = ours.inside(QUARANTINE, run)
    make_folders(disk, folder, owner(disk, like))
    index: list[bytes] = []
    path = os.path.join(folder, ours.id)
    descriptor = disk.create(path + ".raw")
    try:
        offset = 0
        for aside in asides:
            total = hashlib.sha256()
            for block in blocks(disk, sources[aside.span.file].descriptor, aside.span.start, aside.span.end):
                write_all(disk, descriptor, block)
                total.update(block)
            index.append(_entry(aside, offset, total.hexdigest()))
            offset += aside.span.length
        _finish(disk, path + ".raw", descriptor, like)
    finally:
        disk.close(descriptor)
    descriptor = disk.create(path + ".jsonl")
    try:
        write_all(disk, descriptor, b"".join(index))
        _finish(disk, path + ".jsonl", descriptor, like)
    finally:
        disk.close(descriptor)
    disk.flush_folder(folder)


def remove_aside(disk: Files, ours: Ours, run: str) -> None:
    """Remove what a change kept aside that was not carried out."""
    folder = ours.inside(QUARANTINE, run)
    for suffix in (".raw", ".jsonl"):
        path = os.path.join(folder, ours.id + suffix)
        if disk.status(path) is not None:
            disk.remove(path)
    if disk.status(folder) is not None and not disk.names(folder):
        disk.remove_folder(folder)


def _finish(disk: Files, path: str, descriptor: int, like: Status) -> None:
    if disk.is_root():
        disk.give(path, like)
    disk.flush(descriptor)


def _entry(aside: Aside, raw_offset: int, sha256: str) -> bytes:
    entry = {
        "file": aside.span.file,
        "line": aside.line,
        "offset": aside.span.start,
        "length": aside.span.length,
        "raw_offset": raw_offset,
        "sha256": sha256,
        "rule": aside.rule,
    }
    return json.dumps(entry).encode() + b"\n"


def _give(disk: Files, path: str, like: Status) -> None:
    try:
        disk.give(path, like)
    except PermissionError as error:
        raise RefusedError("it belongs to another user, and a new file could not be given back to them") from error


def _bytes(disk: Files, pieces: Iterable[Piece], sources: Sources) -> Iterator[bytes]:
    for piece in pieces:
        if piece.base64 is not None:
            yield base64.b64decode(piece.base64, validate=True)
        else:
            yield from blocks(disk, sources[piece.file].descriptor, piece.offset, piece.offset + piece.length)


def _joined(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes, in blocks that are worth a call."""
    held: list[bytes] = []
    length = 0
    for part in parts:
        held.append(part)
        length += len(part)
        if length >= BLOCK:
            yield b"".join(held)
            held, length = [], 0
    if held:
        yield b"".join(held)


def _length(piece: Piece) -> int:
    return piece.length if piece.base64 is None else len(base64.b64decode(piece.base64, validate=True))


def named_files(change: Change) -> set[str]:
    """The files whose bytes a change needs."""
    named = {content.file for content in change.contents} | {aside.span.file for aside in change.asides}
    return named | {piece.file for content in change.contents for piece in content.pieces if piece.base64 is None}
