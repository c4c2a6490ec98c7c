"""What the exporter saw within the last hour, as far as figures need it."""

from array import array
from bisect import bisect_right
from collections import deque
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from vllmwatch.catalog.objectives import OBJECTIVES, Objective
from vllmwatch.exporter.collector import Collection
from vllmwatch.exporter.figures.layout import EMPTY, Key, Layout, lay_out
from vllmwatch.exporter.figures.window import Window
from vllmwatch.exporter.vllm.plan import PagePlan
from vllmwatch.exporter.watch import TargetSample
from vllmwatch.sources.nvml.snapshot import NvmlSnapshot

KEPT_SECONDS = 3600.0
SHORT_SECONDS = 900.0
# A little more than the longest window, so that its begin is among what is kept.
_MARGIN_SECONDS = 60.0
# Moments may be so much nearer than the interval asked for: a scraper's are not even.
_SOON = 0.9
# No counter or gauge means more, and sums and products of what is less are finite.
_MOST_VALUE = 1e100
# As many as a page may have; pages whose series change all the time would fill the memory with names.
_MOST_NAMES = 50_000
_DOWN = array("d", (0.0,))

KeyT = TypeVar("KeyT", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Moment(Generic[KeyT]):
    """The values of many series at one time (Unix time in seconds); `places` says where each is among `values`."""

    at: float
    places: Mapping[KeyT, int]
    values: "array[float]"

    def value(self, key: KeyT) -> float | None:
        """Return the value of a series at this moment, None where it was absent, not a number, or beyond all sense."""
        place = self.places.get(key)
        value = None if place is None else self.values[place]
        return value if value is not None and abs(value) <= _MOST_VALUE else None


class Moments(Generic[KeyT]):
    """Moments of the last `kept_seconds`, in order; fewer where all their series together have too many names."""

    def __init__(self, kept_seconds: float = KEPT_SECONDS) -> None:
        self._moments: deque[Moment[KeyT]] = deque()
        self._kept_seconds = kept_seconds + _MARGIN_SECONDS
        self._names = 0

    def add(self, moment: Moment[KeyT]) -> None:
        """Add the newest moment, and forget those that no window reaches."""
        if self._moments and self._moments[-1].places == moment.places:
            # Moments differ in their values and seldom in their series, which one mapping tells for all of them.
            moment = Moment(moment.at, self._moments[-1].places, moment.values)
        else:
            self._names += len(moment.places)
        self._moments.append(moment)
        while len(self._moments) > 1 and self._is_too_much(self._moments[0], moment.at):
            first = self._moments.popleft()
            if self._moments[0].places is not first.places:
                self._names -= len(first.places)

    def _is_too_much(self, oldest: Moment[KeyT], now: float) -> bool:
        return oldest.at < now - self._kept_seconds or self._names > _MOST_NAMES

    def window(self, key: KeyT, seconds: float, end: float) -> Window:
        """Return the samples of a series later than `end - seconds` and no later than `end`."""
        times: list[float] = []
        values: list[float] = []
        for moment in reversed(self._moments):
            if moment.at <= end - seconds:
                break
            value = moment.value(key) if moment.at <= end else None
            if value is not None:
                times.append(moment.at)
                values.append(value)
        return Window(times[::-1], values[::-1], end, seconds)

    def at(self, end: float) -> Moment[KeyT] | None:
        """Return the last moment no later than `end`."""
        times = [moment.at for moment in self._moments]
        place = bisect_right(times, end)
        return self._moments[place - 1] if place else None

    def __bool__(self) -> bool:
        return bool(self._moments)


class TargetHistory:
    """What one target showed: all that figures need within a quarter of an hour, and some within the hour."""

    def __init__(self) -> None:
        self.layout: Layout = EMPTY
        self._all: Moments[Key] = Moments(SHORT_SECONDS)
        self._long: Moments[Key] = Moments()
        self._plan: PagePlan | None = None
        self._objectives: Sequence[Objective] = ()
        self._seen_at = 0.0

    def observe(self, sample: TargetSample, at: float, objectives: Sequence[Objective]) -> None:
        """Add what a sample says; latencies are counted at the objectives."""
        page = sample.page if sample.up else None
        if page is None:
            down = Moment(at, EMPTY.places, _DOWN)
            self._all.add(down)
            self._long.add(down)
            if at - self._seen_at > SHORT_SECONDS:
                # No window reaches what the page had; many targets that are gone would hold much of it.
                self._plan, self.layout = None, EMPTY
            return
        self._seen_at = at
        if objectives != self._objectives:
            # Counts from before beside buckets from now on would make requests slow that were not.
            self._plan, self._objectives, self._long = None, objectives, Moments()
        if page.plan is not self._plan:
            self._plan, self.layout = page.plan, lay_out(page.plan, objectives)
        values = array("d", map(float, self.layout.pick(page.values)))
        for place, shown in self.layout.again:
            values[shown] = max(values[shown], values[place])
        del values[len(self.layout.places) - 1 :]
        values.append(1.0)
        self._all.add(Moment(at, self.layout.places, values))
        few = array("d", [values[place] for place in self.layout.long_taken])
        self._long.add(Moment(at, self.layout.long_places, few))

    def window(self, key: Key, seconds: float, end: float) -> Window:
        """Return a window of a series; one of more than a quarter of an hour holds samples of some series alone."""
        moments = self._all if seconds <= SHORT_SECONDS else self._long
        return moments.window(key, seconds, end)

    def value(self, key: Key, end: float, ago_seconds: float = 0.0) -> float | None:
        """Return the value of a series at a time before `end`."""
        moments = self._all if ago_seconds <= SHORT_SECONDS else self._long
        moment = moments.at(end - ago_seconds)
        return None if moment is None else moment.value(key)


GpuKey = tuple[str, str]
"""A reading by name, and the UUID of the GPU."""

_GPU_READINGS = ("energy_joules", "power_watts", "temperature_celsius", "pcie_link_width")
SM_CLOCK = "sm_clock_hertz"


class History:
    """What targets and GPUs showed within the last hour, a moment every `interval_seconds` at most.

    One thread at a time.
    """

    def __init__(self) -> None:
        self.interval_seconds = 0.0
        self.objectives: Sequence[Objective] = OBJECTIVES
        self.targets: dict[str, TargetHistory] = {}
        self.gpus: Moments[GpuKey] = Moments(SHORT_SECONDS)
        self.servers: dict[str, Moments[str]] = {}
        """Figures that are averaged over moments in their turn, by the name of the server."""
        self.at: float | None = None

    def observe(self, collection: Collection) -> bool:
        """Add a moment, unless the last is too near; returns whether it was added."""
        at, least_seconds = collection.sampled_at_seconds, self.interval_seconds * _SOON
        if self.at is not None and at <= self.at - least_seconds:
            # The clock was set back.
            self.targets, self.gpus, self.servers, self.at = {}, Moments(SHORT_SECONDS), {}, None
        if self.at is not None and at < self.at + least_seconds:
            return False
        self.at = at
        before, self.targets = self.targets, {}
        for sample in collection.targets:
            server = sample.target.server
            self.targets[server] = before.get(server) or TargetHistory()
            self.targets[server].observe(sample, at, self.objectives)
        self.servers = {server: self.servers.get(server) or Moments() for server in self.targets}
        if collection.gpus is not None:
            self.gpus.add(_gpu_moment(collection.gpus, at))
        return True

    def add_figures(self, server: str, figures: Mapping[str, float]) -> None:
        """Add the figures of a server at the newest moment."""
        if self.at is not None:
            places = {name: place for place, name in enumerate(figures)}
            self.servers[server].add(Moment(self.at, places, array("d", figures.values())))


def _gpu_moment(snapshot: NvmlSnapshot, at: float) -> Moment[GpuKey]:
    found: dict[GpuKey, float] = {}
    for gpu in snapshot.gpus:
        if gpu.readings is None:
            continue
        readings = {name: getattr(gpu.readings, name) for name in _GPU_READINGS}
        readings[SM_CLOCK] = gpu.readings.clock_hertz.get("sm")
        found |= {(name, gpu.identity.uuid): value for name, value in readings.items() if value is not None}
    return Moment(at, {key: place for place, key in enumerate(found)}, array("d", found.values()))
