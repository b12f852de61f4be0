"""Each case and each sample: found, mended, found clean, mended again without a change, and taken back."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from jarvis_ops.rules.catalog import RULES
from tests.commands import command, contents

HERE = Path(__file__).resolve().parent
CASES = sorted(path.parent for path in (HERE / "cases").glob("*/expected.json"))
SAMPLES = sorted(path.parent for path in (HERE.parent / "sample_data").glob("*/expected.json"))


def is_mended_unasked(rule: str) -> bool:
    """Whether a fault may not be left once what is lossy is allowed."""
    return RULES[rule].safety in {"safe", "lossy"}


def store_of(source: Path, folder: Path) -> Path:
    store = folder / source.name
    shutil.copytree(source, store, symlinks=True)
    if (store / "setup.sh").exists():
        subprocess.run(["/bin/sh", "setup.sh"], cwd=store, check=True)
    return store


def trees(folder: Path) -> list[tuple[str, int, int, int]]:
    """Every name below a folder, with what changes when anything is written."""
    paths = sorted(folder.rglob("*"))
    return [(str(one), (state := one.lstat()).st_ino, state.st_mtime_ns, state.st_size) for one in paths]


def errors_left(findings: list[dict[str, Any]]) -> list[str]:
    return [one["rule"] for one in findings if one["severity"] == "error" and is_mended_unasked(one["rule"])]


@pytest.mark.parametrize("source", [*CASES, *SAMPLES], ids=lambda source: source.name)
def test_healed_and_taken_back(source: Path, tmp_path: Path) -> None:
    store = store_of(source, tmp_path)
    first, state = contents(store), trees(store)

    plan = command("heal", "--all", "--lossy", store=store, home=tmp_path)
    assert trees(store) == state, "a plan changed something"

    healed = command("heal", "--all", "--lossy", "--apply", store=store, home=tmp_path)
    changed = contents(store) != first
    assert changed == bool(healed.run), healed.complaints
    assert changed == any(step.get("held") is None for step in plan.steps)
    if changed:
        assert plan.code == 1
    else:
        assert trees(store) == state, "a healthy store was written to"

    verified = command("verify-pairs", store=store, home=tmp_path)
    assert errors_left(verified.findings) == [] or not changed

    after = trees(store)
    again = command("heal", "--all", "--lossy", "--apply", store=store, home=tmp_path)
    assert again.run == ""
    assert trees(store) == after, "a second run changed something"

    if changed:
        undone = command("undo", healed.run, "--apply", store=store, home=tmp_path)
        assert undone.code == 0, undone.complaints
        assert contents(store) == first


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case_is_healed_as_it_says(case: Path, tmp_path: Path) -> None:
    wanted = json.loads((case / "expected.json").read_text(encoding="utf-8"))["heal"]
    store = store_of(case, tmp_path)
    before = contents(store)
    command("heal", "--all", "--lossy", "--apply", store=store, home=tmp_path)
    if not wanted["changes"]:
        assert contents(store) == before
        return
    old = (case / "input.jsonl").read_bytes().splitlines(keepends=True)
    new = (store / "input.jsonl").read_bytes().splitlines(keepends=True)
    check_kept(wanted, old, new)
    check_added(wanted, old, new)
    check_gone(wanted, old, new, kept_aside(store))


def check_kept(wanted: dict[str, Any], old: list[bytes], new: list[bytes]) -> None:
    """Lines that survive are there; those that are relinked differ in their parent alone."""
    relinked, edited = wanted.get("relink", []), wanted.get("edit_lines", [])
    for number in {*wanted.get("must_survive_lines", []), *wanted.get("keep", [])} - {*relinked, *edited}:
        assert old[number - 1] in new, number
    for number in (*relinked, *edited):
        twin = next(line for line in new if same_record(old[number - 1], line))
        assert twin != old[number - 1], number
        assert unlinked(twin) == unlinked(old[number - 1]) or number in edited, number
    if "relink_to" in wanted:
        child, parent = (old[wanted["relink_to"][key] - 1] for key in ("line", "to_line"))
        twin = next(line for line in new if same_record(child, line))
        assert json.loads(twin)["parentUuid"] == json.loads(parent)["uuid"]


def check_added(wanted: dict[str, Any], old: list[bytes], new: list[bytes]) -> None:
    """What is put in stands where it must, and says that it was made up."""
    for number in wanted.get("insert_after", []):
        place = next(at for at, line in enumerate(new) if same_record(old[number - 1], line))
        added = json.loads(new[place + 1])
        assert not any(same_record(line, new[place + 1]) for line in old)
        assert added["jarvis_ops"] == {"synthetic": True}
    if "records_after" in wanted:
        assert len(new) == wanted["records_after"]


def check_gone(wanted: dict[str, Any], old: list[bytes], new: list[bytes], aside: bytes) -> None:
    """What is taken out is kept aside."""
    for number in wanted.get("quarantine_lines", []):
        assert old[number - 1] not in new
        assert old[number - 1] in aside
    for one in wanted.get("quarantine_bytes", []):
        assert old[one["line"] - 1][one["from"] : one["to"]] in aside
    if wanted.get("quarantine_tail"):
        assert old[-1] in aside


def same_record(one: bytes, other: bytes) -> bool:
    """Whether two lines hold the record of one uuid; torn lines are the same when they are equal."""
    try:
        first, second = json.loads(one), json.loads(other)
    except ValueError:
        return one == other
    return first.get("uuid") is not None and first.get("uuid") == second.get("uuid")


def unlinked(line: bytes) -> dict[str, Any]:
    return {key: value for key, value in json.loads(line).items() if key != "parentUuid"}


def kept_aside(store: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(store.rglob(".jarvis-ops/quarantine/*/*.raw")))
