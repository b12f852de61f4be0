"""A report as JSON: one document, or one line for each thing as it happens."""

from __future__ import annotations

from typing import Any

import msgspec

from jarvis_ops.model import report as kinds
from jarvis_ops.model.report import Outcome, Problem, Report, SummaryLine
from jarvis_ops.render.visible import encodable, inert_json

DRAFT = "https://json-schema.org/draft/2020-12/schema"
DOCUMENTS = (
    kinds.Report, kinds.SessionsReport, kinds.HealReport, kinds.RecoverReport, kinds.RunsReport, kinds.GcReport,
    kinds.MigrateReport,
)  # fmt: skip
LINES = (
    kinds.OutcomeLine, kinds.SessionLine, kinds.HealLine, kinds.RecoverLine, kinds.RunLine, kinds.GcLine,
    kinds.MigrateLine, kinds.ErrorLine, kinds.SummaryLine,
)  # fmt: skip


def document(report: Report) -> bytes:
    """The whole report on one line, line feed included."""
    return _encoded(report)


def outcome_line(outcome: Outcome) -> bytes:
    """One outcome, line feed included."""
    return _encoded({"type": "outcome", **msgspec.to_builtins(outcome)})


def error_line(problem: Problem) -> bytes:
    """One error, line feed included."""
    return _encoded({"type": "error", **msgspec.to_builtins(problem)})


def summary_line(report: Report) -> bytes:
    """The sums, line feed included: always the last line."""
    fields = {name: getattr(report, name) for name in SummaryLine.__struct_fields__}
    return _encoded(SummaryLine(**fields))


def schema() -> bytes:
    """The JSON schema of every document and line, each under its name in `$defs`."""
    roots, definitions = msgspec.json.schema_components([*DOCUMENTS, *LINES])
    return msgspec.json.format(
        msgspec.json.encode({"$schema": DRAFT, "title": "jarvis-ops/1", "anyOf": list(roots), "$defs": definitions})
    )


def _encoded(value: object) -> bytes:
    try:
        text = msgspec.json.encode(value)
    except UnicodeEncodeError:
        text = msgspec.json.encode(_encodable(msgspec.to_builtins(value)))
    return inert_json(text) + b"\n"


def _encodable(value: Any) -> Any:
    """The same plain value with every text, keys included, as UTF-8 can carry it."""
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, dict):
        return {_encodable(key): _encodable(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_encodable(entry) for entry in value]
    return value
