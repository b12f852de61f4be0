"""What a change does beyond its own place is counted."""

from __future__ import annotations

from jarvis_ops.plans.reach import last_signed_thinking, signed_thinking_after
from tests.generate import encode
from tests.plans.healing import MemoryPages
from tests.plans.tree_patient import judged
from tests.plans.tree_talk import signed
from tests.scenarios.made import SESSION, Transcript


def test_signed_thinking_behind_a_place_is_counted_by_the_block() -> None:
    lines = [
        encode({"message": {"content": [signed()]}}),
        encode({"message": {"content": [{"type": "thinking", "thinking": "x", "signature": ""}]}}),
        encode({"content": [signed(), {"type": "redacted_thinking", "data": "x"}]}),
        encode({"message": {"content": 'a "signature" in text'}}),
        b'{"signature" torn\n',
    ]
    pages = MemoryPages({"a": b"".join(lines)})
    second, third = len(lines[0]), len(lines[0] + lines[1])
    assert signed_thinking_after(pages, "a", 0) == 3
    assert signed_thinking_after(pages, "a", 5) == 3
    assert signed_thinking_after(pages, "a", second) == 2
    assert signed_thinking_after(pages, "a", pages.size("a")) == 0
    assert last_signed_thinking(pages, "a") == third
    assert last_signed_thinking(MemoryPages({"a": lines[1]}), "a") == -1


def test_reached_are_the_messages_on_the_way_and_those_sent_beside_it() -> None:
    t = Transcript()
    t.user()
    one, two = t.call("m1", "toolu_1"), t.call("m1", "toolu_2")
    t.result("toolu_1", one)
    t.result("toolu_2", two)
    t.system("turn_duration")
    t.user("left")
    t.last = 6
    t.compact()
    assert judged(b"".join(t.lines), SESSION).reachable == 6
