"""The memory of a GPU or MIG device."""

import ctypes
from typing import Final

from vllmwatch.sources.nvml import plausible
from vllmwatch.sources.nvml.library import Device, pynvml
from vllmwatch.sources.nvml.snapshot import Memory

# nvmlMemory_v2_t as words of 64 bits (the version and its padding are the first); nvmlMemory_t; nvmlBAR1Memory_t.
_SECOND_WORDS: Final = 5
_FIRST_WORDS: Final = 3


class MemoryReading:
    """Reads memory by version 2 of the call, which tells what the driver keeps for itself, else by version 1."""

    def __init__(self, device: Device) -> None:
        self._second = (ctypes.c_ulonglong * _SECOND_WORDS)(pynvml.nvmlMemory_v2)
        self._read_second = device.reading("nvmlDeviceGetMemoryInfo_v2", self._second)
        self._first = (ctypes.c_ulonglong * _FIRST_WORDS)()
        self._read_first = device.reading("nvmlDeviceGetMemoryInfo", self._first)

    def read(self) -> Memory | None:
        """Return the memory in bytes, or None where the GPU has none of its own or the figures contradict."""
        reserved: int | None = None
        if self._read_second.read():
            _, total, reserved, free, used = self._second
        elif self._read_second.refused and self._read_first.read():
            total, free, used = self._first
        else:
            return None
        if not total or plausible.size_bytes(total) is None or max(used, free, reserved or 0) > total:
            return None
        return Memory(total, used, free, reserved)


class Bar1Reading:
    """Reads BAR1, the window through which the host and other cards reach the memory."""

    def __init__(self, device: Device) -> None:
        self._words = (ctypes.c_ulonglong * _FIRST_WORDS)()
        self._reading = device.reading("nvmlDeviceGetBAR1MemoryInfo", self._words)

    def read(self) -> tuple[int, int] | tuple[None, None]:
        """Return bytes used and in total, or two None."""
        if not self._reading.read():
            return None, None
        total, _, used = self._words
        return (used, total) if used <= total and plausible.size_bytes(total) is not None else (None, None)
