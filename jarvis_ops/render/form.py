"""How a report is to be shown."""

from __future__ import annotations

from typing import NamedTuple


class Form(NamedTuple):
    """How a report is to be shown. `progress` None: only on a terminal. `limit` None: everything is listed."""

    output: str = "table"
    verbose: bool = False
    quiet: bool = False
    progress: bool | None = None
    limit: int | None = None
