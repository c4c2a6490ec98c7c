"""The journal of a systemd unit followed, through journalctl, which runs as a child as long as it is needed."""

import json
import os
import subprocess
import time
from collections.abc import Callable, Sequence

from vllmwatch.sources.logs.follow import READ_BYTES, Read
from vllmwatch.sources.logs.lines import LineSplitter

_FIRST_PAUSE_SECONDS = 1.0
_LONGEST_PAUSE_SECONDS = 60.0
_STOP_SECONDS = 2.0
_BYTES = range(256)
_NOTHING = Read((), more=False)


class JournalFollower:
    """Follows the journal of a unit behind `cursor`, or from now on where there is none."""

    def __init__(
        self,
        unit: str,
        cursor: str = "",
        *,
        program: Sequence[str] = ("journalctl",),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.unit = unit
        self.cursor = cursor
        self.problem = ""
        self._program = tuple(program)
        self._clock = clock
        self._child: subprocess.Popen[bytes] | None = None
        self._splitter = LineSplitter()
        self._pause_seconds = _FIRST_PAUSE_SECONDS
        self._not_before = 0.0

    def read(self) -> Read:
        """Read on by at most 256 KiB; never waits. What keeps it from reading is then in `problem`."""
        if self._child is None and not self._start():
            return _NOTHING
        child = self._child
        assert child is not None
        assert child.stdout is not None
        try:
            data = os.read(child.stdout.fileno(), READ_BYTES)
        except BlockingIOError:
            return _NOTHING
        if not data:
            self._ended(child)
            return _NOTHING
        self._pause_seconds = _FIRST_PAUSE_SECONDS
        self.problem = ""
        lines: list[str] = []
        for text in self._splitter.split(data):
            lines.extend(self._lines_of(text))
        return Read(lines, more=True)

    def close(self) -> None:
        """End the child."""
        child, self._child = self._child, None
        if child is None:
            return
        child.terminate()
        try:
            child.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        for stream in (child.stdout, child.stderr):
            if stream is not None:
                stream.close()

    def _start(self) -> bool:
        if self._clock() < self._not_before:
            return False
        where = ("--after-cursor", self.cursor) if self.cursor else ("--lines", "0")
        command = [*self._program, "--follow", "--output", "json", "--unit", self.unit, *where]
        try:
            child = subprocess.Popen(  # noqa: S603  no shell reads it
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
            )
        except OSError as error:
            self.problem = f"{self._program[0]}: {(error.strerror or str(error)).lower()}"
            self._wait_longer()
            return False
        assert child.stdout is not None
        os.set_blocking(child.stdout.fileno(), False)
        self._child, self._splitter = child, LineSplitter()
        return True

    def _ended(self, child: subprocess.Popen[bytes]) -> None:
        words = (child.stderr.read() if child.stderr is not None else b"").decode("utf-8", "replace").strip()
        self.problem = words.splitlines()[-1][:200] if words else f"{self._program[0]} ended"
        if "seek to cursor" in words:  # the journal does not have the place any more
            self.cursor = ""
        self.close()
        self._wait_longer()

    def _wait_longer(self) -> None:
        self._not_before = self._clock() + self._pause_seconds
        self._pause_seconds = min(2 * self._pause_seconds, _LONGEST_PAUSE_SECONDS)

    def _lines_of(self, text: str) -> Sequence[str]:
        """Return the lines of an entry; journald gives a message that is no UTF-8 as a list of bytes."""
        try:
            entry = json.loads(text)
            message, cursor = entry["MESSAGE"], entry["__CURSOR"]
        except (ValueError, KeyError, TypeError, RecursionError):
            return ()
        self.cursor = str(cursor)
        if isinstance(message, list):
            message = bytes(byte for byte in message if byte in _BYTES).decode("utf-8", "replace")
        return str(message).split("\n") if message is not None else ()
