"""`vllmwatch generate`: the files of a checkout that are made from the catalogue."""

from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

import vllmwatch
from vllmwatch.catalog.boards import BOARDS
from vllmwatch.cli.alert_settings import board_settings
from vllmwatch.cli.files import compared, folder_of, written
from vllmwatch.cli.options import ConfigLoader, with_file
from vllmwatch.cli.reference import command_help
from vllmwatch.config import Config
from vllmwatch.errors import VllmwatchError
from vllmwatch.render import mark
from vllmwatch.render.artifacts import artifacts, differences, rendered, write
from vllmwatch.render.grafana import board_path, render_board

_COMMAND = "vllmwatch generate"

What = Annotated[
    str, typer.Argument(metavar="dashboards", help="'dashboards' writes boards for you.", show_default=False)
]
Out = Annotated[str | None, typer.Option("--out", metavar="FOLDER", help="The folder that boards are written to.")]
Check = Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 when a file is not as it should be.")]
Print = Annotated[bool, typer.Option("--print", help="Write nothing; print all files.")]


@with_file
def generate(
    load: ConfigLoader, *, what: What = "", out: Out = None, check: Check = False, print_all: Print = False
) -> None:
    """Write the files of a checkout that are made from the catalogue; with `dashboards`, boards for you.

    The boards have your thresholds, links and data sources. All else is for those who work on vllmwatch itself: it
    needs the source tree.
    """
    if what not in {"", "dashboards"}:
        raise VllmwatchError(
            f"{what!r} is nothing to generate", hint="Run `vllmwatch generate dashboards --out FOLDER`."
        )
    if (what == "dashboards") != (out is not None):
        raise VllmwatchError("dashboards and --out go together", hint=f"Run `{_COMMAND} dashboards --out FOLDER`.")
    if out is not None:
        _boards(load(), folder_of("--out", out), check=check, print_all=print_all)
    else:
        _checkout_files(check=check, print_all=print_all)


def _boards(config: Config, folder: Path, *, check: bool, print_all: bool) -> None:
    settings = board_settings(config)
    made = {Path(board_path(board)).name: mark.by_settings(render_board(board, settings)) for board in BOARDS}
    texts = {name: text.encode() for name, text in made.items()}
    if print_all:
        _print(texts)
        return
    found = (compared if check else written)(folder, texts, ())
    for difference in found:
        typer.echo(f"{folder / difference.path}: {difference.what}{'' if check else ', written'}")
    if check and found:
        raise VllmwatchError(
            f"{len(found)} board(s) are not as the settings say",
            hint=f"Run `{_COMMAND} dashboards --out {quote(str(folder))}`.",
        )
    typer.echo(f"{folder}: {len(texts)} boards are as the settings say")


def _print(texts: Mapping[str, bytes]) -> None:
    for path, content in texts.items():
        typer.echo(f"--- {path}\n{content.decode()}", nl=False)


def _checkout_files(*, check: bool, print_all: bool) -> None:
    texts = rendered(artifacts(command_help()))
    if print_all:
        _print(texts)
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
