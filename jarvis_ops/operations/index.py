"""The agent's own indexes, each as a conversation of one file, so that they change and are taken back as those are."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from jarvis_ops.model.conversation import Conversation, Inventory, Oddity, PartFile

INDEX = "claude-index"


def as_conversation(oddity: Oddity) -> Conversation:
    """An index as a conversation; its id is the name of its file."""
    file = PartFile(oddity.file, oddity.path)
    folder = oddity.file.rpartition("/")[0]
    return Conversation(id=oddity.file, session_id="", folder=folder, parts=(file,), live=file, layout="file")


def indexes(inventory: Inventory) -> Iterator[Conversation]:
    """The indexes that lie among the conversations of a store."""
    return (as_conversation(oddity) for oddity in inventory.oddities if oddity.what == INDEX)


def changeable(inventory: Inventory) -> Inventory:
    """All that can be changed in a store: its conversations, and behind them its indexes."""
    return msgspec.structs.replace(inventory, conversations=(*inventory.conversations, *indexes(inventory)))
