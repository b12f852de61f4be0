"""The agent's index of a folder: what names a transcript that is gone leaves it, and every other byte stays."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jarvis_ops.errors import OpsError
from jarvis_ops.model.plan import Change
from jarvis_ops.model.settings import Settings
from jarvis_ops.operations.driver import Manner
from jarvis_ops.operations.landscape import Landscape
from jarvis_ops.operations.reindex import mend_indexes
from jarvis_ops.operations.surroundings import Surroundings
from jarvis_ops.stores.jsonl.ours import Files
from jarvis_ops.stores.jsonl.store import JsonlStore
from jarvis_ops.stores.jsonl.writer import Writer
from tests.commands import contents
from tests.operations.project import FOLDER, ONE, THREE, TWO, Json, Project, record

RULE = ("--rule", "index-stale")
RUN = "20261130T221500Z-3fa9"
INDEX = "sessions-index.json"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.write(ONE, record(ONE, 1), record(ONE, 2))
    return made


def listing(project: Project, *entries: Any, **more: Any) -> Path:
    path = project.folder / INDEX
    path.write_text(json.dumps({"version": 1, "entries": entries, **more}, indent=2), encoding="utf-8")
    return path


def entry(session: str, count: int = 2) -> Json:
    return {"sessionId": session, "messageCount": count, "note": f"[{session}], {{}}"}


def test_what_is_gone_leaves_it_and_is_kept_aside(project: Project) -> None:
    path = listing(project, entry(TWO), entry(ONE), "odd", {"sessionId": 5}, entry(THREE), originalPath="/x")
    before = path.read_bytes()
    done = project.heal(*RULE, "--apply")
    assert [(one["conversation"], one["status"], one["lines_quarantined"]) for one in done.report["outcomes"]] == [
        (None, "applied", 2)
    ]
    expected = {"version": 1, "entries": [entry(ONE), "odd", {"sessionId": 5}], "originalPath": "/x"}
    assert json.loads(path.read_bytes()) == expected
    aside = b"".join(one.read_bytes() for one in project.store.rglob("quarantine/*/*.raw"))
    assert len(aside) == len(before) - len(path.read_bytes())
    assert TWO.encode() in aside
    assert THREE.encode() in aside


def test_what_cannot_be_known_is_not_made_up(project: Project) -> None:
    project.write(TWO, record(TWO, 1), record(TWO, 2))
    listing(project, entry(ONE, 17))
    before = contents(project.store)
    done = project.heal(*RULE, "--apply")
    assert done.code == 0
    refused = done.report["outcomes"][0]["refused"]
    assert len(refused) == 2
    assert any("its count stays" in text and "17" in text for text in refused)
    assert any("none is made up" in text and TWO in text for text in refused)
    assert contents(project.store) == before


def test_a_transcript_that_cannot_be_read_is_not_gone(project: Project) -> None:
    project.log(TWO).write_bytes(b"\xff\xfe\x00 no records at all\n")
    listing(project, entry(ONE), entry(TWO))
    before = contents(project.store)
    project.heal(*RULE, "--apply")
    assert contents(project.store) == before


def test_it_belongs_to_no_conversation(project: Project) -> None:
    listing(project, entry(TWO))
    before = contents(project.store)
    done = project.run("heal", ONE, *RULE, "--apply")
    assert done.code == 2
    assert "needs --all" in done.complaints
    assert contents(project.store) == before


def test_an_index_that_is_none_is_left(project: Project) -> None:
    for text in ("", "[]", "{", '{"entries":7}', '{"entries":{}}', "\ufeff{}"):
        (project.folder / INDEX).write_text(text, encoding="utf-8")
        before = contents(project.store)
        assert project.heal(*RULE, "--apply").code == 0
        assert contents(project.store) == before


def test_who_changed_it_since_is_asked_first(project: Project) -> None:
    path = listing(project, entry(TWO), entry(ONE))
    run = project.heal(*RULE, "--apply").run
    changed = path.read_bytes().replace(b'"version": 1', b'"version": 2')
    path.write_bytes(changed)
    done = project.run("undo", run, "--apply")
    assert done.code == 3
    assert path.read_bytes() == changed


def test_two_folders(project: Project) -> None:
    other = project.folder.parent / "-home-mina-shed"
    other.mkdir()
    (other / f"{TWO}.jsonl").write_bytes(record(TWO, 1) + b"\n" + record(TWO, 2) + b"\n")
    (other / INDEX).write_text(json.dumps({"entries": [entry(ONE), entry(TWO)]}))
    listing(project, entry(ONE), entry(TWO))
    first = contents(project.store)
    run = project.heal(*RULE, "--apply").run
    assert [one["sessionId"] for one in json.loads((other / INDEX).read_bytes())["entries"]] == [TWO]
    assert [one["sessionId"] for one in json.loads((project.folder / INDEX).read_bytes())["entries"]] == [ONE]
    done = project.run("undo", run, f"projects/-home-mina-shed/{INDEX}", "--apply")
    assert done.code == 0, done.complaints
    assert project.run("undo", run, "--apply").code == 0
    assert contents(project.store) == first


class Stopping(Files):
    """A disk that fails when it is to flush a folder for the given time."""

    def __init__(self, at: int) -> None:
        self.left = at

    def flush_folder(self, path: str) -> None:
        self.left -= 1
        if self.left == 0:
            raise OSError(5, "Input/output error")
        super().flush_folder(path)


def test_interrupted_and_recovered(project: Project) -> None:
    path = listing(project, entry(TWO), entry(ONE))
    old = path.read_bytes()
    store = JsonlStore(os.fspath(project.store))
    inventory = store.inventory()
    landscape = Landscape(store, inventory, Surroundings(), Settings(now=0))
    changes: list[Change] = []
    assert [*mend_indexes(store, inventory, landscape, Manner(run=RUN, apply=False), changes.append)]
    seen = 0
    for number in range(1, 30):
        writer = Writer(Stopping(number))
        try:
            with writer.hold(changes[0].conversation, RUN, wait=0):
                writer.apply(changes[0], RUN)
        except OpsError:
            pass
        else:
            break
        if store.unfinished(changes[0].conversation):
            seen += 1
            (finding,) = project.found("unfinished-run")
            assert finding["position"]["file"] == f"{FOLDER}/{INDEX}"
            assert project.run("recover", "--all", "--apply").code == 0
            assert not project.found("unfinished-run")
        if path.read_bytes() != old:
            assert [one["sessionId"] for one in json.loads(path.read_bytes())["entries"]] == [ONE]
            assert project.run("undo", RUN, "--apply").code == 0
        assert path.read_bytes() == old
        shutil.rmtree(project.folder / ".jarvis-ops", ignore_errors=True)
    assert seen


values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
sessions = st.sampled_from([ONE, TWO, THREE])
some_entry = st.builds(
    lambda session, more: {**more, "sessionId": session}, sessions, st.fixed_dictionaries({"x": values})
)


@settings(deadline=None)
@given(
    entries=st.lists(some_entry | values, max_size=6),
    before=st.dictionaries(st.text(max_size=4).filter(lambda key: key != "entries"), values, max_size=2),
    indent=st.sampled_from([None, 0, 2]),
    ascii_only=st.booleans(),
)
def test_any_index(entries: list[Any], before: Json, indent: int | None, *, ascii_only: bool) -> None:
    with tempfile.TemporaryDirectory() as place:
        project = Project(Path(place))
        project.write(ONE, record(ONE, 1), record(ONE, 2))
        path = project.folder / INDEX
        path.write_text(
            json.dumps({**before, "entries": entries}, indent=indent, ensure_ascii=ascii_only), encoding="utf-8"
        )
        raw = path.read_bytes()
        store = JsonlStore(os.fspath(project.store))
        inventory = store.inventory()
        landscape = Landscape(store, inventory, Surroundings(), Settings(now=0))
        outcomes = [*mend_indexes(store, inventory, landscape, Manner(run=RUN, apply=True))]
        gone = [one for one in entries if isinstance(one, dict) and one.get("sessionId") in {TWO, THREE}]
        kept = [one for one in entries if one not in gone]
        assert json.loads(path.read_bytes()) == {**before, "entries": kept}
        assert any(one.run for one in outcomes) == bool(gone)
        assert not any(one.errors for one in outcomes)
        if not gone:
            assert path.read_bytes() == raw
            return
        assert FOLDER in str(path)
        (run,) = store.runs(inventory)
        assert [one.status for one in outcomes] == ["applied"]
        assert run.backups
