"""The processes on a GPU or MIG device, compute and graphics."""

import ctypes
from typing import Any, Final

from vllmwatch.sources.nvml.library import ALL_ONES_32, ALL_ONES_64, Device, Reading
from vllmwatch.sources.nvml.snapshot import GpuProcess

_ROOM: Final = 32
_MAX_ROOM: Final = 8192


class _ProcessInfo(ctypes.Structure):
    """nvmlProcessInfo_v2_t, which the v3 functions use too."""

    _fields_ = [
        ("pid", ctypes.c_uint),
        ("usedGpuMemory", ctypes.c_ulonglong),
        ("gpuInstanceId", ctypes.c_uint),
        ("computeInstanceId", ctypes.c_uint),
    ]


class _LegacyProcessInfo(ctypes.Structure):
    """The layout that the v3 functions had for a while around driver 535 (with a field for protected memory)."""

    _fields_ = [
        ("pid", ctypes.c_uint),
        ("usedGpuMemory", ctypes.c_ulonglong),
        ("gpuInstanceId", ctypes.c_uint),
        ("computeInstanceId", ctypes.c_uint),
        ("usedGpuCcProtectedMemory", ctypes.c_ulonglong),
    ]


class _List:
    """One list of processes, whose buffer grows when the driver has more."""

    def __init__(self, device: Device, kind: str) -> None:
        self._device = device
        self._name = f"nvmlDeviceGet{kind}RunningProcesses"
        self._version = 3 if device.library.has(f"{self._name}_v3") else 2
        self._make_room(_ROOM)

    def _layout(self) -> Any:
        library = self._device.library
        between = library.has("nvmlDeviceGetConfComputeMemSizeInfo")
        if self._version == 3 and between and not library.has("nvmlDeviceGetRunningProcessDetailList"):  # noqa: PLR2004
            return _LegacyProcessInfo
        return _ProcessInfo

    def _make_room(self, room: int) -> None:
        self._room = room
        self._count = ctypes.c_uint(room)
        self._entries = (self._layout() * room)()
        name = f"{self._name}_v{self._version}"
        self._reading: Reading = self._device.reading(name, ctypes.byref(self._count), self._entries)

    def read(self) -> list[Any] | None:
        """Return the entries, or None where the driver has no list; raise when the GPU is lost."""
        self._count.value = self._room
        if not self._reading.read():
            if self._reading.refused or self._count.value <= self._room or self._room >= _MAX_ROOM:
                return None
            self._make_room(min(2 * self._count.value, _MAX_ROOM))
            if not self._reading.read():
                return None
        return self._entries[: min(self._count.value, self._room)]  # type: ignore[no-any-return]


class Processes:
    """Reads the processes of one device."""

    def __init__(self, device: Device) -> None:
        self._compute = _List(device, "Compute")
        self._graphics = _List(device, "Graphics")

    def read(self) -> tuple[GpuProcess, ...] | None:
        """Return each process once, by pid and instance, or None where the driver has no list."""
        compute = self._compute.read()
        graphics = self._graphics.read()
        if compute is None and graphics is None:
            return None
        found: dict[tuple[int, int, int], GpuProcess] = {}
        for entries, is_compute in ((compute, True), (graphics, False)):
            for entry in entries or ():
                if entry.pid == ALL_ONES_32:
                    continue
                key = (entry.pid, entry.gpuInstanceId, entry.computeInstanceId)
                found[key] = _merged(found.get(key), entry, is_compute=is_compute)
        return tuple(found.values())


def _merged(known: GpuProcess | None, entry: Any, *, is_compute: bool) -> GpuProcess:
    memory = None if entry.usedGpuMemory == ALL_ONES_64 else int(entry.usedGpuMemory)
    return GpuProcess(
        pid=entry.pid,
        memory_bytes=known.memory_bytes if known is not None and known.memory_bytes is not None else memory,
        compute=is_compute or (known is not None and known.compute),
        graphics=not is_compute or (known is not None and known.graphics),
        gpu_instance=None if entry.gpuInstanceId == ALL_ONES_32 else entry.gpuInstanceId,
        compute_instance=None if entry.computeInstanceId == ALL_ONES_32 else entry.computeInstanceId,
    )
