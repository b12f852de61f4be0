"""Every failure that a user can meet, with the code and the exit code that go with it."""

from __future__ import annotations


class OpsError(Exception):
    """A failure with one clear sentence for a person and a stable code for a program.

    `code` is stable text for programs; `exit_code` is what the process answers (CLI table: 2 usage,
    3 the job could not be done, 4 left alone). `conversation` names the one it concerns, if any.
    """

    code = "failed"
    exit_code = 3

    def __init__(self, message: str, *, conversation: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.conversation = conversation


class UsageError(OpsError):
    """The command line cannot be carried out as it was typed."""

    code = "usage"
    exit_code = 2


class ConfigurationError(UsageError):
    """A configuration file or an environment variable says something that cannot be used."""

    code = "configuration"


class UnknownConversationError(UsageError):
    """No conversation, or more than one, answers to an id."""

    code = "unknown-conversation"


class StoreError(OpsError):
    """The store as a whole cannot be opened or read."""

    code = "store"


class UnreadableError(OpsError):
    """One conversation, or one part of it, cannot be read: permission, I/O, or not a regular file."""

    code = "unreadable"


class UnknownDialectError(OpsError):
    """The records of a conversation are of no form that is known; it was neither judged nor touched."""

    code = "unknown-dialect"


class WorkerDiedError(OpsError):
    """A process that judged conversations was ended from outside, mostly for want of memory."""

    code = "worker-died"


class BusyError(OpsError):
    """A conversation is in use; it was left alone."""

    code = "busy"
    exit_code = 4


class StaleError(OpsError):
    """A plan was made from a conversation that has changed since; nothing was done."""

    code = "stale"


class RefusedError(OpsError):
    """What was asked for could lose or damage something, so it was not done."""

    code = "refused"
