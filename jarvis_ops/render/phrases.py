"""Phrases that the last sentences of several reports share."""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ops.model.report import Counts, Report
from jarvis_ops.render.visible import visible

UNITS = ("bytes", "kB", "MB", "GB", "TB")


def where(report: Report) -> str:
    """The store, and where its name came from."""
    return f"{visible(report.store)} ({visible(report.store_from)})"


def looked_at(report: Report) -> str:
    """How much was looked at, and where."""
    counts = report.counts
    if not counts.conversations:
        return f"There is no conversation to look at in {where(report)}"
    what = f"{count(counts.conversations, 'conversation')}, {count(counts.records, 'record')}"
    # A database does not tell how many bytes its rows have.
    return (
        f"{what}, {size(counts.bytes)} in {where(report)}"
        if counts.bytes or not counts.records
        else (f"{what} in {where(report)}")
    )


def left_over(counts: Counts, failed: str = "could not be read", skipped: str = "not looked at") -> Iterator[str]:
    """What the rest of the report does not tell; `failed` and `skipped` say it of conversations."""
    if counts.unchanged:
        yield f"{count(counts.unchanged, 'conversation')} unchanged since an earlier run found nothing."
    if counts.accepted:
        yield f"{count(counts.accepted, 'finding')} accepted in the configuration."
    if counts.failed:
        yield f"{count(counts.failed, 'conversation')} {failed}."
    if counts.skipped:
        yield f"{count(counts.skipped, 'conversation')} {skipped}."
    if counts.unlisted:
        yield f"{counts.unlisted} more counted but not listed (--limit)."


def count(number: int, noun: str) -> str:
    """A number with its noun: `1 record`, `1,200 records`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def size(number: int) -> str:
    """A number of bytes as a person reads it."""
    amount = float(number)
    for unit in UNITS:
        if amount < 1000 or unit == UNITS[-1]:
            break
        amount /= 1000
    return f"{number} bytes" if unit == "bytes" else f"{amount:.1f} {unit}"
