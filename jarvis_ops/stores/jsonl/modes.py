"""Sets the permission bits of files as they lie. The bytes stay, so nobody who reads or writes them is disturbed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from jarvis_ops.errors import RefusedError, StaleError
from jarvis_ops.model.plan import NewMode
from jarvis_ops.stores.disk import Status
from jarvis_ops.stores.jsonl.ours import Files, Ours


def settable(modes: Iterable[NewMode], real: Mapping[str, str]) -> Iterator[NewMode]:
    """The same with names relative to the folder of the live file. RefusedError for what is no part."""
    for mode in modes:
        if mode.file not in real:
            raise RefusedError(f"the plan names {mode.file}, which is no part of this conversation")
        yield NewMode(real[mode.file], mode.old, mode.new)


def check_modes(disk: Files, ours: Ours, modes: Iterable[NewMode]) -> list[Status]:
    """What the files are. StaleError if one has another mode than was planned; OSError if none may be set."""
    found: list[Status] = []
    for mode in modes:
        try:
            descriptor = disk.open(ours.path(mode.file))
        except FileNotFoundError as error:
            raise StaleError(f"{mode.file} is gone since the plan was made") from error
        try:
            found.append(disk.status_of(descriptor))
            if found[-1].mode != mode.old:
                raise StaleError(f"the mode of {mode.file} has changed since the plan was made")
            # Whether we may is asked of the system before anything is begun.
            disk.set_mode(descriptor, mode.old)
        finally:
            disk.close(descriptor)
    return found


def set_modes(disk: Files, ours: Ours, modes: Iterable[NewMode]) -> None:
    """Set them, safe from a power cut; a file that is gone, or has a mode of another's making, is left. OSError."""
    for mode in modes:
        try:
            descriptor = disk.open(ours.path(mode.file))
        except FileNotFoundError:
            continue
        try:
            if disk.status_of(descriptor).mode in {mode.old, mode.new}:
                disk.set_mode(descriptor, mode.new)
                disk.flush(descriptor)
        finally:
            disk.close(descriptor)
