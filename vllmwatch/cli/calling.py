"""How the user called this program, so that the commands in its messages can be copied."""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from vllmwatch.spec.setting import CALLER_VARIABLE

NAME = "vllmwatch"
_COMMAND = re.compile(r"`vllmwatch (?P<command>[a-z]+)(?P<rest>[^`]*)`")
_FILE_OPTION = "--config"
# These read no configuration; all others take the option.
WITHOUT_FILE: frozenset[str] = frozenset({"init", "logs"})


@dataclass(frozen=True, slots=True)
class Calling:
    """The words that call the program, whether it is make that runs it, and the file that --config named."""

    program: str = NAME
    by_make: bool = False
    file: str | None = None

    def copyable(self, text: str) -> str:
        """Return a text whose commands (`vllmwatch …` between backticks) are those that work where the user is.

        A command that has the line to itself loses its backticks, which would mean something else to a shell.
        """
        if alone := _COMMAND.fullmatch(text.strip()):
            return "  " + self._command(alone["command"], alone["rest"].strip())
        return _COMMAND.sub(lambda found: f"`{self._command(found['command'], found['rest'].strip())}`", text)

    def _command(self, command: str, rest: str) -> str:
        if self.file is not None and command not in WITHOUT_FILE:
            rest = f"{rest} {_FILE_OPTION} {shlex.quote(self.file)}".lstrip()
        if self.by_make and command == "up":
            return f'make up UP="{rest}"' if rest else "make up"
        return " ".join(part for part in (self.program, command, rest) if part)


def calling(
    original: Sequence[str],
    arguments: Sequence[str],
    environment: Mapping[str, str],
    which: Callable[[str], str | None],
) -> Calling:
    """Tell how this process was called.

    `original` is sys.orig_argv, `arguments` sys.argv; `which` finds a program on PATH, as shutil.which does.
    """
    program, *words = arguments
    by_make = environment.get(CALLER_VARIABLE) == "make"
    file = _file(words)
    if Path(program).name == "__main__.py":
        return Calling(f"{shlex.quote(original[0])} -m {NAME}", by_make, file)
    on_path = which(NAME)
    short = on_path is not None and Path(program).absolute() == Path(on_path).absolute()
    # Run from a string of code, the program has no name that anybody typed.
    return Calling(NAME if short or not Path(program).exists() else shlex.quote(program), by_make, file)


def _file(words: Sequence[str]) -> str | None:
    """Return what --config names among the words of a command line: the last of them counts."""
    file = None
    for word, following in pairwise([*words, ""]):
        if word == "--":
            break
        option, has_value, value = word.partition("=")
        if option == _FILE_OPTION:
            file = value if has_value else following
    return file


def called() -> Calling:
    """Tell how the process that runs was called."""
    return calling(sys.orig_argv, sys.argv, os.environ, shutil.which)
