"""The command line for the tests in this folder, in a folder without a configuration file."""

import os
from pathlib import Path

import pytest

from tests.cli.command_line import CommandLine


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> CommandLine:
    for name in [name for name in os.environ if name.startswith("VLLMWATCH_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return CommandLine(monkeypatch, capsys)
