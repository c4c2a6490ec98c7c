"""The options of commands that run on the configuration: one for each setting that has one, made from the catalogue."""

import inspect
import os
import socket
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from vllmwatch.catalog.settings import SETTINGS
from vllmwatch.config import Config, find_file, load_config
from vllmwatch.sources.unicode_text import writable
from vllmwatch.spec.setting import LISTS, Form, Setting

ConfigLoader = Callable[[], Config]

_FILE_PARAMETER = "config_file"
_FILE_HELP = "The configuration file; without it VLLMWATCH_CONFIG, ./vllmwatch.yml or /etc/vllmwatch/vllmwatch.yml."
_METAVARS: Mapping[Form, str] = {
    Form.ADDRESS: "HOST:PORT",
    Form.BYTES: "BYTES",
    Form.LIST: "TEXT",
    Form.NUMBER: "NUMBER",
    Form.SECONDS: "SECONDS",
    Form.TARGETS: "URL",
    Form.TEXT: "TEXT",
    Form.URL: "URL",
    Form.WHOLE_NUMBER: "NUMBER",
}


def with_settings(body: Callable[..., None]) -> Callable[..., None]:
    """Make a command of `body`, with an option for each setting that has one, --config, and the body's own options.

    See `with_file` for what `body` is given.
    """
    return _command(body, tuple(_parameter(setting) for setting in SETTINGS if setting.option is not None))


def with_file(body: Callable[..., None]) -> Callable[..., None]:
    """Make a command of `body`, with --config and the body's own options.

    The first argument of `body` is a function that reads the configuration, the first time and again on reload:
    options and environment are as they were at the start, the file as it is then. It raises ConfigError. Parameters
    of `body` after that one are options of its own, declared for typer as usual.
    """
    return _command(body, ())


def _command(body: Callable[..., None], settings: tuple[inspect.Parameter, ...]) -> Callable[..., None]:
    own = tuple(inspect.signature(body).parameters.values())[1:]

    @wraps(body)
    def command(**given: Any) -> None:
        chosen: Path | None = given.pop(_FILE_PARAMETER)
        extra = {parameter.name: given.pop(parameter.name) for parameter in own}
        options = {key: value for key, value in given.items() if value is not None and value != []}
        body(config_loader(options, chosen), **extra)

    parameters = [*settings, _file_parameter(), *own]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def config_loader(options: Mapping[str, object], chosen: Path | None) -> ConfigLoader:
    """Return the function that reads the configuration of this process with these options, by key."""
    environment = dict(os.environ)
    directory = Path.cwd()
    hostname = writable(socket.gethostname())

    def load() -> Config:
        file = find_file(chosen, environment, directory)
        return load_config(options, environment, file=file, hostname=hostname, directory=directory)

    return load


def _parameter(setting: Setting) -> inspect.Parameter:
    names = [setting.option or ""]
    value_type: Any = str
    if setting.form is Form.BOOLEAN:
        names = [f"{setting.option}/--no-{(setting.option or '').removeprefix('--')}"]
        value_type = bool
    elif setting.form in LISTS:
        value_type = list[str]
    default = setting.default_help or _shown(setting.default)
    option = typer.Option(
        *names,
        help=f"{setting.help}{' May be repeated.' if setting.form in LISTS else ''} [default: {default}]",
        metavar=_METAVARS.get(setting.form),
        show_default=False,
    )
    annotation = Annotated[value_type | None, option]
    return inspect.Parameter(setting.key, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _shown(default: object) -> str:
    if isinstance(default, bool):
        return "yes" if default else "no"
    return "none" if default == () else str(default)


def _file_parameter() -> inspect.Parameter:
    option = typer.Option("--config", help=_FILE_HELP, metavar="FILE", show_default=False)
    return inspect.Parameter(
        _FILE_PARAMETER, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[Path | None, option]
    )
