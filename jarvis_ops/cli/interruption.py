"""Answers to Ctrl-C and to a request to terminate."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Self

INTERRUPTED = 130
TERMINATED = 143
CLOSED_PIPE = 141


class Terminated(BaseException):
    """The process was asked to end (SIGTERM)."""


class Interruption:
    """While patient, the first Ctrl-C is only noted, so that the conversation at hand is finished; the second ends it.

    Before `patience` is called, Ctrl-C is a KeyboardInterrupt as usual. Outside the main thread, where no
    handler can be set, nothing changes.
    """

    def __init__(self) -> None:
        self.noted = False
        self._patient = False
        self._before: signal._HANDLER = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._on_interrupt)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def patience(self) -> None:
        """From here on the first Ctrl-C lets the conversation at hand be finished."""
        self._patient = True

    def _on_interrupt(self, _number: int, _frame: FrameType | None) -> None:
        if self.noted or not self._patient:
            raise KeyboardInterrupt
        self.noted = True


def terminate_on_request() -> None:
    """Turn SIGTERM into Terminated, so that the report is still printed."""
    signal.signal(signal.SIGTERM, _on_terminate)


def _on_terminate(_number: int, _frame: FrameType | None) -> None:
    raise Terminated
