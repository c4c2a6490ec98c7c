"""The exporter behind its routes: collections shared by those who ask at once, a last sample, and reloading."""

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from vllmwatch.errors import VllmwatchError
from vllmwatch.exporter.collector import Collection, Collector
from vllmwatch.exporter.discovery import Discovers
from vllmwatch.exporter.gpu_watch import GpuWatch
from vllmwatch.exporter.options import ExporterOptions
from vllmwatch.exporter.page import ConfigState, PageWriter

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Setup:
    """What a configuration makes of the exporter."""

    options: ExporterOptions
    discovery: Discovers


@dataclass(frozen=True, slots=True)
class Sampled:
    """A collection and the page that was written of it."""

    collection: Collection
    page: bytes


class Service:
    """Collects when asked and every `sample_interval_seconds`.

    Those who ask while a collection is under way share it. `load` reads the configuration anew and raises
    VllmwatchError when it cannot be used; then the old one stays in force.
    """

    def __init__(
        self, load: Callable[[], Setup], gpus: GpuWatch | None, wall_clock: Callable[[], float] = time.time
    ) -> None:
        self._load = load
        self._gpus = gpus
        self._wall_clock = wall_clock
        self._started_at_seconds = wall_clock()
        setup = load()
        self._collector = Collector(setup.options, setup.discovery, gpus)
        self._writer = PageWriter(setup.options.node, self._started_at_seconds)
        self._config = ConfigState(True, wall_clock())
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="collect")
        self._under_way: asyncio.Task[Sampled] | None = None
        self._last: Sampled | None = None

    @property
    def options(self) -> ExporterOptions:
        """The options in force."""
        return self._collector.options

    @property
    def last(self) -> Sampled | None:
        """The newest sample, or None before the first."""
        return self._last

    async def sample(self, timeout_seconds: float) -> Sampled:
        """Collect now, or share the collection under way."""
        if self._under_way is None or self._under_way.done():
            self._under_way = asyncio.create_task(self._collect(timeout_seconds))
        return await asyncio.shield(self._under_way)

    async def keep_sampling(self) -> None:
        """Collect whenever nobody has asked for a sampling interval; runs until it is cancelled."""
        while True:
            interval = self.options.sample_interval_seconds
            last = self._last
            age = self._wall_clock() - last.collection.sampled_at_seconds if last is not None else interval
            if age >= interval:
                try:
                    await self.sample(self.options.scrape_timeout_seconds)
                except Exception:  # noqa: BLE001  sampling goes on, whatever one collection met
                    _log.exception("a collection failed")
                age = 0
            await asyncio.sleep(max(interval - age, interval / 10))

    def reload(self) -> str | None:
        """Read the configuration anew; returns what is wrong with it, or None when it is in force."""
        try:
            setup = self._load()
        except VllmwatchError as error:
            _log.error("the configuration was not reloaded, the old one stays: %s", error.message)
            self._config = ConfigState(False, self._config.read_at_seconds)
            return error.message
        before = self._collector
        self._collector = Collector(setup.options, setup.discovery, self._gpus, facts=before.facts())
        self._writer = PageWriter(setup.options.node, self._started_at_seconds)
        self._config = ConfigState(True, self._wall_clock())
        self._thread.submit(before.close)
        _log.info("the configuration was reloaded")
        return None

    def close(self) -> None:
        """End all collections and let the GPUs go."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        self._collector.close()
        if self._gpus is not None:
            self._gpus.close()

    async def _collect(self, timeout_seconds: float) -> Sampled:
        collector, writer, config = self._collector, self._writer, self._config
        loop = asyncio.get_running_loop()

        def work() -> Sampled:
            collection = collector.collect(timeout_seconds)
            return Sampled(collection, writer.write(collection, config))

        sampled = await loop.run_in_executor(self._thread, work)
        self._last = sampled
        return sampled
