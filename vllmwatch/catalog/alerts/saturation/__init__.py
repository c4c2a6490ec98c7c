"""KV caches and queues that are full."""

from types import ModuleType

from vllmwatch.catalog.alerts.saturation import (
    kv_cache_exhausted,
    kv_cache_exhaustion_soon,
    kv_cache_usage_high,
    queue_growing,
)

MODULES: tuple[ModuleType, ...] = (
    kv_cache_usage_high,
    kv_cache_exhausted,
    kv_cache_exhaustion_soon,
    queue_growing,
)
