"""What the exporter is told: plain values, whoever read them from where."""

from dataclasses import dataclass

from vllmwatch.catalog.thresholds import DEFAULTS
from vllmwatch.catalog.vllm.prefixes import CHURNING_LABELS
from vllmwatch.sources.target import ServerGpus
from vllmwatch.sources.vllm.fetch import Limits
from vllmwatch.spec.threshold import Thresholds


@dataclass(frozen=True, slots=True)
class ExporterOptions:
    """The exporter's settings; their meaning stands in catalog/settings.py under the same names."""

    node: str
    scrape_timeout_seconds: float = 10.0
    scrape_timeout_offset_seconds: float = 0.5
    body_limit_bytes: int = 32 << 20
    series_limit: int = 50_000
    redirect_limit: int = 3
    keep_created: bool = False
    metric_prefixes: tuple[str, ...] = ()
    drop_labels: tuple[str, ...] = CHURNING_LABELS
    target_gone_seconds: float = 3600.0
    sample_interval_seconds: float = 15.0
    reload_over_http: bool = False
    servers: tuple[ServerGpus, ...] = ()
    price_per_gpu_hour: float | None = None
    price_per_kilowatt_hour: float | None = None
    page_receivers: int = 0
    thresholds: Thresholds = DEFAULTS

    @property
    def limits(self) -> Limits:
        """What one fetch may cost."""
        return Limits(self.body_limit_bytes, self.redirect_limit)
