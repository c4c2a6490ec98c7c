"""docs/reference/cli.md: every command with its options."""

from collections.abc import Sequence
from dataclasses import dataclass

from vllmwatch.render import mark
from vllmwatch.render.tables import code, table


@dataclass(frozen=True, slots=True)
class CommandHelp:
    """A command as its help shows it: usage, explanation, and a row (name, meaning) for each option and argument."""

    name: str
    usage: str
    help: str
    options: tuple[tuple[str, str], ...]


def render_command_page(commands: Sequence[CommandHelp]) -> str:
    """Return the page, in the order of the commands; raises ValueError when there are none."""
    if not commands:
        raise ValueError("cli.md: nothing to write")
    head = (
        "# Commands\n\n"
        "In a checkout the command is `.venv/bin/vllmwatch`.\n\n"
        "| exit code | meaning | on standard error |\n"
        "| --- | --- | --- |\n"
        "| 0 | done; `exporter` and `up` end so when SIGINT (Ctrl-C) or SIGTERM ends them | |\n"
        "| 1 | a fault that the message explains | lines that begin with `error:`, then one with `hint:` |\n"
        "| 2 | wrong usage: a command or an option that there is not | the usage, and what is wrong with it |\n"
        "| 130 | Ctrl-C ended one of the other commands | |"
    )
    return mark.markdown("\n\n".join([head, *(_section(command) for command in commands)]))


def _section(command: CommandHelp) -> str:
    parts = [f"## {command.name}", f"```text\n{command.usage}\n```", command.help]
    if command.options:
        parts.append(table(("option", "meaning"), [(code(name), text) for name, text in command.options]))
    return "\n\n".join(parts)
