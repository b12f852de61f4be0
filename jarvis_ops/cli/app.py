"""The application: registers the commands."""

from __future__ import annotations

from typing import Annotated

import typer

from jarvis_ops.cli.gc import gc
from jarvis_ops.cli.heal import heal
from jarvis_ops.cli.migrate_seq import migrate_seq
from jarvis_ops.cli.recover import recover
from jarvis_ops.cli.runs import runs
from jarvis_ops.cli.schema import schema
from jarvis_ops.cli.sessions import sessions
from jarvis_ops.cli.undo import undo
from jarvis_ops.cli.verify_pairs import verify_pairs

app = typer.Typer(
    name="jarvis-ops",
    help="Check and look after the stored conversations of LLM agents.",
    epilog="Exit codes: 0 nothing wrong or all done, 1 errors or a plan, 2 usage, 3 could not be done, 4 left alone.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _show_version(value: bool) -> None:
    if value:
        from jarvis_ops.cli.version import version

        typer.echo(f"jarvis-ops {version()}")
        raise typer.Exit


@app.callback()
def configure(
    ctx: typer.Context,
    version: Annotated[  # noqa: ARG001  its callback has answered it
        bool, typer.Option("--version", is_eager=True, callback=_show_version, help="Print the version, and stop.")
    ] = False,
) -> None:
    """Check and look after the stored conversations of LLM agents."""
    from jarvis_ops.cli.defaults import prepare

    prepare(ctx)


app.command("verify-pairs")(verify_pairs)
app.command("heal")(heal)
app.command("undo")(undo)
app.command("recover")(recover)
app.command("runs")(runs)
app.command("gc")(gc)
app.command("migrate-seq")(migrate_seq)
app.command("sessions")(sessions)
app.command("schema")(schema)
