"""Finding what stands more than once among many hashes."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection

# Beyond so many hashes they are compared in portions, so that the comparison needs little memory.
PORTION = 200_000


def repeats(hashes: Collection[int]) -> frozenset[int]:
    """The hashes that stand more than once, found with little more memory than one portion of them needs."""
    portions = 1 + len(hashes) // PORTION
    again: set[int] = set()
    if portions == 1:
        if len(set(hashes)) == len(hashes):
            return frozenset()
        return frozenset(key for key, count in Counter(hashes).items() if count > 1)
    for part in range(portions):
        mine = array("q", (key for key in hashes if key % portions == part))
        if len(set(mine)) != len(mine):
            again.update(key for key, count in Counter(mine).items() if count > 1)
    return frozenset(again)
