"""What another record of a conversation has: a second store's, or that of the conversation it was copied from."""

from __future__ import annotations

from collections.abc import Collection

from jarvis_ops.model.conversation import Conversation, Inventory
from jarvis_ops.model.settings import Settings
from jarvis_ops.operations.judge import dialect_of
from jarvis_ops.operations.reading import Reading
from jarvis_ops.plans.lines import Line
from jarvis_ops.plans.results import Result
from jarvis_ops.rules.seams import parse
from jarvis_ops.stores.base import Store


class Counterparts:
    """The conversations of another store, to be found by those of this one."""

    def __init__(self, inventory: Inventory) -> None:
        self._by_name: dict[str, list[Conversation]] = {}
        for one in inventory.conversations:
            self._by_name.setdefault(name_of(one), []).append(one)

    def of(self, conversation: Conversation) -> Conversation | None:
        """The same conversation over there: by its id, by a unique ending of it, by its session in another project.

        An ending begins at a "/", since nobody is asked whether a part of a name was meant. None if there is none, or
        more than one.
        """
        near = self._by_name.get(name_of(conversation), [])
        found = [one for one in near if one.id == conversation.id]
        found = found or [
            one for one in near if is_ending(one.id, conversation.id) or is_ending(conversation.id, one.id)
        ]
        found = found or [one for one in near if in_project(one) == in_project(conversation) != ""]
        return found[0] if len(found) == 1 else None


def name_of(conversation: Conversation) -> str:
    """The last name of an id; whatever fits has the same."""
    return conversation.id.rpartition("/")[2]


def is_ending(ending: str, name: str) -> bool:
    """Whether an id is the end of another one, from a "/" on."""
    return name.endswith("/" + ending)


def in_project(conversation: Conversation) -> str:
    """The id without the project folder, which a move renames; "" where there are no projects."""
    return conversation.id.partition("/")[2] if conversation.layout == "projects" else ""


def results_in(
    store: Store, conversation: Conversation, wanted: Collection[str], settings: Settings
) -> dict[str, bytes]:
    """The lines that hold the results of the wanted calls, by call id; one that was only put in for a missing is none.

    UnreadableError or UnknownDialectError if the conversation cannot be read.
    """
    found: dict[str, bytes] = {}
    with store.open(conversation) as snapshot:
        dialect = dialect_of(snapshot, conversation, settings)
        for record, message in Reading(snapshot, dialect, settings.limits):
            wanted_here = [one for one in message.results if one.id in wanted and one.id not in found]
            raw = without_nul(record.raw) if wanted_here else b""
            value = parse(raw)
            if value is None:
                continue
            line = Line(record, value, message)
            found |= {str(one.id): raw for one in wanted_here if not Result(line, one.path).placeholder}
    return found


def without_nul(raw: bytes) -> bytes:
    """The record of a line without what a power cut may have left in it."""
    return raw.replace(b"\0", b"")


def made_up(raw: bytes) -> bool:
    """Whether a record was put in by a repair."""
    if b"jarvis_ops" not in raw:
        return False
    value = parse(without_nul(raw))
    mark = value.get("jarvis_ops") if value is not None else None
    return isinstance(mark, dict) and mark.get("synthetic") is True
