"""What is known of one conversation after it was judged."""

from __future__ import annotations

import msgspec

from jarvis_ops.model.finding import Finding


class Verdict(msgspec.Struct, kw_only=True):
    """What is known of a conversation after judging it.

    `talk` counts user and assistant records, `typed` the prompts of the user among them.
    `attachments` are files that records name as holding a result, each with the finding that it is gone.
    `cwds` are the working directories that its records name, `branch_of` the conversation that its metadata says it
    was copied from. `growing` says that a writer was in the middle of the last line.
    """

    dialect: str
    findings: list[Finding] = []
    records: int = 0
    bytes: int = 0
    last_time: int | None = None
    talk: int = 0
    typed: int = 0
    cwds: list[str] = []
    prompts: bool = False
    branch_of: str | None = None
    growing: bool = False
    sign: str = ""
    attachments: list[tuple[str, Finding]] = []
