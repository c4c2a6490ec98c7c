"""`vllmwatch generate`: the files of a checkout that are made from the catalogue."""

from collections.abc import Callable, Mapping
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

import vllmwatch
from vllmwatch.catalog.boards import BOARDS
from vllmwatch.cli.alert_settings import alert_settings, board_settings
from vllmwatch.cli.files import compared, folder_of, written
from vllmwatch.cli.log_settings import log_settings
from vllmwatch.cli.options import ConfigLoader, with_file
from vllmwatch.cli.reference import command_help
from vllmwatch.config import Config
from vllmwatch.errors import VllmwatchError
from vllmwatch.render import mark
from vllmwatch.render.artifacts import artifacts, differences, rendered, write
from vllmwatch.render.grafana import board_path, render_board
from vllmwatch.render.log_files import RULES_FOLDER, log_files

_COMMAND = "vllmwatch generate"

What = Annotated[
    str,
    typer.Argument(
        metavar="[dashboards|logs]",
        help="'dashboards' writes boards for you, 'logs' what ships and keeps logs.",
        show_default=False,
    ),
]
Out = Annotated[str | None, typer.Option("--out", metavar="FOLDER", help="The folder that these are written to.")]
Check = Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 when a file is not as it should be.")]
Print = Annotated[bool, typer.Option("--print", help="Write nothing; print all files.")]


@with_file
def generate(
    load: ConfigLoader, *, what: What = "", out: Out = None, check: Check = False, print_all: Print = False
) -> None:
    """Write the files of a checkout that are made from the catalogue; with a word, files for you.

    `dashboards` are boards with your thresholds, links and data sources; `logs` are the configurations of Alloy and
    Loki, Loki's rules, and for log_files that of an OpenTelemetry Collector. All else is for those who work on
    vllmwatch itself: it needs the source tree.
    """
    if what not in {"", *_MADE}:
        raise VllmwatchError(
            f"{what!r} is nothing to generate", hint=f"Run `{_COMMAND} {' or '.join(_MADE)} --out FOLDER`."
        )
    if bool(what) != (out is not None):
        word = what or next(iter(_MADE))
        raise VllmwatchError(f"{word} and --out go together", hint=f"Run `{_COMMAND} {word} --out FOLDER`.")
    if out is not None:
        _for_you(what, _MADE[what](load()), folder_of("--out", out), check=check, print_all=print_all)
    else:
        _checkout_files(check=check, print_all=print_all)


def _boards(config: Config) -> dict[str, str]:
    settings = board_settings(config)
    return {Path(board_path(board)).name: mark.by_settings(render_board(board, settings)) for board in BOARDS}


def _logs(config: Config) -> dict[str, str]:
    return log_files(log_settings(config), alert_settings(config))


_MADE: Mapping[str, Callable[[Config], dict[str, str]]] = {"dashboards": _boards, "logs": _logs}
# Folders below the one that was named in which files of ours are removed when they are no longer asked for.
_FOLDERS: Mapping[str, tuple[str, ...]] = {"dashboards": (), "logs": (RULES_FOLDER,)}


def _for_you(what: str, made: Mapping[str, str], folder: Path, *, check: bool, print_all: bool) -> None:
    texts = {name: text.encode() for name, text in made.items()}
    if print_all:
        _print(texts)
        return
    found = (compared if check else written)(folder, texts, _FOLDERS[what])
    for difference in found:
        typer.echo(f"{folder / difference.path}: {difference.what}{'' if check else ', written'}")
    if check and found:
        raise VllmwatchError(
            f"{len(found)} file(s) are not as the settings say",
            hint=f"Run `{_COMMAND} {what} --out {quote(str(folder))}`.",
        )
    typer.echo(f"{folder}: {len(texts)} files are as the settings say")


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
