"""A program that `vllmwatch up` starts, watches and stops."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Thread

from vllmwatch.errors import StartError
from vllmwatch.stack import guard
from vllmwatch.stack.bounded_log import BoundedLog

_LINE_BYTES = 64 * 1024


class Child:
    """One child process with its log.

    It stands in a session of its own, so that Ctrl-C at the terminal reaches the parent alone, which then stops the
    children in order; and it is ended by the kernel when the parent is killed. Raises StartError where the program
    cannot be started.
    """

    def __init__(self, name: str, command: Sequence[str], log: Path) -> None:
        self.name = name
        self.log = BoundedLog(log)
        guarded = [sys.executable, "-I", guard.__file__, str(os.getpid()), *command]
        try:
            self._process = subprocess.Popen(
                guarded,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise StartError(f"{name} cannot be started: {error.strerror}", hint=f"try it: {command[0]}") from error
        self._reader = Thread(target=self._read, name=f"log of {name}", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def exit_status(self) -> int | None:
        """The exit status (negative: the signal that ended it), or None while it runs."""
        return self._process.poll()

    def send_signal(self, number: signal.Signals) -> None:
        """Send the child a signal; one that has ended gets none."""
        self._process.send_signal(number)

    def stop(self, grace_seconds: float) -> None:
        """Ask the child to end (SIGTERM); kill it after the grace time."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(grace_seconds)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._reader.join(timeout=2)
        self.log.close()

    def last_words(self) -> list[str]:
        """Return the last lines of the child's log, once it has ended all of them."""
        if self._process.poll() is not None:
            self._reader.join(timeout=2)
        return self.log.last_lines()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as pipe:
            while line := pipe.readline(_LINE_BYTES):
                self.log.write(line)
