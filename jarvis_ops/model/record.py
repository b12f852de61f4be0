"""Where a stored unit lies, and its bytes."""

from __future__ import annotations

import msgspec


class Position(msgspec.Struct, frozen=True, omit_defaults=True):
    """A place in a store that a person and a program can find again.

    `file` is relative to the store ("/" between names); `line` counts from 1 and is split on LF only;
    `offset` counts bytes from 0 at the start of the line; `path` says where inside the record
    (`content[1]`). A finding about a file as a whole has a file alone.
    """

    file: str
    line: int | None = None
    offset: int | None = None
    path: str | None = None


class Record(msgspec.Struct, gc=False):
    """One line of a log as it is stored: its place and its raw bytes, line feed included.

    `line` is None when the record was read from the end of a file, where lines before it are not counted.
    """

    file: str
    line: int | None
    offset: int
    raw: bytes

    def position(self, path: str | None = None) -> Position:
        """The place of this record, or of the part of it that `path` names."""
        return Position(self.file, self.line, self.offset, path)
