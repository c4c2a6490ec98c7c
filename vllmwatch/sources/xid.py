"""The ledger of XID events: how often each code was raised by each GPU, and when last.

The same event may be told by NVML, by a coded line of the kernel log, and by a line of it without a code. Two tellings
by different sources within five seconds are one event; two tellings by the same source are two events. In a burst, each
telling of one source is matched with one of the other, the oldest first.
"""

import re
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from types import MappingProxyType

SAME_EVENT_SECONDS = 5.0
# A GPU that is off the bus says so again at each attempt to open it; within an hour that is no news.
FALLEN_OFF_BUS_SECONDS = 3600.0
FALLEN_OFF_BUS = 79

MAX_SERIES = 4096
MAX_PLACES = 1024
# How many events of one series wait for their other tellers: as many as a burst may have before the second is heard.
MAX_RECENT = 1024
_PCI = re.compile(r"(?:PCI:)?([0-9a-f]{4,8}):([0-9a-f]{2}):([0-9a-f]{2})(?:\.[0-7])?", re.IGNORECASE)


class XidSource(StrEnum):
    """Who told of an event."""

    NVML = "nvml"
    KERNEL_LOG = "kernel_log"
    # The kernel log says that the GPU fell off the bus, without a code: counted as 79 unless a 79 is there already.
    KERNEL_LOG_WITHOUT_CODE = "kernel_log_without_code"


@dataclass(frozen=True, slots=True)
class XidTotal:
    """The events of one code on one GPU: how many, and the time of the last in seconds since the epoch."""

    count: int
    last_timestamp_seconds: float


@dataclass(frozen=True, slots=True)
class XidTotals:
    """All events so far: by GPU (UUID, then code), and by PCI address where no GPU of that address was ever seen.

    `listening` says of each source whether it can be heard now; a source that was never set up is not in it.
    """

    by_uuid: Mapping[str, Mapping[int, XidTotal]]
    unplaced: Mapping[str, Mapping[int, XidTotal]]
    listening: Mapping[XidSource, bool]


NO_XIDS = XidTotals(MappingProxyType({}), MappingProxyType({}), MappingProxyType({}))


@cache
def _joined(sources: frozenset[XidSource], source: XidSource) -> frozenset[XidSource]:
    """Return one of the few sets that there are, made once: thousands of events may hold them."""
    return sources | {source}


@dataclass(slots=True)
class _Event:
    seconds: float
    sources: frozenset[XidSource]


@dataclass(slots=True)
class _Series:
    count: int = 0
    last: float = 0.0
    recent: deque[_Event] = field(default_factory=lambda: deque(maxlen=MAX_RECENT))

    def add(self, seconds: float, source: XidSource) -> None:
        window = SAME_EVENT_SECONDS
        if source is XidSource.KERNEL_LOG_WITHOUT_CODE:
            window = FALLEN_OFF_BUS_SECONDS
        for event in self.recent:
            near = abs(event.seconds - seconds) <= window
            if near and (source not in event.sources or source is XidSource.KERNEL_LOG_WITHOUT_CODE):
                event.sources = _joined(event.sources, source)
                return
        self.recent.append(_Event(seconds, _joined(frozenset(), source)))
        self.count += 1
        self.last = max(self.last, seconds)

    def absorb(self, other: "_Series") -> None:
        """Take over another series of the same GPU and code; events that both were told of are one."""
        self.count += other.count - len(other.recent)
        for event in other.recent:
            first, *others = event.sources
            self.add(event.seconds, first)
            for source in others:
                self.add(event.seconds, source)
        self.last = max(self.last, other.last)


def normal_pci_address(text: str) -> str | None:
    """Return a PCI address as domain:bus:device.0 with an eight-digit domain, or None when it is not one.

    A GPU is always function 0, and the kernel log often leaves the function out.
    """
    match = _PCI.fullmatch(text.strip())
    if match is None:
        return None
    domain, bus, device = (int(part, 16) for part in match.groups())
    return f"{domain:08x}:{bus:02x}:{device:02x}.0"


class XidLedger:
    """Counts events from several threads; its size is bounded by `MAX_SERIES` pairs of GPU and code."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._uuid_at: dict[str, str] = {}
        self._series: dict[tuple[str, int], _Series] = {}
        self._listening: dict[XidSource, bool] = {}

    def learn(self, uuid: str, pci_bus_id: str) -> None:
        """Note that the GPU `uuid` sits at a PCI address; what the address alone had so far is then the GPU's."""
        address = normal_pci_address(pci_bus_id)
        if address is None:
            return
        with self._lock:
            if self._uuid_at.get(address) == uuid or len(self._uuid_at) >= MAX_PLACES:
                return
            self._uuid_at[address] = uuid
            for place, xid in [key for key in self._series if key[0] == address]:
                moved = self._series.pop((place, xid))
                self._series.setdefault((uuid, xid), _Series()).absorb(moved)

    def record(self, place: str, xid: int, seconds: float, source: XidSource) -> None:
        """Count one event; `place` is a GPU's UUID or a PCI address, `seconds` the time since the epoch."""
        with self._lock:
            address = normal_pci_address(place)
            if address is not None:
                place = self._uuid_at.get(address, address)
            series = self._series.get((place, xid))
            if series is None:
                if len(self._series) >= MAX_SERIES:
                    return
                series = self._series[place, xid] = _Series()
            series.add(seconds, source)

    def set_listening(self, source: XidSource, *, listening: bool) -> None:
        """Say whether a source can be heard."""
        with self._lock:
            self._listening[source] = listening

    def totals(self) -> XidTotals:
        """Return what was counted so far."""
        by_uuid: dict[str, dict[int, XidTotal]] = {}
        unplaced: dict[str, dict[int, XidTotal]] = {}
        with self._lock:
            for (place, xid), series in self._series.items():
                side = unplaced if normal_pci_address(place) else by_uuid
                side.setdefault(place, {})[xid] = XidTotal(series.count, series.last)
            return XidTotals(by_uuid, unplaced, dict(self._listening))
