"""Caches and speculation that save less than they did the day before."""

from types import ModuleType

from vllmwatch.catalog.alerts.caches import prefix_cache_hits_dropped, speculation_acceptance_dropped

MODULES: tuple[ModuleType, ...] = (prefix_cache_hits_dropped, speculation_acceptance_dropped)
