"""GPUs that are hot, held back, broken, lost, or narrower than they should be."""

from types import ModuleType

from vllmwatch.catalog.alerts.gpus import (
    gpu_count_low,
    gpu_drain_needed,
    gpu_ecc_uncorrected,
    gpu_lost,
    gpu_memory_held_by_dead,
    gpu_memory_temperature_high,
    gpu_near_slowdown,
    gpu_nvlink_down,
    gpu_nvlink_errors,
    gpu_pages_retired,
    gpu_pcie_narrow,
    gpu_power_brake,
    gpu_recovery_needed,
    gpu_row_remap_failed,
    gpu_straggler,
    gpu_temperature_high,
    gpu_thermal_throttle,
    gpu_xid_application,
    gpu_xid_critical,
)

MODULES: tuple[ModuleType, ...] = (
    gpu_lost,
    gpu_count_low,
    gpu_xid_critical,
    gpu_xid_application,
    gpu_recovery_needed,
    gpu_drain_needed,
    gpu_ecc_uncorrected,
    gpu_row_remap_failed,
    gpu_pages_retired,
    gpu_near_slowdown,
    gpu_temperature_high,
    gpu_memory_temperature_high,
    gpu_thermal_throttle,
    gpu_power_brake,
    gpu_straggler,
    gpu_pcie_narrow,
    gpu_nvlink_down,
    gpu_nvlink_errors,
    gpu_memory_held_by_dead,
)
