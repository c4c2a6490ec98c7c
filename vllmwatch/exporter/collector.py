"""One collection: all GPUs and all targets at once, each bounded by the same deadline."""

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from vllmwatch.catalog.vllm import METRICS, prefixes, router
from vllmwatch.exporter.discovery import Discovers
from vllmwatch.exporter.gpu_watch import GpuWatch
from vllmwatch.exporter.options import ExporterOptions
from vllmwatch.exporter.vllm.names import NameBook
from vllmwatch.exporter.vllm.resolve import Naming
from vllmwatch.exporter.vllm.series import Identity
from vllmwatch.exporter.vllm.translator import Translator
from vllmwatch.exporter.watch import Facts, TargetSample, Watch
from vllmwatch.exporter.watches import Watches
from vllmwatch.sources.nvml.snapshot import NvmlSnapshot
from vllmwatch.sources.target import Target
from vllmwatch.sources.vllm.fetch import Fetcher
from vllmwatch.sources.xid import NO_XIDS, XidTotals

MOST_FETCHES_AT_ONCE = 256
# A driver in health reads eight GPUs in less; one that takes longer goes on beside the fetches.
_HEAD_START_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Collection:
    """What one collection found; `gpus` is None where GPUs are not to be read."""

    targets: tuple[TargetSample, ...]
    problems: tuple[str, ...]
    gpus: NvmlSnapshot | None
    xids: XidTotals
    duration_seconds: float
    sampled_at_seconds: float
    """Unix time."""


class Collector:
    """Collects on demand, from one thread at a time. Times are monotonic seconds unless they say otherwise."""

    def __init__(
        self,
        options: ExporterOptions,
        discovery: Discovers,
        gpus: GpuWatch | None,
        *,
        facts: dict[str, Facts] | None = None,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self.options = options
        self._discovery = discovery
        self._gpus = gpus
        self._clock = clock
        self._wall_clock = wall_clock
        self._facts_before = facts or {}
        self._naming = naming_of(options)
        self._watches = Watches(self._make_watch, options.target_gone_seconds)
        self._pool = ThreadPoolExecutor(max_workers=MOST_FETCHES_AT_ONCE, thread_name_prefix="target")

    def collect(self, timeout_seconds: float) -> Collection:
        """Read GPUs and targets; what has not answered in time is down in this collection, and costs only itself."""
        started = self._clock()
        deadline = started + timeout_seconds
        if self._gpus is not None:
            self._gpus.begin(_HEAD_START_SECONDS)
        discovered = self._discovery.discover()
        watches = self._watches.update(discovered.targets, started)
        most = min(deadline, started + self.options.scrape_timeout_seconds)
        samples = self._sample_all(watches, most)
        return Collection(
            targets=(*samples, *self._watches.gone_samples()),
            problems=discovered.problems,
            gpus=self._gpus.finish(deadline - self._clock()) if self._gpus is not None else None,
            xids=self._gpus.xids() if self._gpus is not None else NO_XIDS,
            duration_seconds=self._clock() - started,
            sampled_at_seconds=self._wall_clock(),
        )

    def facts(self) -> dict[str, Facts]:
        """Return what is known of the targets, for the collector that takes this one's place."""
        return self._watches.facts()

    def close(self) -> None:
        """End all fetches and close all connections."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._watches.close()

    def _sample_all(self, watches: list[Watch], deadline: float) -> list[TargetSample]:
        futures: dict[Future[TargetSample], Watch] = {
            self._pool.submit(watch.sample, deadline): watch for watch in watches
        }
        wait(futures, timeout=max(deadline - self._clock(), 0))
        return [future.result() if future.done() else watch.abort() for future, watch in futures.items()]

    def _make_watch(self, target: Target, facts: Facts | None) -> Watch:
        translator = Translator(
            self._naming,
            Identity(target.server, target.node, target.labels),
            frozenset(self.options.drop_labels),
            self.options.series_limit,
        )
        return Watch(
            target,
            Fetcher(target, self.options.limits, self._clock),
            translator,
            facts=facts or self._facts_before.get(target.server),
            clock=self._clock,
            wall_clock=self._wall_clock,
        )


def naming_of(options: ExporterOptions) -> Naming:
    """Return how families are named under these options."""
    book = NameBook(METRICS, (*prefixes.KNOWN, *options.metric_prefixes), prefixes.CANONICAL)
    return Naming(book, router.PREFIX, router.MARKERS, prefixes.CANONICAL, options.keep_created)
