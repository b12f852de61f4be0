"""What becomes of damaged lines."""

from __future__ import annotations

import json

import pytest

from tests.plans.healing import LOG, Patient, healed, judged
from tests.plans.talk import message

ONE, TWO, THREE = message(1, "user"), message(2, "assistant", "a }{ b"), message(3, "user", "정원 🌿")
FOUR = message(4, "assistant")
NAMELESS = TWO.replace(b'"role"', b'"r\0\0e"')
MARK = b"\xef\xbb\xbf"


def after(*lines: bytes, asked: tuple[str, ...] = ()) -> bytes:
    return healed(*lines, asked=frozenset(asked)).contents()[LOG]


@pytest.mark.parametrize(
    ("rule", "damaged", "mended", "gone"),
    [
        ("torn-tail", ONE + TWO + THREE[:40], ONE + TWO, THREE[:40]),
        ("torn-tail", THREE[:-10], b"", THREE[:-10]),
        ("no-final-newline", ONE + TWO[:-1], ONE + TWO, b""),
        ("glued-lines", ONE[:-1] + TWO + FOUR, ONE + TWO + FOUR, b""),
        ("glued-lines", ONE[:-1] + b" \t" + TWO, ONE[:-1] + b" \t\n" + TWO, b""),
        ("glued-lines", ONE[:-1] + TWO[:-1] + THREE + FOUR, ONE + TWO + THREE + FOUR, b""),
        ("glued-lines", ONE[:-1] + TWO[:-1], ONE + TWO, b""),
        ("glued-lines", ONE + TWO[:30] + THREE + FOUR, ONE + THREE + FOUR, TWO[:30]),
        ("glued-lines", ONE + TWO[:30] + TWO + THREE + FOUR, ONE + TWO + THREE + FOUR, TWO[:30]),
        ("glued-lines", ONE[:-1] + b"," + TWO, ONE + TWO, b","),
        ("glued-lines", ONE[:-1] + TWO[:9] + b"\n" + FOUR, ONE + FOUR, TWO[:9] + b"\n"),
        ("nul-run", ONE + b"\0" * 50 + TWO, ONE + TWO, b"\0" * 50),
        ("nul-run", ONE + NAMELESS + FOUR, ONE + FOUR, NAMELESS),
        ("nul-run", ONE[:-1] + b"\0" * 50 + TWO, ONE + TWO, b"\0" * 50),
        ("nul-run", ONE[:30] + b"\0" * 9 + ONE[30:] + TWO, ONE + TWO, b"\0" * 9),
        ("nul-run", ONE[:30] + b"\0" + ONE[30:40] + b"\0\0" + ONE[40:] + TWO, ONE + TWO, b"\0" * 3),
        ("nul-run", ONE + TWO + b"\0" * 700, ONE + TWO, b"\0" * 700),
        ("nul-run", ONE + b"\0" * 7 + b"\n" + TWO, ONE + TWO, b"\0" * 7 + b"\n"),
        ("nul-run", ONE + TWO[:9] + b"\0" * 7 + THREE + FOUR, ONE + THREE + FOUR, TWO[:9] + b"\0" * 7),
        ("nul-run", ONE + TWO + THREE[:20] + b"\0" * 7, ONE + TWO, THREE[:20] + b"\0" * 7),
        ("bad-line", ONE + b"kernel: oops\n" + TWO, ONE + TWO, b"kernel: oops\n"),
        ("bad-line", ONE + b"[1,2]\r\n" + TWO, ONE + TWO, b"[1,2]\r\n"),
        ("bad-line", MARK + b"[1,2]\n" + ONE + TWO, ONE + TWO, MARK + b"[1,2]\n"),
        ("bad-utf8", ONE + b'{"id":"\xff",x}\n' + TWO, ONE + TWO, b'{"id":"\xff",x}\n'),
        ("bad-utf8", ONE + TWO.replace(b"a }{", b"\xed\xa0\x80\xff{"), None, b"\xed\xa0\x80\xff"),
        ("lone-surrogate", ONE + TWO.replace(b"a }{", rb"\ud83d \\\ud83d\ud83c\udf3f"), None, rb"\ud83d\ud83d"),
        ("byte-order-mark", MARK + ONE + TWO, ONE + TWO, MARK),
    ],
)
def test_a_damaged_line_becomes(rule: str, damaged: bytes, mended: bytes | None, gone: bytes) -> None:
    assert rule in {one.rule for one in judged({LOG: damaged})}
    patient = healed(damaged, asked=frozenset({"byte-order-mark"}))
    if mended is not None:
        assert patient.contents()[LOG] == mended
    assert b"".join(patient.removed()) == gone


def test_a_raw_line_feed_becomes_an_escape() -> None:
    broken = ONE.replace(b"hello", b"one\ntwo\r\nthree")
    assert json.loads(after(broken, TWO).split(b"\n")[0])["content"] == "one\ntwo\r\nthree"


def test_each_bad_byte_becomes_one_replacement_and_the_rest_stays() -> None:
    broken = TWO.replace(b"a }{", "정원".encode("cp949"))
    assert after(ONE, broken) == ONE + TWO.replace(b"a }{", "\ufffd".encode() * 4)


def test_a_lone_half_becomes_an_escape_of_the_same_length() -> None:
    broken = TWO.replace(b"a }{", rb"\ud83d \\ud83d \uDE00\ud83c\udf3f")
    assert after(ONE, broken) == ONE + TWO.replace(b"a }{", rb"\ufffd \\ud83d \ufffd\ud83c\udf3f")


def test_line_ends_stay_what_they_are() -> None:
    one, two, four = (line.replace(b"\n", b"\r\n") for line in (ONE, TWO, FOUR))
    assert after(one, two[:-2] + four) == one + two + four
    assert after(one, two[:-2]) == one + two
    assert after(one, two[:-2] + four[:-2]) == one + two + four


def test_a_mark_at_the_beginning_is_cut_only_when_asked() -> None:
    patient = Patient({LOG: MARK + ONE + TWO})
    patient.heal()
    assert patient.contents()[LOG] == MARK + ONE + TWO
    assert patient.done == []


def test_a_damaged_first_line_keeps_its_mark() -> None:
    assert after(MARK + ONE[:-1] + TWO) == MARK + ONE + TWO
    assert after(MARK + ONE[:30] + b"\0" + ONE[30:], TWO) == MARK + ONE + TWO
    broken = MARK + ONE.replace(b"hello", b"one\ntwo")
    assert after(broken, TWO) == MARK + ONE.replace(b"hello", rb"one\ntwo") + TWO


@pytest.mark.parametrize(
    ("damaged", "safety"),
    [
        (ONE + TWO[:30], "safe"),
        (ONE + TWO[:-1], "safe"),
        (ONE + TWO[:30] + THREE, "safe"),
        (ONE + TWO[:30] + b"\0\0\n", "safe"),
        (ONE + TWO[:30] + b"\n" + THREE, "lossy"),
        (ONE + TWO.replace(b"a", rb"\ud83d"), "lossy"),
        (ONE + TWO.replace(b"a }", b"\xff"), "lossy"),
    ],
)
def test_what_a_repair_may_cost(damaged: bytes, safety: str) -> None:
    assert {one.safety for one in healed(damaged).done} == {safety}


def test_a_finding_that_no_longer_fits_is_refused() -> None:
    glued = next(one for one in judged({LOG: ONE[:-1] + TWO}) if one.rule == "glued-lines")
    answer = Patient({LOG: b"\n" * 400}).answers([glued])[0]
    assert answer is not None
    assert answer[1] == "no whole record was found in the line"
