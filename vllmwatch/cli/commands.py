"""The commands, each with the module that holds it: a command's module is imported when the command runs."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command


@dataclass(frozen=True, slots=True)
class Entry:
    """A command: `module` has a function of the command's name; `summary` is the first line of its docstring."""

    name: str
    module: str
    summary: str


COMMANDS: tuple[Entry, ...] = (
    Entry("exporter", "vllmwatch.cli.exporter", "Serve the metrics of GPUs and vLLM servers on one page."),
    Entry(
        "up",
        "vllmwatch.cli.up",
        "Start the exporter and Prometheus, say which GPUs and vLLM servers were found, and run until Ctrl-C.",
    ),
    Entry("config", "vllmwatch.cli.config", "Print the settings in force, and where each came from."),
    Entry("init", "vllmwatch.cli.init", "Write a configuration file with every setting explained."),
    Entry("rules", "vllmwatch.cli.rules", "Write the rules of Prometheus and the configuration of Alertmanager."),
    Entry(
        "explain",
        "vllmwatch.cli.explain",
        "Print what an alert means, where to look first and what to do; without a name, all alerts.",
    ),
    Entry(
        "alerts",
        "vllmwatch.cli.alerts",
        "List the alerts that are on; `alerts test [RECEIVER]` tries whether a page arrives.",
    ),
    Entry(
        "silence", "vllmwatch.cli.silence", "Silence alerts for a time; without a matcher, list the silences in force."
    ),
    Entry(
        "logs",
        "vllmwatch.cli.logs",
        "Read the log of a vLLM server or of the kernel, and print it as one JSON object a record.",
    ),
    Entry(
        "generate",
        "vllmwatch.cli.generate",
        "Write the files of a checkout that are made from the catalogue; with a word, files for you.",
    ),
)


def load(entry: Entry) -> TyperCommand:
    """Import a command's module and return the command."""
    single = typer.Typer(add_completion=False, rich_markup_mode=None)
    single.command(entry.name, help=None)(getattr(import_module(entry.module), entry.name))
    command = get_command(single)
    assert isinstance(command, TyperCommand)
    return command


class LazyCommand(TyperCommand):
    """Stands for a command in the list of commands; the command itself takes over once it is called."""

    def __init__(self, entry: Entry) -> None:
        super().__init__(entry.name, help=entry.summary, short_help=entry.summary, rich_markup_mode=None)
        self._entry = entry

    def make_context(self, *args: Any, **extra: Any) -> Any:
        """Hand over to the command itself, which parses its own arguments."""
        return load(self._entry).make_context(*args, **extra)


class LazyGroup(TyperGroup):
    """The group of all commands, in the order of COMMANDS."""

    def __init__(self, **attrs: Any) -> None:
        super().__init__(**(attrs | {"commands": {entry.name: LazyCommand(entry) for entry in COMMANDS}}))

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - the signature of the base
        """Return the names in the order of COMMANDS."""
        return [entry.name for entry in COMMANDS]
