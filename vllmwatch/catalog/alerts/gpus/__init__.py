"""GPUs that are hot, held back, broken, lost, or narrower than they should be."""

from types import ModuleType

from vllmwatch.catalog.alerts.gpus import gpu_lost

MODULES: tuple[ModuleType, ...] = (gpu_lost,)
