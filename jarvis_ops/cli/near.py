"""Says what a person may have meant by a name that is not known."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

from jarvis_ops.errors import UsageError


def known(what: str, name: str, names: Collection[str]) -> str:
    """The name, if it is one of `names`. UsageError with the nearest ones otherwise."""
    if name in names:
        return name
    near = get_close_matches(name, names, n=3, cutoff=0.5) or sorted(names)[:3]
    raise UsageError(f"there is no {what} {name!r}; the nearest: {', '.join(near)}")
