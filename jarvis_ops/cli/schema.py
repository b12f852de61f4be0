"""`schema`: prints the JSON schema of what the other commands print."""

from __future__ import annotations

import sys


def schema() -> None:
    """Print the JSON schema of the reports and of their lines."""
    from jarvis_ops.render import envelope

    sys.stdout.buffer.write(envelope.schema() + b"\n")
