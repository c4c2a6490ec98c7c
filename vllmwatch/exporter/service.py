"""The exporter behind its routes: collections shared by those who ask at once, a last sample, and reloading."""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from vllmwatch.catalog.objectives import objectives
from vllmwatch.errors import VllmwatchError
from vllmwatch.exporter.changes import Changes
from vllmwatch.exporter.collector import Collection, Collector
from vllmwatch.exporter.discovery import Discovers
from vllmwatch.exporter.figures.reckoner import FleetFigures, Reckoner
from vllmwatch.exporter.figures.server import Prices
from vllmwatch.exporter.gpu_watch import GpuWatch
from vllmwatch.exporter.log_owner import log_owner
from vllmwatch.exporter.log_watch import LogWatch
from vllmwatch.exporter.options import ExporterOptions
from vllmwatch.exporter.page import ConfigState, PageWriter
from vllmwatch.exporter.threads import DaemonPool
from vllmwatch.sources.logs.origin import LogOrigin

_log = logging.getLogger(__name__)
_MOST_COLLECTIONS_AT_ONCE = 8
# Deadlines that are this close are the same deadline.
_SAME_DEADLINE_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Configured:
    """What a configuration makes of the exporter."""

    options: ExporterOptions
    discovery: Discovers
    logs: tuple[LogOrigin, ...] = ()


@dataclass(frozen=True, slots=True)
class Sampled:
    """A collection and the page that was written of it; `ended_at` is monotonic time in seconds."""

    collection: Collection
    page: bytes
    ended_at: float


@dataclass(frozen=True, slots=True)
class _UnderWay:
    task: asyncio.Task[Sampled]
    deadline: float


class Service:
    """Collects when asked and every `sample_interval_seconds`.

    Those who ask while a collection is under way share it, unless it may take longer than they have, or gave up on a
    target for which they have more time. `load` reads the configuration anew and raises VllmwatchError when it cannot
    be used; then the old one stays in force.
    """

    def __init__(
        self,
        load: Callable[[], Configured],
        gpus: GpuWatch | None,
        logs: LogWatch | None = None,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self._load = load
        self._gpus = gpus
        self._logs = logs
        self._wall_clock = wall_clock
        self._started_at_seconds = wall_clock()
        configured = load()
        self._collector = Collector(configured.options, configured.discovery, gpus, logs)
        self._follow(configured)
        self._writer = PageWriter(configured.options, self._started_at_seconds)
        self._config = ConfigState(True, wall_clock())
        self._threads = DaemonPool(_MOST_COLLECTIONS_AT_ONCE, "collect")
        self._under_way: _UnderWay | None = None
        self._last: Sampled | None = None
        self._changes = Changes()
        self._reckoner = Reckoner()
        _configure(self._reckoner, configured.options)

    @property
    def options(self) -> ExporterOptions:
        """The options in force."""
        return self._collector.options

    @property
    def last(self) -> Sampled | None:
        """The newest sample, or None before the first."""
        return self._last

    def figures(self) -> FleetFigures:
        """Return the figures of all samples within the last hour; takes a while, so not in the event loop's thread."""
        return self._reckoner.figures()

    async def sample(self, timeout_seconds: float) -> Sampled:
        """Collect now, or share the collection under way; takes at most about `timeout_seconds`."""
        deadline = time.monotonic() + timeout_seconds
        while True:
            shared = self._under_way
            if shared is None or shared.task.done() or shared.deadline > deadline + _SAME_DEADLINE_SECONDS:
                left = max(deadline - time.monotonic(), 0)
                self._under_way = _UnderWay(asyncio.create_task(self._collect(left)), deadline)
                return await asyncio.shield(self._under_way.task)
            sampled = await asyncio.shield(shared.task)
            if not sampled.collection.cut_short or deadline - time.monotonic() < _SAME_DEADLINE_SECONDS:
                return sampled

    async def keep_sampling(self) -> None:
        """Collect whenever nobody has asked for a sampling interval; runs until it is cancelled."""
        while True:
            interval = self.options.sample_interval_seconds
            age = time.monotonic() - self._last.ended_at if self._last is not None else interval
            if age >= interval:
                try:
                    await self.sample(self.options.scrape_timeout_seconds)
                except Exception:  # noqa: BLE001  sampling goes on, whatever one collection met
                    _log.exception("a collection failed")
                age = 0
            await asyncio.sleep(max(interval - age, interval / 10))

    def reload(self) -> str | None:
        """Read the configuration anew; returns what is wrong with it, or None when it is in force.

        Called, as `sample` is, from the thread of the event loop.
        """
        try:
            configured = self._load()
        except VllmwatchError as error:
            _log.error("the configuration was not reloaded, the old one stays: %s", error.message)
            self._config = ConfigState(False, self._config.read_at_seconds)
            return error.message
        before = self._collector
        self._collector = Collector(configured.options, configured.discovery, self._gpus, self._logs, before=before)
        self._follow(configured)
        self._writer = PageWriter(configured.options, self._started_at_seconds)
        self._config = ConfigState(True, self._wall_clock())
        _configure(self._reckoner, configured.options)
        before.retire()
        _log.info("the configuration was reloaded")
        return None

    def close(self) -> None:
        """End all collections and let the GPUs go, without waiting for any."""
        self._threads.close()
        self._collector.close()
        if self._gpus is not None:
            self._gpus.close()
        if self._logs is not None:
            self._logs.close()

    def _follow(self, configured: Configured) -> None:
        if self._logs is not None:
            self._logs.configure(configured.logs, log_owner(configured.discovery))

    async def _collect(self, timeout_seconds: float) -> Sampled:
        collector, writer, config = self._collector, self._writer, self._config

        def work() -> Sampled:
            try:
                collection = collector.collect(timeout_seconds)
            finally:
                collector.release()
            sampled = Sampled(collection, writer.write(collection, config), time.monotonic())
            self._observe(collection)
            return sampled

        collector.hold()
        sampled = await asyncio.wrap_future(self._threads.submit(work))
        if self._last is None or not sampled.collection.cut_short or self._is_old(self._last):
            self._last = sampled
            for line in self._changes.told(sampled.collection.targets):
                _log.info("%s", line)
        return sampled

    def _observe(self, collection: Collection) -> None:
        try:
            self._reckoner.observe(collection)
        except Exception:  # noqa: BLE001  a fault of the figures must not cost the page
            _log.exception("figures could not be made of a collection")

    def _is_old(self, sampled: Sampled) -> bool:
        return time.monotonic() - sampled.ended_at > self.options.sample_interval_seconds


def _configure(reckoner: Reckoner, options: ExporterOptions) -> None:
    prices = Prices(options.price_per_gpu_hour, options.price_per_kilowatt_hour)
    reckoner.configure(options.sample_interval_seconds, prices, objectives(options.thresholds))
