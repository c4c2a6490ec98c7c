"""The GPUs over time: one look at a time, in a thread of its own, so that a driver that hangs holds up nothing else."""

import logging
import threading
from concurrent.futures import Future, wait
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import replace
from typing import Protocol

from vllmwatch.exporter.threads import DaemonPool
from vllmwatch.sources.nvml.library import DownReason
from vllmwatch.sources.nvml.snapshot import NvmlSnapshot
from vllmwatch.sources.xid import NO_XIDS, XidTotals

_log = logging.getLogger(__name__)


class GpuReader(Protocol):
    """Where GPUs are read."""

    def snapshot(self) -> NvmlSnapshot:
        """Look at all GPUs; called from one thread."""
        ...

    def close(self) -> None:
        """Let NVML go; called from the same thread."""
        ...


class XidCounter(Protocol):
    """Where XID events are counted."""

    def totals(self) -> XidTotals:
        """Return all events so far."""
        ...


class GpuWatch:
    """Reads the GPUs before a deadline.

    Those who ask while a look is under way share it. The first of them to wait for a driver that hangs waits until its
    deadline; after that nobody does, until the driver answers.
    """

    def __init__(self, reader: GpuReader, xids: XidCounter | None) -> None:
        self._reader = reader
        self._xids = xids
        self._thread = DaemonPool(1, "nvml")
        self._lock = threading.Lock()
        self._under_way: Future[NvmlSnapshot] | None = None
        self._late = False
        self._last: NvmlSnapshot | None = None

    def begin(self, head_start_seconds: float = 0.0) -> Future[NvmlSnapshot]:
        """Begin a look, or join the one under way, and wait a little for it.

        Hundreds of short NVML calls beside as many threads that fetch pages fight for the interpreter, at the cost of
        more processor time than they need themselves; one after the other they do not.
        """
        with self._lock:
            if self._under_way is None:
                self._under_way = self._thread.submit(self._look)
            future, late = self._under_way, self._late
        if head_start_seconds and not late:
            wait([future], timeout=head_start_seconds)
        return future

    def finish(self, look: Future[NvmlSnapshot], timeout_seconds: float) -> NvmlSnapshot:
        """Return the look that `begin` gave, or, when the driver does not answer in time, one that says so."""
        try:
            return look.result(timeout=0 if self._late else max(timeout_seconds, 0))
        except FutureTimeoutError:
            with self._lock:
                self._late = self._under_way is look
            return self._silent(DownReason.TIMEOUT)
        except Exception:  # noqa: BLE001  a fault of the GPU half costs the GPU half
            _log.exception("the GPUs could not be read")
            return self._silent(DownReason.UNKNOWN_ERROR)

    def xids(self) -> XidTotals:
        """Return all XID events so far."""
        return self._xids.totals() if self._xids is not None else NO_XIDS

    def close(self) -> None:
        """Let NVML go, without waiting for a driver that does not answer."""
        self._thread.submit(self._reader.close)
        self._thread.close()

    def _look(self) -> NvmlSnapshot:
        try:
            self._last = self._reader.snapshot()
            return self._last
        finally:
            with self._lock:
                self._under_way = None
                self._late = False

    def _silent(self, reason: DownReason) -> NvmlSnapshot:
        known = self._last
        if known is None:
            return NvmlSnapshot(False, reason, (), 0, None, None, 0.0)
        gpus = tuple(replace(gpu, up=False, facts=None, readings=None, mig_instances=()) for gpu in known.gpus)
        return replace(known, up=False, down_reason=reason, gpus=gpus)
