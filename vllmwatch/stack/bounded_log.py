"""A log file of bounded size that also remembers its last lines."""

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
        self._file = path.open("ab")

    def write(self, line: bytes) -> None:
        """Add one line; the file is put aside when it is full."""
        with self._lock:
            self._last.append(line.decode(errors="replace").rstrip())
            if self._file.tell() + len(line) > self._limit:
                self._file.close()
                self.path.replace(self.path.with_name(f"{self.path.name}.1"))
                self._file = self.path.open("ab")
            self._file.write(line)
            self._file.flush()

    def last_lines(self) -> list[str]:
        """Return the last lines that were written, oldest first."""
        with self._lock:
            return list(self._last)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._file.close()
