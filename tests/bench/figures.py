"""A measured figure, and how it is shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

MEGABYTE = 1_000_000


class Figure(NamedTuple):
    """One measured figure; `floor` or `ceiling` is what `--check` holds it against."""

    name: str
    value: float
    unit: str
    floor: float = 0
    ceiling: float = float("inf")

    @property
    def good(self) -> bool:
        return self.floor <= self.value <= self.ceiling

    def line(self) -> str:
        limit = f"at least {self.floor:g}" if self.floor else f"at most {self.ceiling:g}" if self.ceiling < 1e9 else ""
        return f"{self.name:<46}{self.value:>10.2f} {self.unit:<6}{limit}"


def show(figures: Sequence[Figure], *, check: bool) -> int:
    """Print all figures; the exit code, which says with `check` whether all are good."""
    for figure in figures:
        print(figure.line() + ("" if figure.good else "  falls short"))
    return int(check and not all(figure.good for figure in figures))
