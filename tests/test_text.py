"""Escapes that must be looked at more closely, and those that only look like them."""

from __future__ import annotations

import pytest

from jarvis_ops.rules.text import has_risky_escape


@pytest.mark.parametrize("text", [rb"\ud83d", rb"a\u0000", rb"\\\\\ud83d", rb"x\\\u0000", rb"\\udaa \uDfff"])
def test_risky(text: bytes) -> None:
    assert has_risky_escape(text)


@pytest.mark.parametrize("text", [b"", rb"\\udata", rb"C:\\\\u0000", rb"\u00e9 \ueeee", b"ud83d", rb"\n\\ud800"])
def test_not_risky(text: bytes) -> None:
    assert not has_risky_escape(text)
