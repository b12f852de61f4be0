"""Items of the OpenAI Responses form, read one a record as JARVIS lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jarvis_ops.dialects.jarvis import Jarvis
from jarvis_ops.model.message import Message

# Each call is an item of its own, so no item ends the answer of which it is a part.
ANSWER = "items"


class Items(Jarvis):
    """Reads lines that stand for items: a result may come any time after its call."""

    name = "openai_agents"

    def decode(self, record: Mapping[str, Any]) -> Message:
        """The message of an item."""
        message = super().decode(record)
        if message.role == "assistant":
            message.group_id = ANSWER
        return message
