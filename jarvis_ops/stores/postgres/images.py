"""Rows as JSON objects of their columns, in which no number loses a digit."""

from __future__ import annotations

import json
from typing import Any

import orjson

# Columns as JSON values, by name.
Image = dict[str, Any]
# A whole number with more digits may be too large for what writes JSON.
SHORT = 18


def image_of(text: str) -> Image:
    """The columns of a row. Fractions and long numbers are kept as they are written, to be written again."""
    image: Image = json.loads(text, parse_float=as_written, parse_int=whole)
    return image


def text_of(image: Image) -> str:
    """The columns of a row as JSON text."""
    return orjson.dumps(image).decode()


def whole(digits: str) -> Any:
    """A whole number."""
    return int(digits) if len(digits) <= SHORT else as_written(digits)


def as_written(digits: str) -> orjson.Fragment:
    """A number as it is written."""
    return orjson.Fragment(digits.encode())
