"""Where a stored unit lies, and its bytes."""

from __future__ import annotations

import msgspec


class Position(msgspec.Struct, frozen=True, omit_defaults=True):
    """A place in a store that a person and a program can find again.

    `file` is relative to the store ("/" between names); `line` counts from 1 and is split on LF only;
    `offset` counts bytes from 0 at the start of the line; `path` says where inside the record
    (`content[1]`). A finding about a file as a whole has a file alone. In a database the place is a row: `table` and
    `key`, or the table alone; file, line and offset are those of a row among the lines that it is read as, and no
    report tells them.
    """

    file: str = ""
    line: int | None = None
    offset: int | None = None
    path: str | None = None
    table: str | None = None
    key: str | None = None

    def told(self) -> Position:
        """The place as a report tells it: of a row only its table, its key, and where inside it."""
        return self if self.table is None else Position(path=self.path, table=self.table, key=self.key)


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


class Row(Record, kw_only=True, gc=False):
    """One row of a database as the line that it stands for.

    `time` and `seq` are what the database orders rows by, None where a row has none; a time is in the unit of its
    column (`model.profile.Clock`). `compacted` is None for a row of the replay, else the key of the row that sums it
    up ("" where the row does not say).
    """

    table: str
    key: str
    time: int | str | None = None
    seq: int | None = None
    compacted: str | None = None

    def position(self, path: str | None = None) -> Position:
        """The place of this row, or of the part of it that `path` names."""
        return Position(self.file, self.line, self.offset, path, self.table, self.key)
