"""What heal and undo tell, whatever they have to tell."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

import jsonschema
import pytest

from jarvis_ops.cli.reporting import Reporting
from jarvis_ops.model.report import Outcome, Problem
from jarvis_ops.render import envelope
from jarvis_ops.render.form import Form
from jarvis_ops.render.looks import look_of
from tests.cli.outcomes import INSERT, RUN, TWICE, applied, healed, hostile, planned

SCHEMA = json.loads(envelope.schema())
GO_ON = "jarvis-ops heal picnic --store sessions --apply"
TAKE_BACK = f"jarvis-ops undo {RUN} --store sessions --apply"
Told = tuple[int, list[str], str]


@pytest.fixture
def told(capfd: pytest.CaptureFixture[str]) -> Any:
    """Reports outcomes as a command does; the exit code, the lines on standard output, and standard error."""

    def tell(outcomes: Iterable[Outcome], form: Form | None = None, command: str = "heal") -> Told:
        report = look_of(command).report(command=command, store="sessions", store_from="flag --store")
        reporting = Reporting(report, form or Form())
        reporting.tally.go_on, reporting.tally.take_back, reporting.tally.undoes = GO_ON, TAKE_BACK, RUN
        for outcome in outcomes:
            reporting.add(outcome)
        reporting.settle()
        code = reporting.show()
        out, error = capfd.readouterr()
        return code, out.splitlines(), error

    return tell


def drawn(told: Told) -> str:
    """What a terminal shows, without the colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(told[1]))


def test_a_plan(told: Any) -> None:
    code, lines, error = told([planned()])
    assert (code, error) == (1, "")
    assert lines == [
        "picnic.jsonl:6: safe insert unanswered-call no result was recorded (call call_3)",
        "picnic.jsonl:9: safe move misplaced-result the result goes to its call; it goes behind picnic.jsonl:4",
        "picnic.jsonl:12: lossy set-aside orphan-result no call asked for it (held back)",
        "picnic.jsonl:3: asked replace dangling-parent its parent is gone (held back)",
        "picnic.jsonl:3: error duplicate-id id m3 stands twice",
        "1 conversation, 12 records, 1.2 kB in sessions (flag --store): 2 steps planned in 1 conversation.",
        "Lines: 10 kept, 1 moved, 1 added.",
        "1 repair held back: it is made only when its rule is named; add --rule dangling-parent.",
        "1 repair held back: it takes something out of the replay, and keeps it aside; add --lossy.",
        "Nothing was changed. To carry it out:",
        f"  {GO_ON}",
    ]


def test_what_is_put_in_is_shown_when_asked(told: Any) -> None:
    _, lines, _ = told([planned()], Form(verbose=True))
    assert lines[:2] == [
        "picnic.jsonl:6: safe insert unanswered-call no result was recorded (call call_3)",
        '  {"id":"new"}',
    ]
    assert ".: info file-mode others may read it" in lines


def test_what_was_done(told: Any) -> None:
    code, lines, _ = told([applied()])
    assert code == 1
    assert lines[4:] == [
        "picnic.jsonl:3: error duplicate-id id m3 stands twice",
        "picnic: an earlier run was interrupted; it was put back",
        "picnic: reachable from its last message: 9 messages before, 10 after",
        "picnic: a changed history stands before 1 signed thinking block",
        "picnic: a record that is taken away is named in 2 places outside the log",
        "picnic: not mended: bad-call-id: no result belongs to it",
        "picnic: 2 lines written meanwhile by others, and kept",
        "picnic: that nobody else was writing was told only by its not having been touched for a while",
        "1 conversation, 12 records, 1.2 kB in sessions (flag --store): 2 steps taken in 1 conversation, 1 error left.",
        "Lines: 10 kept, 1 moved, 1 added.",
        "1 repair held back: it is made only when its rule is named; add --rule dangling-parent.",
        "1 repair held back: it takes something out of the replay, and keeps it aside; add --lossy.",
        "To take it back:",
        f"  {TAKE_BACK}",
        "An agent that has it in memory must reopen it.",
    ]


def test_all_done(told: Any) -> None:
    code, lines, _ = told([applied(status="applied", findings=[], held={}, steps=[INSERT], writer_check="lease")])
    assert code == 0
    assert lines[-1] == "An agent that has it in memory must reopen it."


def test_nothing_to_do(told: Any) -> None:
    code, lines, _ = told([healed("clean")])
    assert code == 0
    assert lines == ["1 conversation, 0 records, 0 bytes in sessions (flag --store): nothing to mend."]
    assert told([healed("clean")], Form(quiet=True)) == (0, [], "")
    assert "picnic: clean" in told([healed("clean")], Form(verbose=True))[1]


