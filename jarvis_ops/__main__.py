"""The entry point: `jarvis-ops`, and `python -m jarvis_ops`."""

from __future__ import annotations

import sys

INTERRUPTED = 130


def main() -> None:
    """Run the command line of this process. An interruption is answered quietly, even while modules are loaded."""
    try:
        from jarvis_ops.cli.run import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
