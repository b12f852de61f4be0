"""Who is told how a numbering goes."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Hearing(NamedTuple):
    """`say` is told each step as a sentence once it is done, `advance` rows as they are read or numbered.

    `begin` is told how many rows there are to go, as far as the database knows, and what is done with them.
    """

    say: Callable[[str], None]
    begin: Callable[[int, str], None]
    advance: Callable[[int], None]
