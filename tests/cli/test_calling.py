"""Commands in messages are those that work where the user is."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.real.places import ROOT
from vllmwatch.cli.calling import WITHOUT_FILE, Calling, calling
from vllmwatch.cli.commands import COMMANDS, load

HINT = "stop it first, or run `vllmwatch up --state FOLDER`"


def called(program: str, *words: str, on_path: str | None = None, **environment: str) -> Calling:
    return calling(["python3.11", "-m", "vllmwatch"], [program, *words], environment, lambda _: on_path)


def test_program_on_path_is_called_by_its_name() -> None:
    assert called("/opt/bin/vllmwatch", on_path="/opt/bin/vllmwatch").program == "vllmwatch"


def test_program_beside_path_is_called_as_it_was_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "vllmwatch").touch()
    how = called("bin/vllmwatch", on_path="/opt/bin/vllmwatch")
    assert how.copyable(HINT) == "stop it first, or run `bin/vllmwatch up --state FOLDER`"


def test_module_is_called_as_a_module() -> None:
    how = called("/opt/lib/vllmwatch/__main__.py")
    assert how.copyable("write one with `vllmwatch init`") == "write one with `python3.11 -m vllmwatch init`"


def test_make_is_named_for_up_alone(tmp_path: Path) -> None:
    program = tmp_path / "vllmwatch"
    program.touch()
    how = called(str(program), VLLMWATCH_CALLER="make")
    assert how.copyable(HINT) == 'stop it first, or run `make up UP="--state FOLDER"`'
    assert how.copyable("run `vllmwatch up` again") == "run `make up` again"
    assert how.copyable("`vllmwatch init`, then go on") == f"`{program} init`, then go on"


def test_command_on_a_line_of_its_own_has_no_backticks_that_a_shell_would_obey() -> None:
    assert Calling().copyable("  `vllmwatch up --target X`") == "  vllmwatch up --target X"


@pytest.mark.parametrize(
    "words", [("alerts", "--config", "a b.yml"), ("--config=x.yml", "--config=a b.yml"), ("--config", "a b.yml", "--")]
)
def test_the_file_that_was_named_is_named_again_where_a_command_reads_one(words: tuple[str, ...]) -> None:
    how = called("/opt/bin/vllmwatch", *words, on_path="/opt/bin/vllmwatch")
    assert how.copyable("`vllmwatch alerts test`") == "  vllmwatch alerts test --config 'a b.yml'"
    assert how.copyable("run `vllmwatch rules`.") == "run `vllmwatch rules --config 'a b.yml'`."
    assert how.copyable("run `vllmwatch init`") == "run `vllmwatch init`"
    by_make = called("/opt/bin/vllmwatch", *words, VLLMWATCH_CALLER="make")
    assert by_make.copyable("`vllmwatch up`") == "  make up UP=\"--config 'a b.yml'\""


@pytest.mark.parametrize("words", [(), ("--", "--config", "x.yml"), ("--configure", "x.yml"), ("config",)])
def test_without_a_file_that_was_named_commands_name_none(words: tuple[str, ...]) -> None:
    how = called("/opt/bin/vllmwatch", *words, on_path="/opt/bin/vllmwatch")
    assert how.copyable("run `vllmwatch rules`") == "run `vllmwatch rules`"


def test_the_commands_that_read_a_file_are_those_that_have_the_option() -> None:
    has_none = {entry.name for entry in COMMANDS if not any("--config" in each.opts for each in load(entry).params)}
    assert has_none == WITHOUT_FILE


@pytest.mark.parametrize("text", ["no command", "`vllm serve MODEL`", "vllmwatch up is a command", ""])
def test_other_text_stays_as_it_is(text: str) -> None:
    assert Calling(".venv/bin/vllmwatch", by_make=True).copyable(text) == text


def test_hint_of_a_real_run_can_be_run(tmp_path: Path) -> None:
    inherited = {key: text for key, text in os.environ.items() if not key.startswith("VLLMWATCH_")}
    environment = {**inherited, "PYTHONPATH": str(ROOT), "VLLMWATCH_CALLER": "make"}
    done = subprocess.run(
        [sys.executable, "-m", "vllmwatch", "config", "--config", "absent.yml"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    hint = done.stderr.splitlines()[-1]
    command = hint.partition("`")[2].rpartition("`")[0]
    assert command == f"{sys.executable} -m vllmwatch init absent.yml"
    subprocess.run([*command.split(), "--no-discover"], cwd=tmp_path, env=environment, check=True, capture_output=True)
    assert (tmp_path / "absent.yml").exists()
