"""An id or a unique tail of it finds a conversation; nothing else does."""

from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_ops.errors import UnknownConversationError
from jarvis_ops.stores.find import resolve
from tests.stores.disk_state import listed, put

NAMES = ["-app/11111111-aaaa", "-app/22222222-aaaa", "-other/22222222-bbbb", "-app/11111111-aaaa/subagents/agent-1"]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    files = {f"projects/{name}.jsonl": b"{}\n" for name in NAMES}
    return put(tmp_path, files | {f"projects/-more/{number}-same.jsonl": b"" for number in range(12)})


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (NAMES[0], NAMES[0]),
        ("11111111-aaaa", NAMES[0]),
        ("agent-1", NAMES[3]),
        ("bbbb", NAMES[2]),
        ("subagents/agent-1", NAMES[3]),
        ("1-aaaa", NAMES[0]),
        ("3-same", "-more/3-same"),
    ],
)
def test_tails(store: Path, wanted: str, found: str) -> None:
    assert resolve(listed(store), wanted).id == found


def test_a_whole_id_goes_before_the_tail_of_another(tmp_path: Path) -> None:
    inventory = listed(put(tmp_path, {"a.jsonl": b"", "ba.jsonl": b""}))
    assert resolve(inventory, "a").id == "a"


def test_an_ambiguous_tail_lists_what_fits(store: Path) -> None:
    with pytest.raises(UnknownConversationError, match="fits 2 conversations") as caught:
        resolve(listed(store), "aaaa")
    assert all(name in caught.value.message for name in NAMES[:2])
    assert caught.value.exit_code == 2
    with pytest.raises(UnknownConversationError, match=r"fits 12 .* and 2 more"):
        resolve(listed(store), "same")


def test_the_nearest_names_are_told(store: Path) -> None:
    with pytest.raises(UnknownConversationError, match=f"nearest: {NAMES[2]}"):
        resolve(listed(store), "22222222-bbbc")


@pytest.mark.parametrize("wanted", ["", "../../etc/passwd", "/etc/passwd", "..", "a\0b", "-app/../-app/11111111-aaaa"])
def test_an_id_is_never_a_path(store: Path, wanted: str) -> None:
    with pytest.raises(UnknownConversationError):
        resolve(listed(store), wanted)
