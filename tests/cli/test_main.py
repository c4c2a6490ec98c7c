"""The command as a whole: help, exit codes, and what it loads."""

import subprocess
import sys

import pytest

from tests.cli.command_line import CommandLine
from vllmwatch import __version__
from vllmwatch.cli import commands, config
from vllmwatch.cli.commands import COMMANDS, load


def test_version(run: CommandLine) -> None:
    outcome = run("--version")
    assert (outcome.code, outcome.out) == (0, f"vllmwatch {__version__}\n")


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",)])
def test_help_lists_all_commands_in_order(run: CommandLine, words: tuple[str, ...]) -> None:
    outcome = run(*words)
    printed = outcome.out + outcome.err
    places = [printed.index(f"\n  {entry.name} ") for entry in COMMANDS]
    assert places == sorted(places)


@pytest.mark.parametrize("entry", COMMANDS, ids=lambda entry: entry.name)
def test_the_summary_of_a_command_is_the_first_line_of_its_docstring(entry: commands.Entry) -> None:
    assert (load(entry).help or "").partition("\n\n")[0].replace("\n", " ") == entry.summary
    assert load(entry).name == entry.name


def test_help_loads_neither_rich_nor_what_the_commands_need() -> None:
    code = (
        "import sys; sys.argv = ['vllmwatch', '--help']\n"
        "from vllmwatch.cli.main import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print([name for name in ('rich', 'pydantic', 'fastapi', 'requests', 'psutil', 'yaml') if name in sys.modules])"
    )
    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert seen.stdout.splitlines()[-1] == "[]"


def test_the_exporter_command_does_not_load_rich_or_the_reference_pages() -> None:
    code = (
        "import sys; import vllmwatch.cli.exporter\n"
        "print([name for name in ('rich', 'vllmwatch.render', 'vllmwatch.stack') if name in sys.modules])"
    )
    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert seen.stdout == "[]\n"


def test_an_unknown_command_names_the_nearest(run: CommandLine) -> None:
    outcome = run("confg")
    assert outcome.code == 2
    assert "Did you mean 'config'?" in outcome.err


def test_an_unknown_option_names_the_nearest(run: CommandLine) -> None:
    outcome = run("config", "--lisen", "x")
    assert outcome.code == 2
    assert "--listen" in outcome.err


def test_a_fault_of_the_user_is_lines_and_a_hint_without_traceback(run: CommandLine) -> None:
    outcome = run("config", "--listen", "x", VLLMWATCH_NVML="maybe")
    assert outcome.code == 1
    assert outcome.out == ""
    assert outcome.err.splitlines() == [
        "error: --listen: host:port is asked for, not 'x'",
        "error: VLLMWATCH_NVML: true or false is asked for, not 'maybe'",
        "hint: See docs/reference/settings.md for every setting.",
    ]


def test_an_interrupt_ends_with_130(run: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_settings: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(config, "describe", interrupted)
    assert run("config").code == 130


def test_the_module_runs_as_the_command() -> None:
    seen = subprocess.run([sys.executable, "-m", "vllmwatch", "--version"], capture_output=True, text=True, check=True)
    assert seen.stdout == f"vllmwatch {__version__}\n"
