"""A heal as one writes it who has not thought of writers: a temporary file, flushed, renamed over the log."""

from __future__ import annotations

import os

from jarvis_ops.stores.disk import write_all
from jarvis_ops.stores.jsonl.ours import Files
from tests.stores.changes import NEW, OLD


def heal(disk: Files, folder: str, *, flushed: bool = True) -> None:
    live, waiting = os.path.join(folder, "a.jsonl"), os.path.join(folder, ".a.tmp")
    descriptor = disk.open(live)
    size = disk.status_of(descriptor).size
    read = disk.read(descriptor, size, 0)
    disk.close(descriptor)
    descriptor = disk.create(waiting)
    write_all(disk, descriptor, NEW + read[len(OLD) :])
    if flushed:
        disk.flush(descriptor)
    disk.close(descriptor)
    disk.rename(waiting, live)
    if flushed:
        disk.flush_folder(folder)
