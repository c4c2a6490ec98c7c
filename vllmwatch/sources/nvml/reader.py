"""The reader of NVML: one snapshot at a time, through drivers that come late, vanish and return."""

import logging
import time
from collections.abc import Callable
from typing import Final

from vllmwatch.sources.nvml.library import DownReason, NvmlDownError
from vllmwatch.sources.nvml.session import Session
from vllmwatch.sources.nvml.snapshot import GpuIdentity, GpuSnapshot, NvmlSnapshot
from vllmwatch.sources.xid import XidLedger

FACTS_INTERVAL_SECONDS: Final = 60.0
# While NVML is down, it is tried again after 1, 2, 4 … seconds.
_FIRST_RETRY_SECONDS: Final = 1.0
_LAST_RETRY_SECONDS: Final = 30.0
# A GPU that was reset or replaced is seen only after a new initialization; that is tried ever more rarely.
_FIRST_RENEWAL_SECONDS: Final = 60.0
_LAST_RENEWAL_SECONDS: Final = 900.0

_log = logging.getLogger(__name__)


class NvmlReader:
    """Reads all GPUs of this host. `snapshot` and `close` are called from one thread.

    Nothing that NVML does raises: what it cannot say is in the snapshot. `ledger`, where given, is told of XID events
    and of where each GPU sits. `monotonic` and `wall` are clocks in seconds.
    """

    def __init__(
        self,
        *,
        ledger: XidLedger | None = None,
        facts_interval_seconds: float = FACTS_INTERVAL_SECONDS,
        monotonic: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._ledger = ledger
        self._facts_interval_seconds = facts_interval_seconds
        self._monotonic = monotonic
        self._wall = wall
        self._session: Session | None = None
        self._down_reason: DownReason | None = None
        self._retry_at = 0.0
        self._retry_seconds = _FIRST_RETRY_SECONDS
        self._renew_at: float | None = None
        self._renewal_seconds = _FIRST_RENEWAL_SECONDS
        self._known: dict[str, GpuIdentity] = {}

    def snapshot(self) -> NvmlSnapshot:
        """Look at every GPU."""
        started = self._monotonic()
        try:
            session = self._current_session(started)
            present, unreadable = session.read(started, self._facts_interval_seconds)
        except NvmlDownError as error:
            self._go_down(error.reason, started)
            return self._down_snapshot(started)
        self._known |= {gpu.identity.uuid: gpu.identity for gpu in present}
        seen = {gpu.identity.uuid for gpu in present}
        gone = tuple(self._lost(uuid) for uuid in self._known if uuid not in seen)
        self._plan_renewal(started, something_is_lost=bool(gone or unreadable or any(not gpu.up for gpu in present)))
        return NvmlSnapshot(
            up=True,
            down_reason=None,
            gpus=present + gone,
            unidentified=max(0, unreadable - len(gone)),
            driver_version=session.driver_version,
            cuda_version=session.cuda_version,
            read_seconds=self._monotonic() - started,
        )

    def close(self) -> None:
        """Stop listening for events and give NVML back."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def _current_session(self, now: float) -> Session:
        session = self._session
        if session is not None and (session.count_changed() or (self._renew_at is not None and now >= self._renew_at)):
            self._renew_at = None
            self.close()
        if self._session is None:
            if self._down_reason is not None and now < self._retry_at:
                raise NvmlDownError(self._down_reason)
            self._session = Session(self._ledger, self._wall)
            if self._down_reason is not None:
                _log.info("NVML is up")
            self._down_reason = None
            self._retry_seconds = _FIRST_RETRY_SECONDS
        return self._session

    def _go_down(self, reason: DownReason, now: float) -> None:
        self.close()
        self._renew_at = None
        if self._down_reason is not None and now < self._retry_at:
            return
        if reason is not self._down_reason:
            _log.info("NVML is down: %s", reason)
        self._down_reason = reason
        self._retry_at = now + self._retry_seconds
        self._retry_seconds = min(2 * self._retry_seconds, _LAST_RETRY_SECONDS)

    def _down_snapshot(self, started: float) -> NvmlSnapshot:
        return NvmlSnapshot(
            up=False,
            down_reason=self._down_reason,
            gpus=tuple(self._lost(uuid) for uuid in self._known),
            unidentified=0,
            driver_version=None,
            cuda_version=None,
            read_seconds=self._monotonic() - started,
        )

    def _plan_renewal(self, now: float, *, something_is_lost: bool) -> None:
        if not something_is_lost:
            self._renew_at = None
            self._renewal_seconds = _FIRST_RENEWAL_SECONDS
        elif self._renew_at is None:
            self._renew_at = now + self._renewal_seconds
            self._renewal_seconds = min(2 * self._renewal_seconds, _LAST_RENEWAL_SECONDS)

    def _lost(self, uuid: str) -> GpuSnapshot:
        return GpuSnapshot(self._known[uuid], up=False)
