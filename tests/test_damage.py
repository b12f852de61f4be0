"""Lines that are hard to tell apart, or to read at all."""

from __future__ import annotations

import orjson
import pytest

from jarvis_ops.dialects.jarvis import Jarvis
from jarvis_ops.rules.damage import Damage, examine

RECORD = b'{"id":"m1","role":"user","content":"hi"}'


def verdict(raw: bytes, *following: bytes) -> Damage | None:
    """What is said of a line in a JARVIS log."""
    return examine(raw, final=False, following=lambda: following, is_record=Jarvis().is_record)


def test_deep_nesting_is_refused_as_the_strict_reader_refuses_it() -> None:
    raw = b'{"a":' * 1_500 + b"1" + b"}" * 1_500 + b"\n"
    with pytest.raises(orjson.JSONDecodeError):
        orjson.loads(raw)
    damage = verdict(raw)
    assert damage is not None
    assert damage.rule == "bad-line"


def test_a_number_beyond_a_double_is_no_damage() -> None:
    assert verdict(b'{"role":"user","content":"hi","n":1e999}\n') is None


def test_a_surrogate_is_found_however_deep_it_stands() -> None:
    damage = verdict(b'{"role":"user","content":[[{"text":["ok","\\ud83d"]}]]}\n')
    assert damage is not None
    assert (damage.rule, damage.facts["path"]) == ("lone-surrogate", "content[0][0].text[1]")


def test_of_a_torn_line_only_its_own_id_is_told() -> None:
    torn = b'{"type":"progress","data":{"message":{"uuid":"nested"}},"sess\n'
    damage = verdict(torn)
    assert damage is not None
    assert (damage.rule, damage.record_id) == ("bad-line", None)


def test_a_torn_record_before_a_whole_one_is_not_joined_with_it() -> None:
    damage = verdict(b'{"id":"m0","role":"user","content":"cut o\n', RECORD + b"\n")
    assert damage is not None
    assert (damage.rule, damage.lines) == ("bad-line", 1)


def test_a_record_broken_in_two_strings_is_joined_whole() -> None:
    lines = (b'{"id":"m0","role":"user","content":"one\n', b'two","copy":"one\n', b'two"}\n')
    damage = verdict(*lines)
    assert damage is not None
    assert (damage.rule, damage.lines) == ("split-line", 3)
    assert damage.pieces[0].value["copy"] == "one\ntwo"
