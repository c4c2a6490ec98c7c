"""Commands in messages are those that work where the user is."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.real.places import ROOT
from vllmwatch.cli.calling import Calling, calling

HINT = "stop it first, or run `vllmwatch up --state FOLDER`"


def called(program: str, *, on_path: str | None = None, **environment: str) -> Calling:
    return calling(["python3.11", "-m", "vllmwatch"], program, environment, lambda _: on_path)


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
    assert how.copyable("`vllmwatch up` already runs") == "`make up` already runs"
    assert how.copyable("`vllmwatch init`, then go on") == f"`{program} init`, then go on"


def test_command_on_a_line_of_its_own_has_no_backticks_that_a_shell_would_obey() -> None:
    assert Calling().copyable("  `vllmwatch up --target X`") == "  vllmwatch up --target X"


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
    assert command == f"{sys.executable} -m vllmwatch init"
    subprocess.run([*command.split(), "--no-discover"], cwd=tmp_path, env=environment, check=True, capture_output=True)
    assert (tmp_path / "vllmwatch.yml").exists()
