"""Changes made by hand: what is to become of the files of a conversation, piece by piece."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence

from jarvis_ops.model.conversation import Conversation
from jarvis_ops.model.pieces import PieceTable, Span, removed
from jarvis_ops.model.plan import Aside, Change, Content, Part, Piece
from jarvis_ops.stores.base import WritableStore

RUN = "20261130T221500Z-3fa9"
LATER = "20261130T221501Z-4fb0"
LATEST = "20261130T221502Z-5fc1"

Pieces = Sequence[Span | bytes]


def lines(*texts: str) -> bytes:
    return b"".join(b'{"id":"%s"}\n' % text.encode() for text in texts)


OLD = lines("m1", "m2") + b'{"id":"torn\0\0\n' + lines("m3", "m4")
TORN = Span("a.jsonl", 24, 38)


def healed(file: str = "a.jsonl", size: int = len(OLD)) -> list[Span | bytes]:
    """OLD without its torn line, with a line put in, and with the last two in another order."""
    return [
        Span(file, 0, 12),
        lines("made"),
        Span(file, 12, 24),
        Span(file, 50, size),
        Span(file, 38, 50),
    ]


NEW = lines("m1", "made", "m2", "m4", "m3")


def change_of(
    conversation: Conversation,
    contents: Mapping[str, bytes],
    tables: Mapping[str, Pieces],
    *,
    inserted: Iterable[str] = (),
) -> Change:
    """A change of files whose contents are these; what no table keeps is set aside."""
    made = {file: PieceTable(pieces) for file, pieces in tables.items()}
    gone = removed(made, {file: len(contents[file]) for file in tables})
    return Change(
        command="heal",
        conversation=conversation,
        fingerprint=tuple(
            Part(file, len(contents[file]), hashlib.sha256(contents[file]).hexdigest()) for file in tables
        ),
        contents=tuple(Content(file, tuple(map(stored, table.pieces))) for file, table in made.items()),
        asides=tuple(Aside(span, contents[span.file].count(b"\n", 0, span.start) + 1, "torn-line") for span in gone),
        inserted=tuple(inserted),
        added=1,
        removed=len(gone),
    )


def stored(piece: Span | bytes) -> Piece:
    if isinstance(piece, Span):
        return Piece(file=piece.file, offset=piece.start, length=piece.length)
    return Piece(base64=base64.b64encode(piece).decode())


def conversation_of(store: WritableStore, name: str = "a") -> Conversation:
    return next(each for each in store.inventory().conversations if each.id == name)


def heal(store: WritableStore, run: str = RUN, name: str = "a") -> Change:
    """The change of a conversation that holds OLD, and perhaps more behind it, into NEW and the same behind it."""
    conversation = conversation_of(store, name)
    assert conversation.live is not None
    with open(conversation.live.path, "rb") as file:
        data = file.read()
    file_name = conversation.live.file
    pieces = healed(file_name)
    if len(data) > len(OLD):
        pieces.append(Span(file_name, len(OLD), len(data)))
    change = change_of(conversation, {file_name: data}, {file_name: pieces}, inserted=("made",))
    with store.hold(conversation, run):
        store.apply(change, run)
    return change


def take_back(store: WritableStore, run: str, by: str, name: str = "a") -> None:
    """Undo a run, under the name of another one."""
    conversation = conversation_of(store, name)
    (entry,) = [each for each in store.runs(store.inventory()) if (each.run, each.conversation) == (run, name)]
    change = store.undoing(entry, conversation)
    with store.hold(conversation, by):
        store.apply(change, by)
