"""Whether the process numbers that the driver gives mean the processes that we see."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from vllmwatch.sources.processes.table import created, has_ended

# The host's PID namespace: include/linux/proc_ns.h, PROC_PID_INIT_INO.
_HOST_NAMESPACE = "pid:[4026531836]"
# What a process that uses an NVIDIA GPU holds open: on a PC or server, on Tegra, and in WSL.
DEVICES = ("/dev/nvidia", "/dev/nvhost", "/dev/nvmap", "/dev/dxg")


@dataclass(frozen=True, slots=True)
class ResolvedPids:
    """What became of the driver's numbers.

    `here` are those of processes that we know by the same number, and when each was created (as in Process). `dead` are
    numbers of processes that no longer exist. All others cannot be seen from here.
    """

    here: Mapping[int, float]
    dead: frozenset[int]
    own_namespace: bool
    """Whether we are in a PID namespace other than the host's."""


class PidResolver:
    """Resolves the driver's numbers, which are those of the host's PID namespace, or of ours where it translates them.

    In the host's namespace a number is the process of that number. Elsewhere it may happen to be that of an unrelated
    process here, so numbers are believed only where every one of them is that of a process that holds a GPU's device.
    """

    def __init__(self, proc: Path = Path("/proc"), devices: tuple[str, ...] = DEVICES) -> None:
        self._proc = proc
        self._devices = devices

    def resolve(self, numbers: frozenset[int], known: Mapping[int, float]) -> ResolvedPids:
        """Resolve the numbers on all GPUs together.

        `known` are processes that may be taken for a GPU's users without a look: pid and time of creation.
        """
        if self._in_host_namespace():
            return self._resolve_on_host(numbers, known)
        return self._resolve_elsewhere(numbers)

    def _in_host_namespace(self) -> bool:
        try:
            return str((self._proc / "self" / "ns" / "pid").readlink()) == _HOST_NAMESPACE
        except OSError:
            return False

    def _resolve_on_host(self, numbers: frozenset[int], known: Mapping[int, float]) -> ResolvedPids:
        here, dead = {}, set()
        for number in numbers:
            created_at = created(number, self._proc)
            # A number that has gone to another process, which uses no GPU, is still that of the dead.
            foreign = created_at is not None and known.get(number) != created_at
            gone = created_at is None and (has_ended(number, self._proc) or not _exists(number))
            if gone or (foreign and self._holds_device(number) is False):
                dead.add(number)
            elif created_at is not None:
                here[number] = created_at
        return ResolvedPids(here, frozenset(dead), own_namespace=False)

    def _resolve_elsewhere(self, numbers: frozenset[int]) -> ResolvedPids:
        # We hold devices too, to read them, and are never on one.
        found = {
            number: created(number, self._proc)
            for number in numbers
            if number != os.getpid() and self._holds_device(number)
        }
        here = {number: created_at for number, created_at in found.items() if created_at is not None}
        return ResolvedPids(here if len(here) == len(numbers) else {}, frozenset(), own_namespace=True)

    def _holds_device(self, pid: int) -> bool | None:
        """Whether a process holds a GPU's device open, or None where that is not ours to see."""
        try:
            return any(self._leads_to_device(entry) for entry in (self._proc / str(pid) / "fd").iterdir())
        except OSError:
            return None

    def _leads_to_device(self, entry: Path) -> bool:
        try:
            return str(entry.readlink()).startswith(self._devices)
        except FileNotFoundError:
            return False


def _exists(pid: int) -> bool:
    """Whether there is a process of this number, which a hidden proc file system (hidepid) does not tell."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
