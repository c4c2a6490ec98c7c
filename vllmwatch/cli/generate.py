"""`vllmwatch generate`: the files of a checkout that are made from the catalogue."""

from pathlib import Path
from typing import Annotated

import typer

import vllmwatch
from vllmwatch.cli.reference import command_help
from vllmwatch.errors import VllmwatchError
from vllmwatch.render.artifacts import artifacts, differences, rendered, write

_COMMAND = "vllmwatch generate"

Check = Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 when a file is not as it should be.")]
Print = Annotated[bool, typer.Option("--print", help="Write nothing; print all files.")]


def generate(*, check: Check = False, print_all: Print = False) -> None:
    """Write the files of a checkout that are made from the catalogue.

    For those who work on vllmwatch itself: it needs the source tree.
    """
    texts = rendered(artifacts(command_help()))
    if print_all:
        for path, content in texts.items():
            typer.echo(f"--- {path}\n{content.decode()}", nl=False)
        return
    root = _checkout()
    found = differences(root, texts) if check else write(root, texts)
    for difference in found:
        typer.echo(f"{difference.path}: {difference.what}{'' if check else ', mended'}")
    rest = found if check else differences(root, texts)
    if rest:
        foreign = [entry.path for entry in rest if entry.what == "left over"]
        hint = f"Run `{_COMMAND}`" if check else f"Move what a person wrote elsewhere: {', '.join(foreign)}"
        raise VllmwatchError(f"{len(rest)} generated file(s) are not as they should be", hint=hint)
    typer.echo(f"{len(texts)} generated files are up to date")


def _checkout() -> Path:
    root = Path(vllmwatch.__file__).resolve().parents[1]
    if not (root / "pyproject.toml").is_file() or not (root / "tests").is_dir():
        raise VllmwatchError(
            f"{root}: this vllmwatch is installed, and generated files belong to a checkout of its source",
            hint="Get the source, install it with `pip install -e .`, and run it there.",
        )
    return root
