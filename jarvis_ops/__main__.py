"""Lets `python -m jarvis_ops` do what `jarvis-ops` does."""

from jarvis_ops.cli.run import main

if __name__ == "__main__":
    main()
