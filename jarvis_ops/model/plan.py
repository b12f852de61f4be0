"""What a repair will do to a conversation: its steps, for a person; its content, for the store that carries it out."""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

from jarvis_ops.model.conversation import Conversation
from jarvis_ops.model.finding import Finding, Safety
from jarvis_ops.model.pieces import Edit, Span
from jarvis_ops.model.record import Position

PLAN = "jarvis-ops-plan/1"

StepKind = Literal["insert", "replace", "move", "set-aside", "set-mode", "add-file"]
# Why a step is not carried out with the options given.
Held = Literal["lossy", "asked", "sealed"]


class Step(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    r"""One change, in the words of a plan.

    `position` is where it happens, `to` where a moved record goes (it will stand right behind that place). `bytes` is
    what is put in or put in place of something, as text (bytes that are not UTF-8 as `\xNN`). `held` says what
    keeps the step from being carried out.
    """

    step: StepKind
    position: Position
    why: str
    rule: str
    safety: Safety
    to: Position | None = None
    record_id: str | None = None
    call_id: str | None = None
    bytes: str | None = None
    held: Held | None = None

    def told(self) -> Step:
        """The step with its places as a report tells them."""
        to = self.to.told() if self.to is not None else None
        return msgspec.structs.replace(self, position=self.position.told(), to=to)


class Repair(NamedTuple):
    """How one finding is mended: steps for the plan, edits for the content. All of it happens, or none.

    Edits replace whole lines by whole lines. `removes` counts records that leave the file, `adds` those that are put
    in, `moves` those that change their place. `inserted` are the ids of the records that it puts in.
    """

    finding: Finding
    safety: Safety
    steps: tuple[Step, ...]
    edits: tuple[Edit, ...]
    removes: int = 0
    adds: int = 0
    moves: int = 0
    inserted: tuple[str, ...] = ()


class Refusal(NamedTuple):
    """Why a finding that has a repair in the catalogue cannot be mended here, in one sentence."""

    finding: Finding
    reason: str


class Part(msgspec.Struct, frozen=True):
    """A file of a conversation as a plan saw it: its size in bytes, and the sha256 (hex) of these bytes."""

    file: str
    bytes: int
    sha256: str


class Aside(msgspec.Struct, frozen=True):
    """Bytes that leave a file: a span of the original, the line that it begins in, and the rule that took it out."""

    span: Span
    line: int
    rule: str


class Piece(msgspec.Struct, frozen=True, omit_defaults=True):
    """A piece of new content as a plan file holds it: a stretch of a file, or new bytes as base64."""

    file: str = ""
    offset: int = 0
    length: int = 0
    base64: str | None = None


class Content(msgspec.Struct, frozen=True):
    """The new content of one file, piece by piece."""

    file: str
    pieces: tuple[Piece, ...]


class NewMode(msgspec.Struct, frozen=True):
    """The permission bits of a file, before and after."""

    file: str
    old: int
    new: int


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What is to become of a conversation. Used once: a store that no longer matches `fingerprint` refuses it.

    `contents` are the files that change, in the order in which they must be swapped; `asides` what leaves them; `modes`
    are set when the files are in their places.
    `inserted` are the ids of records that were put in, so that an undo can tell whether others refer to them. `moved`,
    `added` and `removed` count records. `undoes` is the run that the change takes back.
    """

    command: str
    conversation: Conversation
    fingerprint: tuple[Part, ...]
    contents: tuple[Content, ...]
    asides: tuple[Aside, ...] = ()
    modes: tuple[NewMode, ...] = ()
    steps: tuple[Step, ...] = ()
    inserted: tuple[str, ...] = ()
    moved: int = 0
    added: int = 0
    removed: int = 0
    undoes: str | None = None
