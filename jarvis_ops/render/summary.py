"""The last sentences of a report for a person: what was looked at, what was found, what to type next."""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ops.model.report import Counts, Report
from jarvis_ops.render.visible import visible

# So many rules are named one by one.
NAMED_RULES = 5
UNITS = ("bytes", "kB", "MB", "GB", "TB")


def verify_summary(report: Report, severities: dict[str, str]) -> list[str]:
    """The summary of a judgement; `severities` holds the gravest severity with which each rule was found."""
    counts = report.counts
    lines = [f"{_looked_at(report)}: {_verdict(counts, severities)}."]
    lines += _left_over(counts)
    if severities:
        lines.append("What a rule means, and what can be done:")
        lines += _next_commands(counts, severities)
    return lines


def sessions_summary(report: Report) -> list[str]:
    """The summary of a listing."""
    lines = [f"{_looked_at(report)}."]
    lines += _left_over(report.counts)
    if report.counts.conversations:
        lines.append("To judge one of them: jarvis-ops verify-pairs CONVERSATION")
    return lines


def _looked_at(report: Report) -> str:
    counts = report.counts
    where = f"{visible(report.store)} ({visible(report.store_from)})"
    if not counts.conversations:
        return f"There is no conversation to look at in {where}"
    what = f"{_count(counts.conversations, 'conversation')}, {_count(counts.records, 'record')}"
    return f"{what}, {_bytes(counts.bytes)} in {where}"


def _verdict(counts: Counts, severities: dict[str, str]) -> str:
    if not severities:
        return "nothing wrong" if not (counts.failed or counts.skipped) else "nothing wrong in what was read"
    parts = []
    for severity in ("error", "warning", "info"):
        number = sum(counts.findings.get(rule, 0) for rule, gravest in severities.items() if gravest == severity)
        if number:
            parts.append(_count(number, "info" if severity == "info" else severity))
    return f"{', '.join(parts)} in {_count(counts.found, 'conversation')}" if counts.found else ", ".join(parts)


def _left_over(counts: Counts) -> Iterator[str]:
    if counts.unchanged:
        yield f"{_count(counts.unchanged, 'conversation')} unchanged since an earlier run found nothing."
    if counts.accepted:
        yield f"{_count(counts.accepted, 'finding')} accepted in the configuration."
    if counts.failed:
        yield f"{_count(counts.failed, 'conversation')} could not be read."
    if counts.skipped:
        yield f"{_count(counts.skipped, 'conversation')} not looked at."
    if counts.unlisted:
        yield f"{counts.unlisted} more counted but not listed (--limit)."


def _next_commands(counts: Counts, severities: dict[str, str]) -> Iterator[str]:
    """One command a rule, the gravest and most frequent first."""
    grave = {"error": 0, "warning": 1, "info": 2}
    rules = sorted(severities, key=lambda rule: (grave[severities[rule]], -counts.findings.get(rule, 0), rule))
    for rule in rules[:NAMED_RULES]:
        yield f"  jarvis-ops verify-pairs --explain {rule}"
    if len(rules) > NAMED_RULES:
        yield f"  and {_count(len(rules) - NAMED_RULES, 'more rule')}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _bytes(number: int) -> str:
    size = float(number)
    for unit in UNITS:
        if size < 1000 or unit == UNITS[-1]:
            break
        size /= 1000
    return f"{number} bytes" if unit == "bytes" else f"{size:.1f} {unit}"
