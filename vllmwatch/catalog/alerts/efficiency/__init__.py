"""GPUs that cost more than they serve."""

from types import ModuleType

from vllmwatch.catalog.alerts.efficiency import gpu_held_idle

MODULES: tuple[ModuleType, ...] = (gpu_held_idle,)
