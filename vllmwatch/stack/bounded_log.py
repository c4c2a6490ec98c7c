"""A log file of bounded size that also remembers its last lines."""

import contextlib
from collections import deque
from pathlib import Path
from threading import Lock

_LIMIT_BYTES = 4 * 1024 * 1024
_REMEMBERED_LINES = 20


class BoundedLog:
    """Lines of one child process: a file, its predecessor (`.1`), and the last lines in memory.

    The two files together stay below about twice `limit_bytes`. Safe to use from two threads.
    """

    def __init__(self, path: Path, limit_bytes: int = _LIMIT_BYTES) -> None:
        self.path = path
        self._limit = limit_bytes
        self._last: deque[str] = deque(maxlen=_REMEMBERED_LINES)
        self._lock = Lock()
        self._file = path.open("ab", buffering=0)

    def write(self, line: bytes) -> None:
        """Add one line; the file is put aside when it is full.

        A disk that takes no more costs lines of the file, not the child whose pipe we read.
        """
        with self._lock:
            self._last.append(line.decode(errors="replace").rstrip())
            with contextlib.suppress(OSError):
                self._write(line)

    def _write(self, line: bytes) -> None:
        if self._file.tell() + len(line) > self._limit:
            self._file.close()
            self.path.replace(self.path.with_name(f"{self.path.name}.1"))
            self._file = self.path.open("ab", buffering=0)
        self._file.write(line)

    def last_lines(self) -> list[str]:
        """Return the last lines that were written, oldest first."""
        with self._lock:
            return list(self._last)

    def close(self) -> None:
        """Close the file."""
        with self._lock, contextlib.suppress(OSError):
            self._file.close()
