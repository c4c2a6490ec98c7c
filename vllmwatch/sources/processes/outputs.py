"""Which processes have a file as their standard output or error."""

from collections.abc import Iterable
from pathlib import Path

_OUTPUTS = (1, 2)


def writers_of(identity: tuple[int, int], pids: Iterable[int]) -> frozenset[int]:
    """Return those of some processes whose output goes to the file with this device and inode."""
    return frozenset(pid for pid in pids if any(_identity(pid, output) == identity for output in _OUTPUTS))


def _identity(pid: int, output: int) -> tuple[int, int] | None:
    try:
        found = Path(f"/proc/{pid}/fd/{output}").stat()
    except OSError:  # it ended, or is not ours to see
        return None
    return found.st_dev, found.st_ino
