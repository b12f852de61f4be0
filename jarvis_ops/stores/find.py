"""Finds the conversation that a person means. An id is compared with what was listed and never becomes a path."""

from __future__ import annotations

import difflib

from jarvis_ops.errors import UnknownConversationError
from jarvis_ops.model.conversation import Conversation, Inventory

SHOWN = 10


def resolve(inventory: Inventory, wanted: str) -> Conversation:
    """The conversation with this id, or the only one whose id ends so.

    An ending that begins at a "/" goes before one inside a name. UnknownConversationError, with the ids that come
    near or with all that fit, when there is none or more than one.
    """
    exact = [each for each in inventory.conversations if each.id == wanted]
    whole = [each for each in inventory.conversations if each.id.endswith("/" + wanted)]
    tail = [each for each in inventory.conversations if each.id.endswith(wanted)] if wanted else []
    for found in (exact, whole, tail):
        if len(found) == 1:
            return found[0]
        if found:
            raise UnknownConversationError(f"{wanted!r} fits {len(found)} conversations: {_listed(found)}")
    raise UnknownConversationError(f"no conversation is called {wanted!r}{_nearest(inventory, wanted)}")


def _listed(found: list[Conversation]) -> str:
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return ", ".join(each.id for each in found[:SHOWN]) + more


def _nearest(inventory: Inventory, wanted: str) -> str:
    names = {each.id: each.id for each in inventory.conversations}
    names.update({each.id.rpartition("/")[2]: each.id for each in inventory.conversations})
    near = difflib.get_close_matches(wanted, names, n=3)
    return "; nearest: " + ", ".join(dict.fromkeys(names[each] for each in near)) if near else ""
