"""Runs the command in this process, as its users type it."""

import sys
from dataclasses import dataclass
from typing import Any

import pytest

from vllmwatch.cli.main import main


@dataclass(frozen=True)
class Outcome:
    """What a run of the command printed, and its exit code."""

    code: int
    out: str
    err: str


class CommandLine:
    """Runs `vllmwatch` with the words of a line."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def __call__(self, *words: str, **environment: str) -> Outcome:
        self._monkeypatch.setattr(sys, "argv", ["vllmwatch", *words])
        for name, value in environment.items():
            self._monkeypatch.setenv(name, value)
        code: Any = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        printed = self._capsys.readouterr()
        return Outcome(int(code), printed.out, printed.err)
