"""The table of processes on this host, read cheaply again and again."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil

# A process may put on its title late (a worker does once its process group stands), so an entry is read anew until it
# is this old; those of vLLM are always read anew, for a worker may wait much longer for its peers.
SETTLED_SECONDS = 120.0
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
# proc_pid_stat(5): starttime is field 22, the twentieth after the name, which may have blanks and brackets in it.
_START_FIELD = 19
_ENDED = frozenset("ZXx")


@dataclass(frozen=True, slots=True)
class Process:
    """One process: its command line, or its title where it has set one (then `arguments` is that title alone).

    `pid` and `parent_pid` are as this process sees them. `create_time_seconds` is since the start of the system, so
    that a step of the clock does not make another process of it.
    """

    pid: int
    parent_pid: int
    create_time_seconds: float
    arguments: tuple[str, ...]


def created(pid: int, proc: Path = Path("/proc")) -> float | None:
    """Return when a process was created, in seconds since the start of the system.

    None where no process is to be seen; one that has ended, and whose parent has not asked yet how, is none.
    """
    words = _stat(pid, proc)
    return int(words[_START_FIELD]) / _TICKS_PER_SECOND if words and words[0] not in _ENDED else None


def has_ended(pid: int, proc: Path = Path("/proc")) -> bool:
    """Return whether a process has ended, and its parent has not asked yet how."""
    words = _stat(pid, proc)
    return bool(words) and words[0] in _ENDED


def _stat(pid: int, proc: Path) -> list[str]:
    """Return what stands behind the name in the file stat of a process; nothing where that cannot be read."""
    try:
        words = (proc / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []
    return words if len(words) > _START_FIELD else []


def _seconds_since_start() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class ProcessTable:
    """Reads all processes; what cannot change any more is read once. Not for use by two threads at once.

    `clock` gives seconds since the start of the system.
    """

    def __init__(self, *, clock: Callable[[], float] = _seconds_since_start) -> None:
        self._clock = clock
        self._settled: dict[int, Process] = {}

    def read(self) -> tuple[Process, ...]:
        """Return all processes in the order of their pids; one that ends meanwhile is left out."""
        found = []
        for pid in psutil.pids():
            try:
                process = self._read_one(pid)
            except (psutil.Error, OSError):
                continue
            if process is not None:
                found.append(process)
        self._settled = {process.pid: process for process in found if self._is_settled(process)}
        return tuple(sorted(found, key=lambda process: process.pid))

    def _read_one(self, pid: int) -> Process | None:
        created_at = created(pid)
        known = self._settled.get(pid)
        if created_at is None or (known is not None and known.create_time_seconds == created_at):
            return known if created_at is not None else None
        peer = psutil.Process(pid)
        with peer.oneshot():
            parent, arguments = peer.ppid(), peer.cmdline()
        while arguments and not arguments[-1]:
            # The padding that a title shorter than the command line leaves.
            arguments.pop()
        return Process(pid, parent, created_at, tuple(arguments))

    def _is_settled(self, process: Process) -> bool:
        old = self._clock() - process.create_time_seconds > SETTLED_SECONDS
        return old and not _may_be_vllm(process.arguments)


def _may_be_vllm(arguments: tuple[str, ...]) -> bool:
    """Tell whether a process is, or may yet become, a part of a vLLM server."""
    words = ("vllm", "multiprocessing", "::")
    return any(word in part for part in arguments for word in words)
