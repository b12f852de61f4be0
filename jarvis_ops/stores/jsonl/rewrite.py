"""Carries a change out: new files beside the old ones, backups, then the swap; or nothing at all.

The order is what makes it safe. The journal names every file of ours before it is made. All that is new, and the
second name of what is old, survive a power cut before the first file is swapped. From then on the old file is in the
backups, and whoever comes after us can tell from the journal, the names and the inodes how far we came.
"""

from __future__ import annotations

import contextlib

from jarvis_ops.errors import OpsError, RefusedError, StaleError
from jarvis_ops.model.plan import Change
from jarvis_ops.model.run import Applied
from jarvis_ops.stores.disk import Status, make_folders
from jarvis_ops.stores.jsonl.compose import (
    check_fresh,
    named_files,
    new_size,
    set_aside,
    write_new,
)
from jarvis_ops.stores.jsonl.journal import Journal, Swap, save
from jarvis_ops.stores.jsonl.modes import check_modes, settable
from jarvis_ops.stores.jsonl.ours import (
    BACKUPS,
    FOLDER,
    Files,
    Ours,
    backup_name,
    owner,
    real_files,
    temporary_name,
)
from jarvis_ops.stores.jsonl.settle import clear_names, forget, settle, withdraw
from jarvis_ops.stores.jsonl.swap import places_of, swap_all
from jarvis_ops.stores.jsonl.watch import Watch


class Rewrite:
    """One change of one conversation. `run` is called once."""

    def __init__(self, disk: Files, ours: Ours, change: Change, run: str) -> None:
        self.disk = disk
        self.ours = ours
        self.change = change
        self.run_id = run
        self.real = real_files(disk, change.conversation, ours.base)
        self.sources: dict[str, Watch] = {}
        self.modes: list[Status] = []
        self.journal = Journal(
            run=run,
            command=change.command,
            conversation=change.conversation.id,
            state="begun",
            files=[],
            modes=tuple(settable(change.modes, self.real)),
            steps=change.steps,
            inserted=change.inserted,
            moved=change.moved,
            added=change.added,
            removed=change.removed,
            undoes=change.undoes,
        )

    def run(self) -> Applied:
        """Carry it out. OSError and OpsError; see WritableStore.apply."""
        with contextlib.ExitStack() as closing:
            self._open(closing)
            self._check()
            try:
                self._prepare()
                level = swap_all(self.disk, self.ours, self.journal.files, self._olds())
            except BaseException:
                self._withdraw()
                raise
            try:
                lines = settle(self.disk, self.ours, self.journal, self._like(), patient=True)
                return Applied(level if self.journal.files else None, lines)
            except BaseException:
                self._tidy()
                raise

    def _olds(self) -> list[Watch]:
        return [self.sources[content.file] for content in self.change.contents]

    def _like(self) -> Status:
        """Whose our files are to be: those of the live file's owner."""
        return self._olds()[-1].seen if self.change.contents else self.modes[-1]

    def _path(self, file: str) -> str:
        """Where a file lies that the change names. RefusedError if it may name none such."""
        if file in self.real:
            return self.ours.path(self.real[file])
        folder, _, name = file.rpartition("/")
        if folder == f"{FOLDER}/{BACKUPS}" and name not in {"", ".", ".."}:
            return self.ours.inside(BACKUPS, name)
        raise RefusedError(f"the plan names {file}, which is no part of this conversation")

    def _open(self, closing: contextlib.ExitStack) -> None:
        for file in sorted(named_files(self.change)):
            path = self._path(file)
            try:
                watch = Watch(self.disk, path)
            except FileNotFoundError as error:
                raise StaleError(f"{file} is gone since the plan was made") from error
            closing.callback(watch.close)
            self.sources[file] = watch

    def _check(self) -> None:
        """All that can be known beforehand."""
        self.modes = check_modes(self.disk, self.ours, self.journal.modes)
        known = {part.file: part for part in self.change.fingerprint}
        for content, old in zip(self.change.contents, self._olds(), strict=True):
            if not old.seen.regular:
                raise RefusedError(f"{content.file} is no regular file")
            if old.seen.links > 1:
                raise RefusedError(f"{content.file} has {old.seen.links} names (hard links), and would lose the others")
            old.check_free()
        for file, source in self.sources.items():
            if file not in known:
                raise StaleError(f"the plan does not say what {file} was when it was made")
            check_fresh(self.disk, known[file], source, may_grow=file not in self.real)
        needed = sum(map(new_size, self.change.contents)) * 22 // 10
        free = self.disk.free_space(self.ours.base)
        if free < needed:
            raise RefusedError(f"the disk is too full: {needed} bytes must be free to be safe, and {free} are")

    def _prepare(self) -> None:
        """Write all that is new, and give what is old a second name, so that it survives a power cut."""
        disk, ours, like = self.disk, self.ours, self._like()
        for content, old in zip(self.change.contents, self._olds(), strict=True):
            self.journal.files.append(self._swap(content.file, old))
        save(disk, ours, self.journal, like)
        for content, old, swap in zip(self.change.contents, self._olds(), self.journal.files, strict=True):
            written, swap.new_digest = write_new(disk, places_of(ours, swap).waiting, content, self.sources, old.seen)
            swap.new, swap.new_size = written.inode, written.size
        if self.change.asides:
            set_aside(disk, ours, self.run_id, self.change.asides, self.sources, like)
        if self.journal.files:
            self._back_up(like)
        self.journal.state = "ready"
        save(disk, ours, self.journal, like)

    def _back_up(self, like: Status) -> None:
        disk, ours = self.disk, self.ours
        make_folders(disk, ours.inside(BACKUPS), owner(disk, like))
        for swap in self.journal.files:
            disk.link(places_of(ours, swap).live, places_of(ours, swap).backup)
        disk.flush_folder(ours.inside(BACKUPS))
        for folder in {places_of(ours, swap).folder for swap in self.journal.files}:
            disk.flush_folder(folder)

    def _swap(self, file: str, old: Watch) -> Swap:
        name, size = self.real[file], old.seen.size
        known = next(part for part in self.change.fingerprint if part.file == file)
        return Swap(
            file=name,
            temporary=temporary_name(name, self.run_id),
            backup=backup_name(name, size, self.run_id),
            old=old.seen.inode,
            size=size,
            digest=known.sha256,
            carried=size,
        )

    def _withdraw(self) -> None:
        """Remove all that was made. What cannot be removed is left to the next start, together with the journal."""
        try:
            if self.journal.files or self.journal.modes:
                withdraw(self.disk, self.ours, self.journal, grace=self.journal.state == "ready")
                forget(self.disk, self.ours, self.run_id)
        except (OSError, OpsError):
            self._tidy()

    def _tidy(self) -> None:
        """The next start brings it to an end; but no hidden name that is not needed for that is to stay until then."""
        with contextlib.suppress(OSError):
            clear_names(self.disk, self.ours, self.journal)
