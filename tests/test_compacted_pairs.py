"""A pair of which a compaction has one half."""

from __future__ import annotations

from pathlib import Path

from tests.generate import START, encode
from tests.in_process import faults_in


def test_a_late_result_behind_the_compaction_of_its_call_is_a_split_pair(tmp_path: Path) -> None:
    call = {"id": "call_1", "name": "read", "arguments": {}}
    records = (
        {"id": "m1", "role": "user", "content": "Read it."},
        {"id": "m2", "role": "assistant", "content": "", "tool_calls": [call]},
        {"id": "m3", "role": "assistant", "content": "It takes a while."},
        {
            "id": "m4",
            "type": "pippa_compaction",
            "summary": "Reading.",
            "from_id": "m1",
            "through_id": "m3",
            "count": 3,
        },
        {"id": "m5", "role": "tool", "tool_call_id": "call_1", "content": "the text"},
        {"id": "m6", "role": "assistant", "content": "Here it is."},
    )
    log = tmp_path / "c.jsonl"
    log.write_bytes(b"".join(encode({**record, "timestamp": START}) for record in records))
    (finding,) = faults_in(tmp_path)
    assert (finding.rule, finding.severity, finding.position.line, finding.call_id) == (
        "pair-split", "error", 4, "call_1",
    )  # fmt: skip
    assert (finding.facts["first_line"], finding.facts["result_line"]) == (2, 5)
