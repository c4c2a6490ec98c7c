"""XID events as NVML tells them, in a thread of their own."""

import ctypes
import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from vllmwatch.sources.nvml.library import Device, Library, Reading, pynvml
from vllmwatch.sources.xid import XidLedger, XidSource

# How long one wait may last, and so how long the end of a session may take.
_WAIT_MILLISECONDS = 500
_RETRY_SECONDS = 5.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WatchedGpu:
    """A GPU whose events are asked for."""

    uuid: str
    handle: Any


class XidEvents:
    """Waits for XID events of some GPUs and tells the ledger, from `start` to `close`.

    Registration is done within `start`, so that nothing that happens after it is missed.
    """

    def __init__(
        self, library: Library, gpus: Sequence[WatchedGpu], ledger: XidLedger, wall: Callable[[], float] = time.time
    ) -> None:
        self._library = library
        self._gpus = gpus
        self._uuid_of = {_address(gpu.handle): gpu.uuid for gpu in gpus}
        self._ledger = ledger
        self._wall = wall
        self._stop = threading.Event()
        self._set: Any = None
        self._thread = threading.Thread(target=self._run, name="nvml-events", daemon=True)

    def start(self) -> None:
        """Register and begin to wait."""
        self._register()
        self._thread.start()

    def close(self) -> None:
        """Stop waiting; returns when the thread has ended and the library is no longer in use by it."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        self._free()
        self._ledger.set_listening(XidSource.NVML, listening=False)

    def _register(self) -> None:
        made = pynvml.c_nvmlEventSet_t()
        if self._call("nvmlEventSetCreate", ctypes.byref(made)) != 0:
            self._ledger.set_listening(XidSource.NVML, listening=False)
            return
        self._set = made
        registered = [gpu for gpu in self._gpus if self._register_gpu(gpu)]
        self._ledger.set_listening(XidSource.NVML, listening=bool(registered))

    def _register_gpu(self, gpu: WatchedGpu) -> bool:
        kinds = ctypes.c_ulonglong(pynvml.nvmlEventTypeXidCriticalError)
        code = self._call("nvmlDeviceRegisterEvents", gpu.handle, kinds, self._set)
        if code != 0:
            _log.debug("no events of GPU %s: NVML error %d", gpu.uuid, code)
        return code == 0

    def _run(self) -> None:
        data: Any = pynvml.c_nvmlEventData_t()
        while not self._stop.is_set():
            if self._set is None:
                self._register()
            if self._set is None:
                self._stop.wait(_RETRY_SECONDS)
                continue
            code = self._call("nvmlEventSetWait_v2", self._set, ctypes.byref(data), ctypes.c_uint(_WAIT_MILLISECONDS))
            if code == 0:
                self._tell(data)
            elif code == pynvml.NVML_ERROR_GPU_IS_LOST:
                self._stop.wait(1.0)  # the other GPUs can still be heard
            elif code != pynvml.NVML_ERROR_TIMEOUT:
                _log.debug("nvmlEventSetWait_v2: NVML error %d", code)
                self._free()
                self._ledger.set_listening(XidSource.NVML, listening=False)
                self._stop.wait(_RETRY_SECONDS)

    def _tell(self, data: Any) -> None:
        if data.eventType != pynvml.nvmlEventTypeXidCriticalError:
            return
        uuid = self._uuid_of.get(_address(data.device))
        if uuid is None:
            uuid = Device(self._library, data.device, "a GPU with an event").text("nvmlDeviceGetUUID")
        if uuid is not None:
            self._ledger.record(uuid, int(data.eventData), self._wall(), XidSource.NVML)

    def _free(self) -> None:
        if self._set is not None:
            self._call("nvmlEventSetFree", self._set)
            self._set = None

    def _call(self, name: str, *arguments: Any) -> int:
        return Reading(self._library.function(name), name, *arguments).code()


def _address(handle: Any) -> int | None:
    return ctypes.cast(handle, ctypes.c_void_p).value
