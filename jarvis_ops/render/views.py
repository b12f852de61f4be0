"""The forms in which a report is shown. A view gets each outcome as it comes, and the report at the end."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol, TextIO

from jarvis_ops.model.report import Outcome, Problem, Report, SessionOutcome
from jarvis_ops.render import envelope, tables
from jarvis_ops.render.visible import visible

if TYPE_CHECKING:
    from rich.table import Table


class Form(NamedTuple):
    """How a report is to be shown. `progress` None: only on a terminal. `limit` None: everything is listed."""

    output: str = "table"
    verbose: bool = False
    quiet: bool = False
    progress: bool | None = None
    limit: int | None = None


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
    """One line a finding, written as it happens; under `quiet` only when the run turns out not to be well."""

    def __init__(self, form: Form) -> None:
        self._quiet = form.quiet
        self._kept: list[Outcome] = []

    def show(self, outcome: Outcome) -> None:
        """Write its lines, or keep them."""
        if self._quiet:
            self._kept.append(outcome)
        else:
            self._write(outcome)

    def problem(self, problem: Problem) -> None:
        """Nothing to do: it is said on standard error."""

    def close(self, report: Report, summary: Callable[[], list[str]]) -> None:
        """Write what was kept, and the summary."""
        if self._quiet and report.exit_code == 0:
            return
        for outcome in self._kept:
            self._write(outcome)
        self._end(summary())

    def _write(self, outcome: Outcome) -> None:
        for line, word in tables.plain_lines(outcome):
            _write_line(line, tables.STYLES.get(word, ""))

    def _end(self, lines: list[str]) -> None:
        for line in lines:
            _write_line(line)


class SessionsPlainView(PlainView):
    """One line a conversation with tabs between the columns; the summary goes to standard error."""

    def _write(self, outcome: Outcome) -> None:
        if isinstance(outcome, SessionOutcome):
            _write_line("\t".join(tables.session_cells(outcome)))

    def _end(self, lines: list[str]) -> None:
        for line in lines:
            _write_line(line, stream=sys.stderr)


class TableView:
    """A table on a terminal, when all is done."""

    def __init__(self, form: Form) -> None:
        self._form = form
        self._outcomes: list[Outcome] = []

    def show(self, outcome: Outcome) -> None:
        """Keep it for the table."""
        self._outcomes.append(outcome)

    def problem(self, problem: Problem) -> None:
        """Nothing to do: it is said on standard error."""

    def close(self, report: Report, summary: Callable[[], list[str]]) -> None:
        """Draw the table, and write the summary."""
        if self._form.quiet and report.exit_code == 0:
            return
        console = tables.console()
        for table in self._tables(console.width):
            if table.row_count:
                console.print(table)
                console.print()
        for line in summary():
            console.print(line, soft_wrap=True)

    def _tables(self, width: int) -> list[Table]:  # noqa: ARG002  other tables depend on it
        found = tables.findings_table(self._outcomes, everything=self._form.verbose)
        bare = [one for one in self._outcomes if self._form.verbose or not one.findings]
        return [found, tables.outcomes_table(bare)]


class SessionsTableView(TableView):
    """A table of conversations on a terminal."""

    def _tables(self, width: int) -> list[Table]:
        rows = [one for one in self._outcomes if isinstance(one, SessionOutcome)]
        return [tables.sessions_table(rows, wide=self._form.verbose or width >= tables.WIDE)]


def view_of(form: Form, *, sessions: bool = False) -> View:
    """The view for a form; a table needs a terminal, and becomes plain lines without one."""
    if form.output == "json":
        return DocumentView()
    if form.output == "jsonl":
        return LinesView()
    if sys.stdout.isatty():
        return SessionsTableView(form) if sessions else TableView(form)
    return SessionsPlainView(form) if sessions else PlainView(form)


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
