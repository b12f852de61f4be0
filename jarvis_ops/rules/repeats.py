"""Finding what stands more than once among many hashes."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence

# More hashes than this are dealt out into boxes first, so that comparing them needs the memory of one box.
MANY = 600_000
BOXES = 32


def repeats(hashes: Sequence[int]) -> frozenset[int]:
    """The hashes that stand more than once."""
    if len(hashes) <= MANY:
        return _repeats_in(hashes)
    boxes = [array("q") for _ in range(BOXES)]
    for key in hashes:
        boxes[key % BOXES].append(key)
    return frozenset().union(*map(_repeats_in, boxes))


def _repeats_in(hashes: Sequence[int]) -> frozenset[int]:
    if len(set(hashes)) == len(hashes):
        return frozenset()
    return frozenset(key for key, count in Counter(hashes).items() if count > 1)
