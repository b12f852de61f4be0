"""Answers to Ctrl-C and to a request to terminate."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Self

INTERRUPTED = 130
TERMINATED = 143
CLOSED_PIPE = 141
CODES: dict[int, int] = {signal.SIGINT: INTERRUPTED, signal.SIGTERM: TERMINATED}


class Terminated(BaseException):
    """The process was asked to end (SIGTERM)."""


class Interruption:
    """While patient, the first Ctrl-C, or request to terminate, is only noted; the second ends the work at once.

    So the conversation at hand is finished. Before `patience` is called both end it as usual. Outside the main thread,
    where no handler can be set, nothing changes.
    """

    def __init__(self) -> None:
        # The exit code of what was noted, 0 for nothing.
        self.noted = 0
        self._patient = False
        self._before: dict[int, signal._HANDLER] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._on_signal) for number in CODES}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def patience(self) -> None:
        """From here on the first request lets the conversation at hand be finished."""
        self._patient = True

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        if self.noted or not self._patient:
            raise KeyboardInterrupt if number == signal.SIGINT else Terminated
        self.noted = CODES[number]


def terminate_on_request() -> None:
    """Turn SIGTERM into Terminated, so that the report is still printed."""
    signal.signal(signal.SIGTERM, _on_terminate)


def _on_terminate(_number: int, _frame: FrameType | None) -> None:
    raise Terminated
