"""Numbers as a sentence says them."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """A number with its noun: `1 record`, `2 records`. The last word of the noun takes the plural."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
