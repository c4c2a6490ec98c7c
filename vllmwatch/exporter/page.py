"""The whole page: GPUs first, then what is said of targets and exporter, then vLLM's families."""

import platform
import threading
from dataclasses import dataclass

from vllmwatch import __version__
from vllmwatch.catalog import exporter as exporter_catalog
from vllmwatch.catalog import gpu as gpu_catalog
from vllmwatch.catalog import joined as joined_catalog
from vllmwatch.catalog import logs as logs_catalog
from vllmwatch.exporter.collector import Collection
from vllmwatch.exporter.family import Families
from vllmwatch.exporter.gpu import add_gpus
from vllmwatch.exporter.join.families import add_join, add_kv_cache_sizes
from vllmwatch.exporter.log_families import add_logs
from vllmwatch.exporter.options import ExporterOptions
from vllmwatch.exporter.target_families import add_targets
from vllmwatch.exporter.vllm.merge import Merger
from vllmwatch.sources.own_process import own_usage

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
METRICS = (*gpu_catalog.METRICS, *joined_catalog.METRICS, *logs_catalog.METRICS, *exporter_catalog.METRICS)


@dataclass(frozen=True, slots=True)
class ConfigState:
    """Whether the configuration was last read well, and when the one in force was read (Unix time)."""

    successful: bool
    read_at_seconds: float


class PageWriter:
    """Writes page after page; keeps the types of vLLM's families from one to the next."""

    def __init__(self, options: ExporterOptions, started_at_seconds: float) -> None:
        self._options = options
        self._node = options.node
        self._started_at_seconds = started_at_seconds
        self._lock = threading.Lock()
        self._merger = Merger()
        self._families = Families(METRICS)

    def write(self, collection: Collection, config: ConfigState) -> bytes:
        """Return the page of a collection in text format 0.0.4; one page at a time."""
        with self._lock:
            return self._write(collection, config)

    def _write(self, collection: Collection, config: ConfigState) -> bytes:
        merged = self._merger.merge([sample.page for sample in collection.targets if sample.page is not None])
        lost = iter(merged.conflicts)
        conflicts = [next(lost) if sample.page is not None else 0 for sample in collection.targets]
        families = self._families
        families.begin_page()
        if collection.gpus is not None:
            add_gpus(families, collection.gpus, collection.xids, self._node)
            add_join(families, collection.joined, collection.gpus, self._node)
        add_targets(families, collection.targets, conflicts)
        add_kv_cache_sizes(families, collection.targets)
        add_logs(families, collection.logs, self._node)
        self._add_exporter(families, collection, config)
        # No text that is not Unicode comes this far; if one did, it would cost a letter and not the page.
        return families.take_text().encode("utf-8", "replace") + b"".join(merged.chunks)

    def _add_exporter(self, families: Families, collection: Collection, config: ConfigState) -> None:
        node = self._node
        usage = own_usage()
        families[exporter_catalog.DISCOVERY_PROBLEMS].add(len(collection.problems), node)
        families[exporter_catalog.COLLECT_DURATION].add(collection.duration_seconds, node)
        families[exporter_catalog.CONFIG_RELOAD_SUCCESSFUL].add(int(config.successful), node)
        families[exporter_catalog.CONFIG_RELOAD_SUCCESS_TIMESTAMP].add(config.read_at_seconds, node)
        families[exporter_catalog.PAGE_RECEIVERS].add(self._options.page_receivers, node)
        families[joined_catalog.PRICE_GPU_HOUR].add(self._options.price_per_gpu_hour, node)
        families[joined_catalog.PRICE_KILOWATT_HOUR].add(self._options.price_per_kilowatt_hour, node)
        families[exporter_catalog.EXPORTER_CPU].add(usage.cpu_seconds, node)
        families[exporter_catalog.EXPORTER_MEMORY].add(usage.resident_bytes, node)
        families[exporter_catalog.EXPORTER_START].add(self._started_at_seconds, node)
        families[exporter_catalog.BUILD_INFO].add(1, node, __version__, platform.python_version())
