"""One collection: all GPUs and all targets at once, each bounded by the same deadline."""

import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import wait
from dataclasses import dataclass, field

from vllmwatch.catalog.vllm import METRICS, prefixes, router
from vllmwatch.exporter.discovery import Discovers
from vllmwatch.exporter.gpu_watch import GpuWatch
from vllmwatch.exporter.join.links import Joined
from vllmwatch.exporter.join.watch import JoinWatch, Remembered
from vllmwatch.exporter.log_tally import NO_LOGS, LogReading
from vllmwatch.exporter.log_watch import LogWatch
from vllmwatch.exporter.options import ExporterOptions
from vllmwatch.exporter.threads import DaemonPool
from vllmwatch.exporter.vllm.names import NameBook
from vllmwatch.exporter.vllm.resolve import Naming
from vllmwatch.exporter.vllm.series import Identity
from vllmwatch.exporter.vllm.translator import Translator
from vllmwatch.exporter.watch import Facts, TargetSample, Watch
from vllmwatch.exporter.watches import Gone, Watches
from vllmwatch.sources.nvml.snapshot import NvmlSnapshot
from vllmwatch.sources.target import Target
from vllmwatch.sources.vllm.fetch import Fetcher
from vllmwatch.sources.xid import NO_XIDS, XidTotals

MOST_FETCHES_AT_ONCE = 1024
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
    cut_short: bool = False
    """Whether a target might have answered had this collection waited longer."""
    joined: Joined = field(default_factory=Joined)
    """Which GPU carries which engine."""
    logs: LogReading = NO_LOGS
    """What the logs told of."""


class Collector:
    """Collects on demand, in as many threads at a time as ask. Times are monotonic seconds unless they say otherwise.

    A target's fetch under way is shared by all collections, so that no target is asked twice at a time. `before` is the
    collector whose place this one takes.
    """

    def __init__(
        self,
        options: ExporterOptions,
        discovery: Discovers,
        gpus: GpuWatch | None,
        logs: LogWatch | None = None,
        *,
        before: "Collector | None" = None,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self.options = options
        self._discovery = discovery
        self._gpus = gpus
        self._logs = logs
        self._clock = clock
        self._wall_clock = wall_clock
        self._naming = naming_of(options)
        handed_on = before.handed_on() if before is not None else None
        self._watches = Watches(self._make_watch, options.target_gone_seconds, handed_on)
        self._join = JoinWatch(options.servers, remembered=before.remembered() if before is not None else None)
        self._pool = DaemonPool(MOST_FETCHES_AT_ONCE, "target")
        self._lock = threading.Lock()
        self._holders = 0
        self._retired = False

    def hold(self) -> None:
        """Keep this collector open until as many `release` as `hold` were called."""
        with self._lock:
            self._holders += 1

    def release(self) -> None:
        """Undo one `hold`; the last of a collector that was retired closes it."""
        with self._lock:
            self._holders -= 1
            done = self._retired and self._holders == 0
        if done:
            self.close()

    def retire(self) -> None:
        """Close once nobody holds it."""
        self.hold()
        self._retired = True
        self.release()

    def collect(self, timeout_seconds: float) -> Collection:
        """Read GPUs and targets; what has not answered in time is down in this collection, and costs only itself."""
        started = self._clock()
        deadline = started + timeout_seconds
        look = self._gpus.begin(_HEAD_START_SECONDS) if self._gpus is not None else None
        with self._lock:
            discovered = self._discovery.discover()
            watches = self._watches.update(discovered.targets, started)
            gone = self._watches.gone_samples()
        samples, cut_short = self._sample_all(watches, deadline)
        gpus = (
            self._gpus.finish(look, deadline - self._clock()) if self._gpus is not None and look is not None else None
        )
        targets = (*samples, *gone)
        return Collection(
            targets=targets,
            problems=discovered.problems,
            gpus=gpus,
            xids=self._gpus.xids() if self._gpus is not None else NO_XIDS,
            duration_seconds=self._clock() - started,
            sampled_at_seconds=self._wall_clock(),
            cut_short=cut_short,
            joined=self._join.join(gpus, discovered.host, targets) if gpus is not None else Joined(),
            logs=self._logs.reading() if self._logs is not None else NO_LOGS,
        )

    def handed_on(self) -> dict[str, Gone]:
        """Return what is known of the targets, for the collector that takes this one's place."""
        with self._lock:
            return self._watches.handed_on(self._clock())

    def remembered(self) -> Mapping[str, Remembered]:
        """Return what each GPU carried when it was last seen, for the collector that takes this one's place."""
        return self._join.remembered()

    def close(self) -> None:
        """End all fetches and close all connections, without waiting for them."""
        self._pool.close()
        self._watches.close()

    def _sample_all(self, watches: list[Watch], deadline: float) -> tuple[list[TargetSample], bool]:
        """Return a sample of each target, and whether one might have answered had there been more time."""
        most = self._clock() + self.options.scrape_timeout_seconds
        # Those that answered last time go first, so that many that hang cannot hold up those that do not.
        under_way = {watch: watch.begin(most) for watch in sorted(watches, key=lambda watch: not watch.was_up)}
        wait(under_way.values(), timeout=max(min(deadline, most) - self._clock(), 0))
        samples = []
        cut_short = False
        for watch in watches:
            future = under_way[watch]
            if future.done():
                samples.append(future.result())
            else:
                sample, given_up = watch.overdue()
                samples.append(sample)
                cut_short = cut_short or not given_up
        return samples, cut_short

    def _make_watch(self, target: Target, facts: Facts | None) -> Watch:
        translator = Translator(
            self._naming,
            Identity(target.server, target.node, target.labels),
            frozenset(self.options.drop_labels),
            self.options.series_limit,
        )
        return Watch(
            target,
            lambda: Fetcher(target, self.options.limits, self._clock),
            translator,
            self._pool,
            facts=facts,
            clock=self._clock,
            wall_clock=self._wall_clock,
        )


def naming_of(options: ExporterOptions) -> Naming:
    """Return how families are named under these options."""
    book = NameBook(METRICS, (*prefixes.KNOWN, *options.metric_prefixes), prefixes.CANONICAL)
    return Naming(book, router.PREFIX, router.MARKERS, prefixes.CANONICAL, options.keep_created)
