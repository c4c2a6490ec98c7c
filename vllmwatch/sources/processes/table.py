"""The table of processes on this host, read cheaply again and again."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import psutil

# A process may put on its title late (a worker does once its process group stands), so an entry is read anew until it
# is this old; those of vLLM are always read anew, for a worker may wait much longer for its peers.
SETTLED_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Process:
    """One process: its command line, or its title where it has set one (then `arguments` is that title alone).

    `pid` and `parent_pid` are as this process sees them; `create_time_seconds` is since the epoch.
    """

    pid: int
    parent_pid: int
    create_time_seconds: float
    arguments: tuple[str, ...]


class ProcessTable:
    """Reads all processes; what cannot change any more is read once. Not for use by two threads at once."""

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._settled: dict[int, Process] = {}

    def read(self) -> tuple[Process, ...]:
        """Return all processes in the order of their pids; one that ends meanwhile is left out."""
        found = []
        for peer in psutil.process_iter():
            try:
                found.append(self._read_one(peer))
            except (psutil.Error, OSError):
                continue
        self._settled = {process.pid: process for process in found if self._is_settled(process)}
        return tuple(sorted(found, key=lambda process: process.pid))

    def _read_one(self, peer: psutil.Process) -> Process:
        if not peer.is_running():
            # Its pid has gone to another process, which psutil would show in the next round only.
            peer = psutil.Process(peer.pid)
        created = peer.create_time()
        known = self._settled.get(peer.pid)
        if known is not None and known.create_time_seconds == created:
            return known
        with peer.oneshot():
            parent, arguments = peer.ppid(), peer.cmdline()
        while arguments and not arguments[-1]:
            # The padding that a title shorter than the command line leaves.
            arguments.pop()
        return Process(peer.pid, parent, created, tuple(arguments))

    def _is_settled(self, process: Process) -> bool:
        old = self._clock() - process.create_time_seconds > SETTLED_SECONDS
        return old and not _may_be_vllm(process.arguments)


def _may_be_vllm(arguments: tuple[str, ...]) -> bool:
    """Tell whether a process is, or may yet become, a part of a vLLM server."""
    words = ("vllm", "multiprocessing", "::")
    return any(word in part for part in arguments for word in words)
