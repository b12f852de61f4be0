"""Gives the options the defaults that the configuration file says."""

from __future__ import annotations

import os

import typer

from jarvis_ops.config import Config, load
from jarvis_ops.errors import ConfigurationError

COMMANDS = ("verify-pairs", "heal", "undo", "recover", "runs", "gc", "sessions")


def prepare(ctx: typer.Context) -> None:
    """Read the file once. A bad one is kept for the command to complain of, so that `--help` works all the same."""
    try:
        config = load(os.environ)
    except ConfigurationError as error:
        ctx.obj = error
        return
    ctx.obj = config
    ctx.default_map = {command: dict(config.defaults) for command in COMMANDS}


def config_of(ctx: typer.Context) -> Config:
    """The configuration that `prepare` read. ConfigurationError if it was bad."""
    if isinstance(ctx.obj, ConfigurationError):
        raise ctx.obj
    return ctx.obj if isinstance(ctx.obj, Config) else Config()
