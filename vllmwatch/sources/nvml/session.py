"""NVML from one initialization to the next."""

import logging
from collections.abc import Callable

from vllmwatch.sources.nvml.events import WatchedGpu, XidEvents
from vllmwatch.sources.nvml.gpu import GpuReader
from vllmwatch.sources.nvml.library import GpuLostError, Library, NvmlDownError
from vllmwatch.sources.nvml.snapshot import GpuSnapshot
from vllmwatch.sources.xid import XidLedger

_log = logging.getLogger(__name__)


class Session:
    """An initialized NVML with its GPUs and its events. Raises NvmlDownError where NVML cannot be used."""

    def __init__(self, ledger: XidLedger | None, wall: Callable[[], float]) -> None:
        self._library = Library()
        self._gpus: list[GpuReader] = []
        self._unreadable = 0
        self._events: XidEvents | None = None
        try:
            self._open(ledger, wall)
        except NvmlDownError:
            self._library.close()
            raise

    def _open(self, ledger: XidLedger | None, wall: Callable[[], float]) -> None:
        library = self._library
        self.driver_version = library.system_text("nvmlSystemGetDriverVersion")
        self.cuda_version = _cuda_version(library.system_number("nvmlSystemGetCudaDriverVersion_v2"))
        self._count = library.count()
        for index in range(self._count):
            try:
                self._gpus.append(GpuReader(library, index))
            except GpuLostError:
                _log.info("GPU %d does not answer", index)
                self._unreadable += 1
        if ledger is not None:
            self._listen(ledger, wall)

    def _listen(self, ledger: XidLedger, wall: Callable[[], float]) -> None:
        for gpu in self._gpus:
            if gpu.identity.pci_bus_id is not None:
                ledger.learn(gpu.identity.uuid, gpu.identity.pci_bus_id)
        watched = [WatchedGpu(gpu.identity.uuid, gpu.handle) for gpu in self._gpus]
        self._events = XidEvents(self._library, watched, ledger, wall)
        self._events.start()

    def count_changed(self) -> bool:
        """Say whether the driver counts more or fewer GPUs than when it was initialized."""
        return self._library.count() != self._count

    def read(self, now: float, facts_interval_seconds: float) -> tuple[tuple[GpuSnapshot, ...], int]:
        """Return the GPUs that said who they are, and how many did not."""
        return tuple(gpu.read(now, facts_interval_seconds) for gpu in self._gpus), self._unreadable

    def close(self) -> None:
        """Stop listening and give NVML back."""
        if self._events is not None:
            self._events.close()
        for gpu in self._gpus:
            gpu.close()
        self._library.close()


def _cuda_version(number: int | None) -> str | None:
    return None if number is None else f"{number // 1000}.{number % 1000 // 10}"
