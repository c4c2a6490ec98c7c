"""GPUs that are hot, held back, broken, lost, or narrower than they should be."""

from types import ModuleType

from vllmwatch.catalog.alerts.gpus import (
    gpu_drain_needed,
    gpu_lost,
    gpu_memory_temperature_high,
    gpu_near_slowdown,
    gpu_power_brake,
    gpu_recovery_needed,
    gpu_temperature_high,
    gpu_thermal_throttle,
    gpu_xid_application,
    gpu_xid_critical,
)

MODULES: tuple[ModuleType, ...] = (
    gpu_lost,
    gpu_xid_critical,
    gpu_xid_application,
    gpu_recovery_needed,
    gpu_drain_needed,
    gpu_near_slowdown,
    gpu_temperature_high,
    gpu_memory_temperature_high,
    gpu_thermal_throttle,
    gpu_power_brake,
)
