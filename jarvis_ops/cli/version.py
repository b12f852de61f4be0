"""The version of the installed package."""

from __future__ import annotations


def version() -> str:
    """The version as the package metadata says; `0+unknown` where the package runs without being installed."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("jarvis-ops")
    except PackageNotFoundError:
        return "0+unknown"
