"""The help of commands as the reference page shows it."""

import json
import re
import shlex

from tests.cli.command_line import CommandLine
from tests.sources.backends.stand_in import answering
from vllmwatch.cli.reference import command_help

HELP = {command.name.removeprefix("vllmwatch "): command for command in command_help()}


def test_arguments_have_names_and_defaults_are_said_where_there_are_any() -> None:
    rows = [(command.name, *row) for command in HELP.values() for row in command.options]
    assert [row for row in rows if not row[1] or "None" in row[1]] == []
    assert [row for row in rows if re.search(r"default: ?[;\]]", row[2])] == []
    assert HELP["explain"].usage == "vllmwatch explain [OPTIONS] [NAME]"
    silence = dict(HELP["silence"].options)
    assert silence["--by VALUE"].endswith(" [default: your user name]")
    assert silence["--for VALUE"].endswith(" [default: 2h]")
    assert "default" not in silence["--comment VALUE"]


def test_what_a_command_cannot_do_without_is_required() -> None:
    required = [(name, row[0]) for name, command in HELP.items() for row in command.options if "[required" in row[1]]
    assert required == [("rules", "--output FOLDER"), ("logs", "parse")]
    assert HELP["logs"].usage == "vllmwatch logs [OPTIONS] parse [FILE]"


def test_the_example_of_a_silence_sets_one(run: CommandLine) -> None:
    found = re.search(r"`vllmwatch (silence [^`]+)`", HELP["silence"].help)
    assert found is not None
    with answering({"/api/v2/silences": json.dumps({"silenceID": "7"}).encode()}) as program:
        outcome = run(*shlex.split(found[1]), VLLMWATCH_ALERTMANAGER_URL=program.url)
    assert (outcome.code, outcome.out, outcome.err) == (0, "7\n", "")
