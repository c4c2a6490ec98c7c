"""The parts of a scrape in one process, each measured by itself in every round.

Run as `python -m tests.bench.stages ROUNDS URL…`, in an environment with the stand-in NVML: prints, as JSON, the median
processor time of each part in seconds. What a whole scrape costs beyond their sum is threads and HTTP.
"""

import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from statistics import median
from typing import TypeVar
from urllib.parse import urlsplit

from vllmwatch.catalog import gpu as gpu_catalog
from vllmwatch.exporter.collector import Collection, naming_of
from vllmwatch.exporter.family import Families
from vllmwatch.exporter.gpu import add_gpus
from vllmwatch.exporter.options import ExporterOptions
from vllmwatch.exporter.page import ConfigState, PageWriter
from vllmwatch.exporter.vllm.series import Identity
from vllmwatch.exporter.vllm.translator import TranslatedPage, Translator
from vllmwatch.exporter.watch import Facts, TargetSample
from vllmwatch.sources.nvml.reader import NvmlReader
from vllmwatch.sources.target import Origin, Target
from vllmwatch.sources.vllm.fetch import Failure, Fetched, Fetcher, Limits
from vllmwatch.sources.xid import XidLedger

NODE = "bench"
_WARM_UP_ROUNDS = 5
_FETCH_SECONDS = 10.0

ResultT = TypeVar("ResultT")


class Stages:
    """A scrape, part after part, on one thread."""

    def __init__(self, urls: Sequence[str]) -> None:
        options = ExporterOptions(node=NODE)
        naming = naming_of(options)
        self._targets = [Target(url, f"{NODE}:{urlsplit(url).port}", NODE, Origin.STATIC) for url in urls]
        self._fetchers = [Fetcher(target, Limits()) for target in self._targets]
        self._translators = [
            Translator(naming, Identity(target.server, NODE), frozenset(), options.series_limit)
            for target in self._targets
        ]
        self._ledger = XidLedger()
        self._gpus = NvmlReader(ledger=self._ledger)
        self._families = Families(gpu_catalog.METRICS)
        self._writer = PageWriter(options, time.time())
        self._times: dict[str, list[float]] = defaultdict(list)

    def close(self) -> None:
        """Let NVML and the connections go."""
        self._gpus.close()
        for fetcher in self._fetchers:
            fetcher.close()

    def round(self) -> None:
        """Carry out one scrape."""
        snapshot = self._timed("read NVML", self._gpus.snapshot)
        xids = self._ledger.totals()

        def write_gpus() -> str:
            add_gpus(self._families, snapshot, xids, NODE)
            return self._families.take_text()

        fetched = self._timed("fetch", self._fetch)
        pages = self._timed("translate", lambda: self._translate(fetched))
        self._timed("write GPUs", write_gpus)
        samples = tuple(
            TargetSample(target, Facts("server", "0.32.0", "m", ("0",), 1.0), page, None, "", 0.01)
            for target, page in zip(self._targets, pages, strict=True)
        )
        config = ConfigState(True, 1.0)
        collection = Collection(samples, (), None, xids, 0.1, time.time())
        self._timed("merge and write vLLM", lambda: self._writer.write(collection, config))

    def medians(self) -> dict[str, float]:
        """Return the median time of each part so far, in seconds."""
        return {name: median(times[_WARM_UP_ROUNDS:]) for name, times in self._times.items()}

    def _fetch(self) -> list[Fetched | Failure]:
        return [fetcher.fetch(time.monotonic() + _FETCH_SECONDS) for fetcher in self._fetchers]

    def _translate(self, fetched: Sequence[Fetched | Failure]) -> list[TranslatedPage]:
        pages = []
        for translator, one in zip(self._translators, fetched, strict=True):
            assert isinstance(one, Fetched), one
            page = translator.translate(one)
            assert isinstance(page, TranslatedPage), page
            pages.append(page)
        return pages

    def _timed(self, name: str, work: Callable[[], ResultT]) -> ResultT:
        begun = time.thread_time()
        result = work()
        self._times[name].append(time.thread_time() - begun)
        return result


if __name__ == "__main__":
    stages = Stages(sys.argv[2:])
    for _ in range(int(sys.argv[1]) + _WARM_UP_ROUNDS):
        stages.round()
    print(json.dumps(stages.medians()))
    stages.close()
