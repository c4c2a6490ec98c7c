"""`vllmwatch init`: a configuration file to begin with."""

import os
import socket
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from vllmwatch.errors import ConfigError
from vllmwatch.render.config_file import FoundTarget, render_config_file
from vllmwatch.sources.processes import Found, ServerFinder

Destination = Annotated[Path, typer.Argument(help="The file to write.", metavar="FILE")]
Force = Annotated[bool, typer.Option("--force", help="Write over a file that is there.")]
Discover = Annotated[bool, typer.Option(help="Whether the vLLM servers on this host are looked for and written down.")]

_PUBLIC_MODE = 0o644


def init(file: Destination = Path("vllmwatch.yml"), *, force: Force = False, discover: Discover = True) -> None:
    """Write a configuration file with every setting explained.

    The vLLM servers that run on this host now are written down as targets, so that one that is down later is missed.
    """
    if file.is_dir():
        raise ConfigError(f"{file}: this is a directory", hint=f"Name the file: `vllmwatch init {file}/vllmwatch.yml`")
    if file.exists() and not force:
        raise ConfigError(f"{file}: there is such a file already", hint="Write over it with --force, or name another.")
    found = ServerFinder(socket.gethostname()).find() if discover else Found((), ())
    targets = found_targets(found)
    _write(file, render_config_file(targets))
    typer.echo(f"{file}: written, with {len(targets)} server{'' if len(targets) == 1 else 's'} found on this host")
    for target in targets:
        typer.echo(f"  {target.url}  {target.note}")
    for problem in found.problems:
        typer.echo(f"  not a target: {problem}")


def found_targets(found: Found) -> tuple[FoundTarget, ...]:
    """Return what is to be written down of each server: containers' own addresses change, so they stay comments."""
    targets = []
    for server in found.servers:
        for target in server.targets:
            stable = "/" not in target.server
            state = "loading" if target.loading else "running"
            note = f"{target.server}, {state}, process {target.pid}"
            if not stable:
                note += "; the address of a container may change, discovery finds it again"
            targets.append(FoundTarget(target.url, note, stable, target.access.insecure_skip_verify))
    return tuple(targets)


def _write(file: Path, text: str) -> None:
    """Write the whole file or nothing of it."""
    try:
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        temporary = Path(name)
        temporary.chmod(_PUBLIC_MODE)
        temporary.replace(file)
    except OSError as error:
        raise ConfigError(
            f"{file}: cannot be written: {error.strerror}", hint="Name a file in a folder that you may write to."
        ) from None
