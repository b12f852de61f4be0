"""Carries a command out: takes outcomes as they come until the end, an interruption, a deadline or a failure."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator

from jarvis_ops.cli import fault
from jarvis_ops.cli.interruption import INTERRUPTED, TERMINATED, Interruption, Terminated
from jarvis_ops.cli.reporting import Reporting
from jarvis_ops.errors import OpsError
from jarvis_ops.model.report import Outcome
from jarvis_ops.render.views import OutputLostError

# The work of a command: opening and choosing happen when it is called, judging while its outcomes are taken.
Work = Callable[[], Generator[Outcome, None, None]]


class UnexpectedFaultError(OpsError):
    """A fault of the program itself; its report file is named in the message."""

    code = "unexpected"


def conduct(
    reporting: Reporting,
    work: Work,
    stop_after: int | None = None,
    afterwards: Callable[[], None] | None = None,
) -> int:
    """Do the work and show the report, whatever happens; the exit code.

    `stop_after` is milliseconds. `afterwards` runs when the exit code is known and the report is not yet shown;
    an OpsError from it counts as well.
    """
    with Interruption() as interruption:
        interrupted = _outcomes(reporting, work, interruption, stop_after)
        reporting.settle(interrupted)
        if afterwards is not None:
            try:
                afterwards()
            except OpsError as error:
                reporting.fail(error)
                reporting.settle(interrupted)
        return reporting.show()


def _outcomes(reporting: Reporting, work: Work, interruption: Interruption, stop_after: int | None) -> int:
    """Take all outcomes; the exit code of an interruption, 0 without one."""
    deadline = None if stop_after is None else time.monotonic() + stop_after / 1000
    try:
        outcomes = work()
        interruption.patience()
        try:
            _take(reporting, outcomes, lambda: bool(interruption.noted) or (deadline is not None and _past(deadline)))
        finally:
            outcomes.close()
    except OpsError as error:
        reporting.fail(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Terminated:
        return TERMINATED
    except (BrokenPipeError, OutputLostError):
        raise
    except Exception as error:  # noqa: BLE001  the report is owed whatever the fault
        reporting.fail(UnexpectedFaultError(fault.keep(error)))
    return interruption.noted


def _take(reporting: Reporting, outcomes: Generator[Outcome, None, None], stop: Callable[[], bool]) -> None:
    for outcome in outcomes:
        reporting.add(outcome)
        if stop():
            return


def _past(deadline: float) -> bool:
    return time.monotonic() >= deadline
