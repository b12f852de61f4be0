"""The entry point: runs a command and answers with the exit code that its cause deserves."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import typer

from jarvis_ops.cli.app import app
from jarvis_ops.cli.interruption import CLOSED_PIPE, INTERRUPTED, TERMINATED, Terminated, terminate_on_request
from jarvis_ops.errors import OpsError

PROGRAM = "jarvis-ops"
FAULT = 3


def main() -> NoReturn:
    """Run the command line of this process and end the process."""
    _prepare_streams()
    terminate_on_request()
    code = run(sys.argv[1:])
    sys.stderr.flush()
    # What the interpreter would still do at its end could only fail on a closed pipe.
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run one command line; the exit code."""
    try:
        code = _answer(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        return _closed_pipe()
    except OSError as error:
        _drop_output()
        return _say(f"the result cannot be written: {error.strerror or error}", FAULT)
    return code


def _answer(arguments: Sequence[str]) -> int:  # noqa: PLR0911  one answer for each way in which a command ends
    """Invoke the command, and map what comes out of it."""
    command = typer.main.get_command(app)
    try:
        answer = command.main(list(arguments), prog_name=PROGRAM, standalone_mode=False)
    except SystemExit as error:
        return _exit_code(error)
    except typer.TyperException as error:
        return _usage(error)
    except OpsError as error:
        return _say(error.message, error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except Terminated:
        return TERMINATED
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001  a traceback would show what was being read
        from jarvis_ops.cli import fault

        return _say(fault.keep(error), FAULT)
    return answer if isinstance(answer, int) else 0


def _exit_code(error: SystemExit) -> int:
    """Typer itself leaves with 1 when the pipe is closed."""
    if isinstance(error.__context__, BrokenPipeError):
        return _closed_pipe()
    return error.code if isinstance(error.code, int) else 0 if error.code is None else FAULT


def _usage(error: typer.TyperException) -> int:
    """Show a usage error as typer does, with nothing in it that could act on a terminal."""
    from jarvis_ops.render.visible import visible

    shown = io.StringIO()
    show = getattr(error, "show", None)
    if show is None:
        return _say(error.format_message(), error.exit_code)
    show(file=shown)
    lines = [visible(line) for line in shown.getvalue().split("\n")]
    sys.stderr.write("\n".join(lines))
    return error.exit_code


def _say(message: str, code: int) -> int:
    from jarvis_ops.render.views import complain

    complain(message)
    return code


def _closed_pipe() -> int:
    _drop_output()
    return CLOSED_PIPE


def _drop_output() -> None:
    """Nobody reads any more: let what is still buffered go nowhere, so that the end of the process is silent."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)


def _prepare_streams() -> None:
    """Let text that the terminal's encoding lacks be written as escapes; a stream that is closed swallows all."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  open until the process ends
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  open until the process ends
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
