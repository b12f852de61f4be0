"""The next command to type: the one that was typed, with something added."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator
from typing import Any

import typer

from jarvis_ops.cli.place import shown

# What only says how the report looks, or how the work is done, need not be typed again.
PASSING = frozenset(
    {"output", "as_json", "verbose", "quiet", "progress", "limit", "sort", "dry_run", "stop_after", "metrics_file"}
)
# A password in the name of a store is not repeated.
STORES = frozenset({"store", "elsewhere"})


def retyped(ctx: typer.Context, *added: str, without: Collection[str] = ()) -> str:
    """The command line as it was typed, as a shell takes it; `without` are parameters to leave out."""
    words = ["jarvis-ops", str(ctx.info_name)]
    for parameter in ctx.command.params:
        name = str(parameter.name)
        source = ctx.get_parameter_source(name)
        if source is None or source.name != "COMMANDLINE" or name in PASSING or name in without:
            continue
        value = ctx.params[name]
        words += _words(parameter.param_type_name, parameter.opts, shown(value) if name in STORES else value)
    words += [word for word in added if word not in words]
    return shlex.join(words)


def _words(kind: str, names: list[str], value: Any) -> Iterator[str]:
    """The words of one parameter: a flag, an option as often as it was given, or arguments."""
    values = value if isinstance(value, (list, tuple)) else [value]
    for each in values:
        if kind == "option":
            yield names[-1]
        if each is not True:
            yield str(each)
