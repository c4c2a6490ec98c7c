"""KV that moves between servers, or to tiers below the GPU."""

from types import ModuleType

from vllmwatch.catalog.alerts.transfer import kv_expired, kv_offload_failing, kv_transfer_failing

MODULES: tuple[ModuleType, ...] = (kv_transfer_failing, kv_expired, kv_offload_failing)
