"""The last sentences of a judgement or a listing: what was looked at, what was found, what to type next."""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ops.model.report import Counts, Report
from jarvis_ops.render.phrases import count, left_over, looked_at
from jarvis_ops.render.tally import Tally

# So many rules are named one by one.
NAMED_RULES = 5


def verify_summary(report: Report, tally: Tally) -> list[str]:
    """The summary of a judgement."""
    counts, severities = report.counts, tally.severities
    lines = [f"{looked_at(report)}: {_verdict(counts, severities)}."]
    lines += left_over(counts)
    if severities:
        lines.append("What a rule means, and what can be done:")
        lines += _next_commands(counts, severities)
    return lines


def sessions_summary(report: Report, _: Tally) -> list[str]:
    """The summary of a listing."""
    lines = [f"{looked_at(report)}."]
    lines += left_over(report.counts)
    if report.counts.conversations:
        lines.append("To judge one of them: jarvis-ops verify-pairs CONVERSATION")
    return lines


def _verdict(counts: Counts, severities: dict[str, str]) -> str:
    if not severities:
        return "nothing wrong" if not (counts.failed or counts.skipped) else "nothing wrong in what was read"
    parts = []
    for severity in ("error", "warning", "info"):
        number = sum(counts.findings.get(rule, 0) for rule, gravest in severities.items() if gravest == severity)
        if number:
            parts.append(count(number, "info" if severity == "info" else severity))
    return f"{', '.join(parts)} in {count(counts.found, 'conversation')}" if counts.found else ", ".join(parts)


def _next_commands(counts: Counts, severities: dict[str, str]) -> Iterator[str]:
    """One command a rule, the gravest and most frequent first."""
    grave = {"error": 0, "warning": 1, "info": 2}
    rules = sorted(severities, key=lambda rule: (grave[severities[rule]], -counts.findings.get(rule, 0), rule))
    for rule in rules[:NAMED_RULES]:
        yield f"  jarvis-ops verify-pairs --explain {rule}"
    if len(rules) > NAMED_RULES:
        yield f"  and {count(len(rules) - NAMED_RULES, 'more rule')}"
