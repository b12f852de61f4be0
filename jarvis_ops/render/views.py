"""The forms in which a report is shown. A view gets each outcome as it comes, and the report at the end."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Protocol, TextIO

from jarvis_ops.model.report import Outcome, Problem, Report
from jarvis_ops.render import envelope, tables
from jarvis_ops.render.form import Form
from jarvis_ops.render.looks import Look
from jarvis_ops.render.visible import visible

# On a narrower terminal the columns would be a few letters wide.
NARROWEST_TABLE = 60


class OutputLostError(OSError):
    """The report cannot be written, for a reason other than a closed pipe."""


class View(Protocol):
    """One form of a report on standard output."""

    def show(self, outcome: Outcome) -> None:
        """Take an outcome that is to be listed."""

    def problem(self, problem: Problem) -> None:
        """Take an error that is no outcome of one conversation alone."""

    def close(self, report: Report, summary: Callable[[], list[str]]) -> None:
        """Show what was kept back, and the end."""


class DocumentView:
    """One JSON document, whatever happened."""

    def __init__(self) -> None:
        self._outcomes: list[Outcome] = []

    def show(self, outcome: Outcome) -> None:
        """Keep it for the document."""
        self._outcomes.append(outcome)

    def problem(self, problem: Problem) -> None:
        """Nothing to do: the report holds it."""

    def close(self, report: Report, summary: Callable[[], list[str]]) -> None:  # noqa: ARG002  a view of the protocol
        """Write the document."""
        report.outcomes = self._outcomes
        _write_bytes(envelope.document(report))


class LinesView:
    """One JSON object a line, written as it happens."""

    def show(self, outcome: Outcome) -> None:
        """Write its line."""
        _write_bytes(envelope.outcome_line(outcome))

    def problem(self, problem: Problem) -> None:
        """Write its line."""
        _write_bytes(envelope.error_line(problem))

    def close(self, report: Report, summary: Callable[[], list[str]]) -> None:  # noqa: ARG002  a view of the protocol
        """Write the last line."""
        _write_bytes(envelope.summary_line(report))


class PlainView:
    """Plain lines, written as it happens; under `quiet` only when the run turns out not to be well."""

    def __init__(self, form: Form, look: Look) -> None:
        self._form = form
        self._look = look
        self._kept: list[Outcome] = []

    def show(self, outcome: Outcome) -> None:
        """Write its lines, or keep them."""
        if self._form.quiet:
            self._kept.append(outcome)
        else:
            self._write(outcome)

    def problem(self, problem: Problem) -> None:
        """Nothing to do: it is said on standard error."""

    def close(self, report: Report, summary: Callable[[], list[str]]) -> None:
        """Write what was kept, and the summary."""
        if self._form.quiet and report.exit_code == 0:
            return
        for outcome in self._kept:
            self._write(outcome)
        for line in summary():
            _write_line(line, stream=sys.stderr if self._look.rows else None)

    def _write(self, outcome: Outcome) -> None:
        for line, word in self._look.lines(outcome, self._form):
            _write_line(line, tables.STYLES.get(word, ""))


class TableView:
    """Tables on a terminal, when all is done."""

    def __init__(self, form: Form, look: Look) -> None:
        self._form = form
        self._look = look
        self._outcomes: list[Outcome] = []

    def show(self, outcome: Outcome) -> None:
        """Keep it for the tables."""
        self._outcomes.append(outcome)

    def problem(self, problem: Problem) -> None:
        """Nothing to do: it is said on standard error."""

    def close(self, report: Report, summary: Callable[[], list[str]]) -> None:
        """Draw the tables, and write the summary."""
        if self._form.quiet and report.exit_code == 0:
            return
        console = tables.console()
        for table in self._look.tables(self._outcomes, self._form, console.width):
            if table.row_count:
                console.print(table)
                console.print()
        for line in summary():
            console.print(line, soft_wrap=True)


def view_of(form: Form, look: Look) -> View:
    """The view for a form; tables need a terminal of some width, and become plain lines elsewhere."""
    if form.output == "json":
        return DocumentView()
    if form.output == "jsonl":
        return LinesView()
    wide = sys.stdout.isatty() and tables.console().width >= NARROWEST_TABLE
    return TableView(form, look) if wide else PlainView(form, look)


def complain(message: str) -> None:
    """One line on standard error, safe for a terminal."""
    _write_line(f"jarvis-ops: {visible(message)}", stream=sys.stderr)


def _write_line(line: str, style: str = "", stream: TextIO | None = None) -> None:
    """Write one line; in colour only where the environment forces it, since plain lines go to no terminal."""
    if stream is not None:
        stream.write(line + "\n")
    elif style and os.environ.get("FORCE_COLOR") and not os.environ.get("NO_COLOR"):
        tables.console(soft_wrap=True).print(line, style=style)
    else:
        _write_bytes(f"{line}\n".encode(sys.stdout.encoding, "backslashreplace"))


def _write_bytes(data: bytes) -> None:
    """Write all of it at once: without a buffer, a write that a signal disturbs takes only a part."""
    rest = memoryview(data)
    try:
        while rest:
            rest = rest[sys.stdout.buffer.write(rest) :]
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputLostError(error.errno, error.strerror) from error
