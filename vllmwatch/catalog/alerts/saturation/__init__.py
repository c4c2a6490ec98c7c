"""KV caches and queues that are full."""

from types import ModuleType

from vllmwatch.catalog.alerts.saturation import kv_cache_usage_high

MODULES: tuple[ModuleType, ...] = (kv_cache_usage_high,)
