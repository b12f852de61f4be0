"""One set of conversations in three kinds of store gives the same findings: a log, a log in segments, and rows."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from jarvis_ops.model.finding import Finding
from tests.faults_jarvis import Fault, bad_shape
from tests.generate import JarvisWriter, Line, cuttable, encode, write_jarvis
from tests.in_process import findings_in as findings_in_files
from tests.postgres.conftest import Connect
from tests.postgres.loading import FAULTS, About, about_lines, about_rows, files_of, findings_in, load, messages
from tests.postgres.tables import NEWEST, NUMBERED, Variant, create

FORMS = {
    "newest": NEWEST,
    "numbered": NUMBERED,
    "text": Variant(content="text", seq="bigint"),
    "inside": Variant(calls=False, later=False),
}
SEEDS = 6
# Only files can show these.
OF_FILES = {"line-separator-char", "file-mode"}


def talk(seed: int, fault: Fault | None) -> list[Line]:
    """A conversation with a fault, if one is given; each message has an id of its own."""
    writer = JarvisWriter(random.Random(seed), marks=False).turns(3)
    if fault is not None:
        fault(writer)
        writer.turns(seed % 3)
    values = messages(line.raw for line in writer.lines)
    return [Line(encode(value), value["role"] == "user" and "turn_id" in value) for value in values]


def in_files(folder: Path, talks: Sequence[list[Line]], *, cut: bool) -> list[dict[About, int]]:
    """What is found in each conversation of a store of logs, in one file or in segments each."""
    told = []
    for number, lines in enumerate(talks):
        place = folder / f"{number}{cut}"
        write_jarvis(place, lines, starts(lines) if cut else [])
        kept = [one for one in findings_in_files(place) if one.rule not in OF_FILES]
        told.append(dict(about_lines(kept, files_of(place))))
    return told


def starts(lines: Sequence[Line]) -> list[int]:
    """Where turns begin at which no call is open, so that a segment may end there."""
    return [place for place in cuttable(lines) if b'"tool_result"' not in lines[place].raw][:2]


@pytest.mark.parametrize("form", FORMS)
def test_the_same_is_found_in_files_and_rows(form: str, connect: Connect, database: str, tmp_path: Path) -> None:
    talks = [talk(seed, fault) for fault in (None, *FAULTS) for seed in range(SEEDS)]
    connection = connect(autocommit=False)
    create(connection, FORMS[form])
    for number, lines in enumerate(talks):
        # The keys of rows are those of the whole table.
        own = b'{"id":"%d-' % number
        talks[number] = [Line(one.raw.replace(b'{"id":"', own, 1), one.starts_turn) for one in lines]
        load(connection, f"{number:03d}", (line.raw for line in talks[number]), FORMS[form])
    if FORMS[form].seq:
        connection.execute("ALTER TABLE jarvis_entries ALTER seq DROP DEFAULT")
    connection.commit()
    found: dict[int, list[Finding]] = {number: [] for number in range(len(talks))}
    for one in findings_in(database):
        assert one.position.key is not None
        found[int(one.position.key.partition("-")[0])].append(one)
    rows = [dict(about_rows(found[number])) for number in range(len(talks))]
    for cut in (False, True):
        expected = in_files(tmp_path, talks, cut=cut)
        for number, fault in enumerate(fault for fault in (None, *FAULTS) for _ in range(SEEDS)):
            if not (fault is bad_shape and form == "text"):  # a number in a column of text is a text
                assert rows[number] == expected[number]
    assert sum(map(bool, rows)) >= (len(FAULTS) - 1) * SEEDS
