"""Turns: whether each got its answer, stands in one file, and stopped for the reason it gives."""

from __future__ import annotations

from jarvis_ops.model.finding import Finding
from jarvis_ops.model.message import Message
from jarvis_ops.model.record import Position, Record
from jarvis_ops.rules.findings import found


class Turns:
    """Follows the turns of one replay. `feed` it the messages, tell it where a file begins, then `finish` it.

    Afterwards `last` is the last message that the agent would send, and `accepted` the id and time of a turn
    that was accepted and has not ended.
    """

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.last: Message | None = None
        self.last_record: Record | None = None
        self.accepted: Message | None = None
        self.new_file = False
        self.stop_at: Position | None = None
        self.group: str | None = None

    def file_begins(self) -> None:
        """The next record is the first of another file."""
        self.new_file = self.last is not None

    def feed(self, message: Message, record: Record) -> None:
        """Take the next record, message or marker."""
        if message.type == "turn_accepted":
            self.accepted = message
        elif message.type == "turn_end":
            self.accepted = None
        if not message.sent or message.proactive:
            return
        if message.role != "system":
            if self.new_file and self.continues(message):
                detail = "a turn that began in the file before goes on in this one"
                self.findings.append(found("turn-split", record.position(), detail, record_id=message.id))
            self.new_file = False
        self.stop_reason(message, record)
        if (
            message.typed
            and self.last is not None
            and self.last.role != "assistant"
            and self.last.results
            and self.last_record is not None
        ):
            detail = "the turn ends with tool results; no answer followed"
            self.findings.append(
                found("turn-without-answer", self.last_record.position(), detail, record_id=self.last.id)
            )
        self.last, self.last_record = message, record

    def continues(self, message: Message) -> bool:
        """Whether a message belongs to the turn of the message before it."""
        if self.last is not None and message.turn_id is not None and self.last.turn_id is not None:
            return message.turn_id == self.last.turn_id
        return not message.typed

    def stop_reason(self, message: Message, record: Record) -> None:
        """Watch an answer, line by line, for a call that it says it stopped for."""
        if message.role != "assistant":
            return
        if message.group_id is None or message.group_id != self.group:
            self.answer_ends()
            self.group = message.group_id
            self.stop_at = None
        if message.calls or any(result.server for result in message.results):
            self.group = None  # one call is enough for the whole answer
            self.stop_at = None
        elif message.stop == "tool_use" and message.group_id is not None:
            self.stop_at = record.position()

    def answer_ends(self) -> None:
        """An answer is complete: did it hold the call that it stopped for?"""
        if self.stop_at is not None:
            detail = "the answer says that it stopped for a tool call, and holds none"
            self.findings.append(found("tool-use-stop-without-call", self.stop_at, detail))

    def finish(self, frontier: str) -> None:
        """The replay is over; `frontier` is the sign that its last turn still runs, "" when nothing runs."""
        if frontier:
            return
        self.answer_ends()
        if self.last is not None and self.last.typed and self.last_record is not None:
            detail = "the conversation ends with a message of the user, and nothing answers it"
            self.findings.append(found("unanswered-turn", self.last_record.position(), detail, record_id=self.last.id))
