"""Places of values in the bytes of a line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_ops.plans.splice import element, new_member, separators, value_at, value_span, without_element
from jarvis_ops.plans.style import Style, line_end, style_of

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4))
KEYS = st.text("abcdefg_", min_size=1, max_size=6)
OBJECTS = st.dictionaries(KEYS, st.lists(VALUES, max_size=4) | st.dictionaries(KEYS, VALUES, max_size=4) | VALUES)
FORMS = st.sampled_from([{"separators": (",", ":")}, {}, {"indent": 1}, {"ensure_ascii": False}])


def paths(value: Any, path: str = "") -> list[str]:
    """Paths of all values whose way there has plain keys."""
    found = [path]
    if isinstance(value, dict):
        for key, inner in value.items():
            if key and key.isascii() and key.replace("_", "a").isalpha():
                found += paths(inner, f"{path}.{key}".lstrip("."))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            found += paths(inner, f"{path}[{number}]")
    return found


@given(value=OBJECTS, form=FORMS, mark=st.booleans())
def test_every_value_is_where_it_is_said_to_be(value: Any, form: dict[str, Any], mark: bool) -> None:
    raw = b"\xef\xbb\xbf" * mark + b" " + json.dumps(value, **form).encode() + b"\r\n"
    for path in paths(value):
        start, end = value_span(raw, path)
        assert json.loads(raw[start:end]) == value_at(value, path)


@given(value=OBJECTS, form=FORMS)
def test_a_list_loses_one_element_and_nothing_else(value: Any, form: dict[str, Any]) -> None:
    raw = json.dumps(value, **form).encode()
    for path in paths(value):
        listed = value_at(value, path)
        for index in range(len(listed) if isinstance(listed, list) else 0):
            start, end = without_element(raw, path, index)
            after = value_at(json.loads(raw[:start] + raw[end:]), path)
            assert after == listed[:index] + listed[index + 1 :]


@given(value=OBJECTS, form=FORMS)
def test_an_object_gets_a_member(value: Any, form: dict[str, Any]) -> None:
    raw = json.dumps(value, **form).encode()
    for path in paths(value):
        if isinstance(held := value_at(value, path), dict):
            place, new = new_member(raw, path, "NEW", b"[1]", spaced=True)
            after = value_at(json.loads(raw[:place] + new + raw[place:]), path)
            assert after == {"NEW": [1], **held}


def test_of_a_key_twice_the_last_counts() -> None:
    assert value_span(b'{"a":1,"a":22}', "a") == (11, 13)


@pytest.mark.parametrize("path", ["b", "a.b", "a[0]", "l[2]", "s.x", "l.x"])
def test_a_place_that_is_not_there_is_a_key_error(path: str) -> None:
    with pytest.raises(KeyError):
        value_span(b'{"a":1,"l":[1,2],"s":"t"}', path)


@pytest.mark.parametrize("index", [2, -1, 9])
def test_an_element_that_is_not_there_is_a_key_error(index: int) -> None:
    with pytest.raises(KeyError):
        without_element(b'{"l":[1,2]}', "l", index)


def test_bytes_that_are_not_utf8_do_not_move_places() -> None:
    raw = b'{"a":"\xff\xfe","b":7}'
    start, end = value_span(raw, "b")
    assert raw[start:end] == b"7"


def test_a_path_names_its_list() -> None:
    assert element("content.tool_calls[12]") == ("content.tool_calls", 12)
    with pytest.raises(KeyError):
        element("content")


@pytest.mark.parametrize(
    ("raw", "wanted"),
    [
        (b'{"a":1,"b":2}\n', (",", ":")),
        (b'{"a": 1, "b": 2}\n', (", ", ": ")),
        (b'{"a": 1,"b": 2}\n', (",", ": ")),
        (b'{"a": 1}\n', (", ", ": ")),
        (b'{"a":1}\n', (",", ":")),
        (b"{}\n", (",", ":")),
    ],
)
def test_separators(raw: bytes, wanted: tuple[str, str]) -> None:
    assert separators(raw) == wanted


def test_style() -> None:
    assert style_of(b'{"a":"x"}\n') == Style()
    assert style_of('{"a":"정원"}\r\n'.encode()) == Style(end=b"\r\n")
    assert style_of(b'{"a": "x"}', rb'{"a":"\uc815"}', b'{"a":"x"}\r\n') == Style(
        ", ", ": ", ascii_only=True, end=b"\r\n"
    )
    assert style_of(rb'{"a":"\u001b"}', '{"a":"정"}'.encode()).ascii_only is False
    assert line_end(b"") == b"\n"
    with pytest.raises(ValueError, match="surrogate"):
        Style().encoded("\ud83d")
    with pytest.raises(ValueError, match="not JSON compliant"):
        Style().encoded(float("nan"))
