"""Makes sure that nobody writes to a file, by the best means that the system has."""

from __future__ import annotations

import contextlib

from jarvis_ops.errors import BusyError
from jarvis_ops.model.run import Level
from jarvis_ops.stores.jsonl.ours import Files

# From the surest to the least sure.
LEVELS: tuple[Level, ...] = ("lease", "open-files", "quiet")


class Watch:
    """A file that is held open for reading, and that writers are held off from between `guard` and `close`."""

    def __init__(self, disk: Files, path: str) -> None:
        self.path = path
        self.level: Level = "lease"
        self._disk = disk
        self._leased = False
        self.descriptor = disk.open(path)
        self.seen = disk.status_of(self.descriptor)

    def guard(self) -> None:
        """Hold writers off, where the system can. BusyError if there is one."""
        granted = self._disk.lease(self.descriptor)
        self._leased = granted is True
        if granted is None:
            found = self._disk.writers(self.seen)
            self.level = "open-files" if found.complete else "quiet"
            if found.pids:
                raise BusyError(f"process {found.pids[0]} has its log open for writing; it was left alone")
        elif not granted:
            raise BusyError(f"a program{self._which()} has its log open for writing; it was left alone")

    def let_go(self) -> None:
        """Let writers in."""
        if self._leased:
            self._leased = False
            # Should it fail: at the latest it ends together with the descriptor.
            with contextlib.suppress(OSError):
                self._disk.end_lease(self.descriptor)

    def check_free(self) -> None:
        """BusyError if anybody writes; nobody is held off."""
        self.guard()
        self.let_go()

    def is_free(self) -> bool:
        """Whether nobody writes, as far as can be told."""
        try:
            self.check_free()
        except BusyError:
            return False
        return True

    def disturbed(self) -> bool:
        """Whether somebody waits to write, or has written since this file was opened."""
        if self._leased and self._disk.waiting(self.descriptor):
            return True
        now = self._disk.status_of(self.descriptor)
        return (now.size, now.mtime_ns) != (self.seen.size, self.seen.mtime_ns)

    def close(self) -> None:
        """Let writers in, and give the descriptor back."""
        self.let_go()
        self._disk.close(self.descriptor)

    def _which(self) -> str:
        pids = self._disk.writers(self.seen).pids
        return f", process {pids[0]}," if pids else ""


def surest(watches: list[Watch]) -> Level:
    """How well it was known, for all of these files, that nobody writes."""
    return max((watch.level for watch in watches), key=LEVELS.index, default="lease")
