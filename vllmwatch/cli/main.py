"""The command `vllmwatch`: finds the subcommand, and turns errors into two lines and an exit code."""

import sys
from typing import Annotated

import typer

from vllmwatch import __version__
from vllmwatch.cli.calling import called
from vllmwatch.cli.commands import LazyGroup
from vllmwatch.errors import VllmwatchError

_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

app = typer.Typer(
    cls=LazyGroup,
    context_settings=_CONTEXT,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _print_version(asked: bool) -> None:  # noqa: FBT001 - the signature that typer asks for
    if asked:
        typer.echo(f"vllmwatch {__version__}")
        raise typer.Exit


@app.callback()
def root(
    *,
    _version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    """Watch fleets of vLLM servers: GPUs, vLLM's own metrics, and what both say together."""


def main() -> None:
    """Run the command line.

    Exit codes: 0 done (the end of a command that runs until a signal is no fault), 1 a fault that the message explains,
    2 wrong usage (click's own text), 130 interrupted.
    """
    how = called()
    try:
        app(prog_name=how.program)
    except VllmwatchError as error:
        for line in error.message.splitlines():
            typer.echo(f"error: {how.copyable(line)}", err=True)
        if error.hint:
            typer.echo(f"hint: {how.copyable(error.hint)}", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
