"""Sealed segments that are replaced because a person asked for it, through the real command."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import command, contents
from tests.generate import seal
from tests.plans.talk import answers, asks, message, records

LIVE, SEALED = "talk.jsonl", "talk.segments/000001.jsonl"
FINAL = message(90, "assistant", "that is all")
UNANSWERED = (
    [message(1, "user"), asks("flat", 2, "c1"), message(3, "user"), message(4, "assistant")],
    [message(5, "user"), FINAL],
)
TAKES_A_RESULT = ([message(1, "user"), asks("flat", 2, "c1")], [message(3, "user"), answers("flat", 4, "c1"), FINAL])


@pytest.mark.parametrize("cut", [UNANSWERED, TAKES_A_RESULT])
def test_a_segment_that_only_gains_a_line_is_replaced_and_noted(
    tmp_path: Path, cut: tuple[list[bytes], list[bytes]]
) -> None:
    head, tail = b"".join(cut[0]), b"".join(cut[1])
    store, home = tmp_path / "store", tmp_path / "home"
    (store / SEALED).parent.mkdir(parents=True)
    home.mkdir()
    (store / SEALED).write_bytes(head)
    (store / LIVE).write_bytes(seal("talk", 1, head) + tail)
    before = contents(store)
    healed = command("heal", "--all", "--apply", "--include-sealed", store=store, home=home)
    assert healed.code == 0
    assert (store / SEALED).read_bytes().count(b"\n") == head.count(b"\n") + 1
    note = records((store / LIVE).read_bytes())[-1]
    assert (note["type"], note["run"]) == ("pippa_segment_healed", healed.run)
    assert [one for one in command("verify-pairs", store=store, home=home).findings if one["severity"] == "error"] == []
    assert command("undo", healed.run, "--apply", store=store, home=home).code == 0
    assert contents(store) == before