def test_only_what_waits_for_an_option(told: Any) -> None:
    only = planned(steps=planned().steps[2:], findings=[TWICE], status="found")
    code, lines, _ = told([only])
    assert code == 1
    assert lines[-2:] == ["Nothing was changed. To go on:", f"  {GO_ON} --lossy"]
    only = planned(steps=planned().steps[3:], findings=[TWICE], held={"asked": 1}, status="found")
    assert told([only])[1][-1] == f"  {GO_ON} --rule dangling-parent"


def test_what_is_in_use_is_left_alone(told: Any) -> None:
    code, lines, error = told([healed("skipped", errors=[Problem("busy", "a turn is running", "picnic")])])
    assert code == 4
    assert lines[0] == "picnic: skipped"
    assert lines[-1] == "1 conversation left alone."
    assert error == "jarvis-ops: picnic: a turn is running\n"


def test_the_highest_cause_wins(told: Any) -> None:
    busy = healed("skipped", "a", errors=[Problem("busy", "a turn is running", "a")])
    failed = healed("failed", "b", errors=[Problem("refused", "it has another name", "b")], lines_kept=5)
    assert told([busy, planned("c")])[0] == 1
    code, lines, _ = told([busy, planned("c"), failed])
    assert code == 3
    assert "Lines: 10 kept, 1 moved, 1 added." in lines
    assert "1 conversation failed." in lines


def test_a_limit_counts_steps(told: Any) -> None:
    code, lines, _ = told([planned("a"), planned("b")], Form(limit=3))
    assert code == 1
    assert [line.split(": ")[1].split()[1] for line in lines[:3]] == ["insert", "move", "set-aside"]
    assert "5 more counted but not listed (--limit)." in lines
    assert any("4 steps planned in 2 conversations" in line for line in lines)


def test_taking_back(told: Any) -> None:
    code, lines, _ = told([planned(undoes=RUN, findings=[], held={}, steps=[INSERT])], command="undo")
    assert code == 1
    assert lines[-3:] == [
        f"1 conversation of run {RUN} in sessions (flag --store): 1 step planned in 1 conversation.",
        "Nothing was changed. To carry it out:",
        f"  {GO_ON}",
    ]
    assert told([healed("clean", undoes=RUN)], command="undo")[1] == [
        f"1 conversation of run {RUN} in sessions (flag --store): nothing to take back."
    ]


@pytest.mark.parametrize("output", ["json", "jsonl"])
def test_documents_keep_to_the_schema(told: Any, output: str) -> None:
    names = {"heal": "Heal", "undo": "Heal", "recover": "Recover", "runs": "Run", "gc": "Gc"}
    for command, name in names.items():
        outcomes: list[Outcome] = [planned(), applied()] if name == "Heal" else []
        outcomes += [one for one in hostile() if type(one).__name__ == f"{name}Outcome"]
        assert outcomes
        _, lines, _ = told(outcomes, Form(output=output, verbose=True), command)
        documents = [json.loads(line) for line in lines]
        document = f"{name}sReport" if name == "Run" else f"{name}Report"
        kinds = {"outcome": f"{name}Line", "error": "ErrorLine", "summary": "SummaryLine", None: document}
        for one in documents:
            jsonschema.validate(one, {"$ref": f"#/$defs/{kinds[one.get('type')]}", "$defs": SCHEMA["$defs"]})
            jsonschema.validate(one, SCHEMA)


def test_the_counts_are_sums(told: Any) -> None:
    _, lines, _ = told([planned("a"), applied()], Form(output="json"))
    counts = json.loads(lines[0])["counts"]
    assert counts["held"] == {"lossy": 2, "asked": 2}
    assert (counts["lines_kept"], counts["lines_moved"], counts["lines_added"]) == (20, 2, 2)


@pytest.mark.parametrize("output", ["table", "json", "jsonl"])
@pytest.mark.parametrize("command", ["heal", "undo", "recover", "runs", "gc"])
def test_nothing_from_a_store_reaches_the_terminal_raw(told: Any, command: str, output: str) -> None:
    _, lines, error = told(hostile(), Form(output=output, verbose=True), command)
    text = "\n".join([*lines, error])
    assert not {"\x1b", "\x07", "\u202e", "\u009b"} & set(text)
    assert re.search(r"x1b|u001b", text)


@pytest.mark.parametrize("command", ["heal", "undo", "recover", "runs", "gc"])
def test_nor_does_it_in_a_table(told: Any, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "200")
    for number in (1, 50):
        text = drawn(told(hostile() * number, command=command))
        assert not {"\x1b", "\x07", "\u202e", "\u009b"} & set(text)
        assert "evil" in text


def test_many_steps_are_grouped(told: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "120")
    text = drawn(told([planned(f"c{number}") for number in range(20)]))
    assert re.search(r"unanswered-call +insert +safe +20 +20 +picnic\.jsonl:6", text)
    assert re.search(r"orphan-result +set-aside +held back +20 +20 +picnic\.jsonl:12", text)
