"""Turns options that several commands share into what the layers below take."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import typer

from jarvis_ops.errors import UnreadableError, UsageError
from jarvis_ops.model.conversation import Conversation
from jarvis_ops.model.quantity import duration, instant
from jarvis_ops.model.settings import Settings
from jarvis_ops.operations.footprint import log_bytes
from jarvis_ops.operations.recent import LastTime, last_times
from jarvis_ops.operations.select import Selection, ids_in
from jarvis_ops.render.form import Form
from jarvis_ops.stores.base import Database, Measure, Store


class Asked(NamedTuple):
    """The selection as it was typed."""

    conversations: Sequence[str] | None = None
    only: Sequence[str] | None = None
    kind: Sequence[str] | None = None
    since: str | None = None
    idle_for: str | None = None
    ids_from: str | None = None
    call_id: Sequence[str] | None = None
    record_id: Sequence[str] | None = None
    everything: bool = False


def selection_of(asked: Asked, now: int) -> Selection:
    """The selection, its times counted back from `now` (milliseconds). UsageError for what contradicts itself."""
    ids: tuple[str, ...] | None = tuple(asked.conversations or ()) or None
    if asked.ids_from is not None:
        ids = (*(ids or ()), *_ids_from(asked.ids_from))
    selection = Selection(
        ids=ids,
        only=tuple(asked.only or ()),
        kinds=tuple(map(str, asked.kind or ())),
        since=_named("--since", lambda: None if asked.since is None else instant(asked.since, now)),
        idle_since=_named("--idle-for", lambda: None if asked.idle_for is None else now - duration(asked.idle_for)),
        call_ids=tuple(asked.call_id or ()),
        record_ids=tuple(asked.record_id or ()),
    )
    if asked.everything and not selection.whole:
        raise UsageError("--all takes every conversation; leave it out, or leave out what selects some of them")
    return selection


def span(option: str, text: str | None, *, zero: bool = False) -> int | None:
    """The milliseconds of an option that takes a duration; None when it was not given."""
    return _named(option, lambda: None if text is None else duration(text, zero=zero))


def _named(option: str, read: Callable[[], int | None]) -> int | None:
    try:
        return read()
    except UsageError as error:
        raise UsageError(f"{option}: {error.message}") from error


def _ids_from(name: str) -> tuple[str, ...]:
    try:
        if name == "-":
            return ids_in(sys.stdin.buffer)
        with open(name, "rb") as file:
            return ids_in(file)
    except OSError as error:
        raise UsageError(f"--ids-from {name!r} cannot be read: {error.strerror}") from error


def form_of(
    ctx: typer.Context,
    output: str,
    as_json: bool,
    verbose: bool,
    quiet: bool,
    progress: bool | None = None,
    limit: int | None = None,
) -> Form:
    """The form of the report. UsageError for options that contradict each other."""
    if verbose and quiet:
        raise UsageError("--verbose and --quiet contradict each other; give one of them")
    if as_json and output != "json" and _typed(ctx, "output"):
        raise UsageError(f"--json and --output {output} contradict each other; give one of them")
    return Form("json" if as_json else output, verbose, quiet, progress, limit)


def _typed(ctx: typer.Context, name: str) -> bool:
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def ordered(store: Store, chosen: Iterable[Conversation], order: str, settings: Settings) -> list[Conversation]:
    """The conversations in the order in which the work is done: by id, newest first, or largest first."""
    if order == "bytes":
        measured = store.measured() if isinstance(store, Database) else None
        return sorted(chosen, key=lambda one: size_of(one, measured), reverse=True)
    if order == "last":
        last = last_times(store, settings)
        return sorted(chosen, key=lambda one: _last(last, one), reverse=True)
    return list(chosen)


def size_of(conversation: Conversation, measured: Mapping[str, Measure] | None) -> int:
    """The bytes of a conversation: of its files, or of its rows where a database measured them."""
    if measured is None:
        return log_bytes(conversation)
    return measured[conversation.id].bytes if conversation.id in measured else 0


def _last(last: LastTime, conversation: Conversation) -> float:
    """The time of the last record; what cannot be read comes first, so that it is told early."""
    try:
        time = last(conversation)
    except UnreadableError:
        return float("inf")
    return float("-inf") if time is None else time
