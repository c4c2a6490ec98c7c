"""The commands as the reference page shows them, read from the commands themselves."""

from typing import Any

from typer.core import TyperCommand

from vllmwatch.cli.commands import COMMANDS, load
from vllmwatch.render.command_page import CommandHelp


def command_help() -> tuple[CommandHelp, ...]:
    """Return the help of all commands, whatever the width of the terminal."""
    return tuple(_describe(f"vllmwatch {entry.name}", load(entry)) for entry in COMMANDS)


def _describe(name: str, command: TyperCommand) -> CommandHelp:
    """Describe a command by the attributes of its parameters: typer's own help text changes with its releases."""
    known: list[Any] = list(command.params)
    parameters = [parameter for parameter in known if not parameter.hidden]
    arguments = [parameter for parameter in parameters if parameter.param_type_name == "argument"]
    words = [_names(each) if each.required else f"[{_names(each)}]" for each in arguments]
    usage = " ".join([name, "[OPTIONS]", *words])
    rows = tuple((_names(parameter), _meaning(parameter)) for parameter in parameters)
    return CommandHelp(name, usage, _paragraphs(command.help or ""), rows)


def _names(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name.upper())
    names = ", ".join([*parameter.opts, *parameter.secondary_opts])
    return names if parameter.is_flag else f"{names} {parameter.metavar or 'VALUE'}"


def _meaning(parameter: Any) -> str:
    facts = ["required"] if parameter.required else []
    if parameter.envvar:
        facts.append(f"variable: {parameter.envvar}")
    if isinstance(parameter.show_default, str):
        facts.append(f"default: {parameter.show_default}")
    elif parameter.show_default and parameter.default not in {None, ""} and not _is_switch(parameter):
        facts.append(f"default: {_shown(parameter.default)}")
    return f"{parameter.help} [{'; '.join(facts)}]" if facts else str(parameter.help)


def _is_switch(parameter: Any) -> bool:
    """Tell whether an option only turns something on: its default says nothing."""
    return getattr(parameter, "is_flag", False) and not parameter.secondary_opts


def _shown(default: object) -> str:
    if isinstance(default, bool):
        return "yes" if default else "no"
    return str(default)


def _paragraphs(text: str) -> str:
    """Return a docstring with each paragraph on one line."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
