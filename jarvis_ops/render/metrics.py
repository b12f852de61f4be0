"""A report as a file that the node exporter of Prometheus collects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jarvis_ops.errors import UsageError
from jarvis_ops.model.report import STATUSES, Report
from jarvis_ops.render.visible import visible

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

LAST_SUCCESS = "jarvis_ops_last_success_timestamp_seconds"
LABELS = ("command", "store")


def check(path: str) -> None:
    """UsageError when metrics cannot be written at all: a name that is not collected, or a missing library."""
    if not path.endswith(".prom"):
        raise UsageError(f"--metrics-file {path!r}: the collector reads only files whose name ends in .prom")
    try:
        import prometheus_client  # noqa: F401  only whether it is there
    except ImportError:
        raise UsageError("--metrics-file needs a library: pip install 'jarvis-ops[metrics]'") from None


def text(path: str, report: Report, *, ended: float, seconds: float) -> bytes:
    """What the file is to hold; `ended` is seconds since the epoch. The last success that `path` tells of is kept.

    A run succeeded when it could do its work, whatever it found.
    """
    from prometheus_client import CollectorRegistry, generate_latest

    registry = CollectorRegistry()
    labels = (report.command, visible(report.store))
    success = ended if report.exit_code in (0, 1) else _earlier_success(path, labels)
    _gauge(registry, "jarvis_ops_last_run_timestamp_seconds", "End of the last run.", labels, ended)
    if success is not None:
        _gauge(registry, LAST_SUCCESS, "End of the last run that could do its work.", labels, success)
    _gauge(registry, "jarvis_ops_exit_code", "Exit code of the last run.", labels, report.exit_code)
    _gauge(registry, "jarvis_ops_run_seconds", "Wall time of the last run.", labels, seconds)
    _gauge(
        registry, "jarvis_ops_read_bytes", "Bytes of the conversations of the last run.", labels, report.counts.bytes
    )
    _counts(registry, labels, report)
    return generate_latest(registry)


def _counts(registry: CollectorRegistry, labels: tuple[str, str], report: Report) -> None:
    from prometheus_client import Gauge

    findings = Gauge("jarvis_ops_findings", "Findings of the last run.", (*LABELS, "rule"), registry=registry)
    for rule, number in report.counts.findings.items():
        findings.labels(*labels, rule).set(number)
    by_status = Gauge("jarvis_ops_conversations", "Conversations.", (*LABELS, "status"), registry=registry)
    for name in STATUSES:
        by_status.labels(*labels, name).set(getattr(report.counts, name))


def _gauge(registry: CollectorRegistry, name: str, what: str, labels: tuple[str, str], value: float) -> None:
    from prometheus_client import Gauge

    Gauge(name, what, LABELS, registry=registry).labels(*labels).set(value)


def _earlier_success(path: str, labels: tuple[str, str]) -> float | None:
    """The last success that the file tells of; a file that is missing or damaged tells of none."""
    from prometheus_client.parser import text_string_to_metric_families

    try:
        with open(path, encoding="utf-8") as file:
            families = list(text_string_to_metric_families(file.read()))
    except (OSError, ValueError):
        return None
    wanted = dict(zip(LABELS, labels, strict=True))
    samples = (sample for family in families for sample in family.samples)
    return next((one.value for one in samples if one.name == LAST_SUCCESS and one.labels == wanted), None)
