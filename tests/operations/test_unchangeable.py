"""What is said of a conversation whose repair could be planned, and could not be carried out."""

from __future__ import annotations

import os
from pathlib import Path

from tests.commands import command, contents
from tests.plans.talk import answers, asks, message

BROKEN = b"".join([message(1, "user"), asks("flat", 2, "c1"), message(3, "user"), message(4, "assistant")])


def test_a_log_that_may_not_be_replaced_still_has_its_faults(tmp_path: Path) -> None:
    store = tmp_path / "store"
    store.mkdir()
    (store / "talk.jsonl").write_bytes(BROKEN)
    os.link(store / "talk.jsonl", store / "second name")
    answer = command("heal", "--all", "--apply", store=store, home=tmp_path)
    assert answer.code == 3
    assert [one["status"] for one in answer.report["outcomes"]] == ["failed"]
    assert [(one["rule"], one["call_id"]) for one in answer.findings] == [("unanswered-call", "c1")]


def test_without_a_live_file_nobody_is_told_to_ask_for_what_was_asked_for(tmp_path: Path) -> None:
    sealed = tmp_path / "store/talk.segments/000001.jsonl"
    sealed.parent.mkdir(parents=True)
    sealed.write_bytes(BROKEN + answers("flat", 5, "gone"))
    before = contents(tmp_path / "store")
    answer = command("heal", "--all", "--apply", "--lossy", "--include-sealed", store=tmp_path / "store", home=tmp_path)
    assert contents(tmp_path / "store") == before
    assert answer.code == 1
    (outcome,) = answer.report["outcomes"]
    assert outcome["held"] == {}
    assert [reason.partition(": ")[0] for reason in outcome["refused"]] == ["orphan-result", "unanswered-call"]
    assert all("live file" in reason for reason in outcome["refused"])
