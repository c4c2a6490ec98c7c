"""NVML's numbers and our words for them: fields, clock domains, throttle reasons, modes."""

from types import MappingProxyType
from typing import Final

from vllmwatch.sources.nvml.fields import Field
from vllmwatch.sources.nvml.library import pynvml

CLOCK_DOMAINS: Final = MappingProxyType(
    {
        "graphics": pynvml.NVML_CLOCK_GRAPHICS,
        "sm": pynvml.NVML_CLOCK_SM,
        "memory": pynvml.NVML_CLOCK_MEM,
        "video": pynvml.NVML_CLOCK_VIDEO,
    }
)

# The bits of nvmlDeviceGetCurrentClocksEventReasons.
THROTTLE_BITS: Final = MappingProxyType(
    {
        "gpu_idle": pynvml.nvmlClocksEventReasonGpuIdle,
        "applications_clocks_setting": pynvml.nvmlClocksEventReasonApplicationsClocksSetting,
        "software_power_cap": pynvml.nvmlClocksEventReasonSwPowerCap,
        "hardware_slowdown": pynvml.nvmlClocksEventReasonHwSlowdown,
        "sync_boost": pynvml.nvmlClocksEventReasonSyncBoost,
        "software_thermal_slowdown": pynvml.nvmlClocksEventReasonSwThermalSlowdown,
        "hardware_thermal_slowdown": pynvml.nvmlClocksEventReasonHwThermalSlowdown,
        "hardware_power_brake": pynvml.nvmlClocksEventReasonHwPowerBrakeSlowdown,
        "display_clock_setting": pynvml.nvmlClocksEventReasonDisplayClockSetting,
    }
)

# Counters in nanoseconds (nvml.h: "All counters are in nanoseconds"). Field 75 is the older name of the software
# thermal counter (nvml.h, nvmlDeviceGetViolationStatus).
THROTTLE_FIELDS: Final = (
    Field("throttle.software_power_cap", pynvml.NVML_FI_DEV_PERF_POLICY_POWER),
    Field("throttle.sync_boost", pynvml.NVML_FI_DEV_PERF_POLICY_SYNC_BOOST),
    Field("throttle.software_thermal_slowdown", pynvml.NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN),
    Field("throttle.software_thermal_slowdown", pynvml.NVML_FI_DEV_PERF_POLICY_THERMAL),
    Field("throttle.hardware_thermal_slowdown", pynvml.NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN),
    Field("throttle.hardware_power_brake", pynvml.NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN),
    Field("throttle.board_limit", pynvml.NVML_FI_DEV_PERF_POLICY_BOARD_LIMIT),
    Field("throttle.low_utilization", pynvml.NVML_FI_DEV_PERF_POLICY_LOW_UTILIZATION),
    Field("throttle.reliability", pynvml.NVML_FI_DEV_PERF_POLICY_RELIABILITY),
)

# What nvmlDeviceGetViolationStatus calls the same counters, for drivers without the fields.
VIOLATION_POLICIES: Final = MappingProxyType(
    {
        "software_power_cap": pynvml.NVML_PERF_POLICY_POWER,
        "software_thermal_slowdown": pynvml.NVML_PERF_POLICY_THERMAL,
        "sync_boost": pynvml.NVML_PERF_POLICY_SYNC_BOOST,
        "board_limit": pynvml.NVML_PERF_POLICY_BOARD_LIMIT,
        "low_utilization": pynvml.NVML_PERF_POLICY_LOW_UTILIZATION,
        "reliability": pynvml.NVML_PERF_POLICY_RELIABILITY,
    }
)

_GPU_SCOPE: Final = 0
_MODULE_SCOPE: Final = 1

CORE_FIELDS: Final = (
    Field("memory_temperature", pynvml.NVML_FI_DEV_MEMORY_TEMP),
    Field("power_average", pynvml.NVML_FI_DEV_POWER_AVERAGE, _GPU_SCOPE),
    Field("power_instant", pynvml.NVML_FI_DEV_POWER_INSTANT, _GPU_SCOPE),
    Field("module_power_average", pynvml.NVML_FI_DEV_POWER_AVERAGE, _MODULE_SCOPE),
    Field("module_power_instant", pynvml.NVML_FI_DEV_POWER_INSTANT, _MODULE_SCOPE),
    Field("power_limit", pynvml.NVML_FI_DEV_POWER_CURRENT_LIMIT, _GPU_SCOPE),
    Field("energy", pynvml.NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION),
    Field("ecc.corrected.volatile", pynvml.NVML_FI_DEV_ECC_SBE_VOL_TOTAL),
    Field("ecc.uncorrected.volatile", pynvml.NVML_FI_DEV_ECC_DBE_VOL_TOTAL),
    Field("ecc.corrected.aggregate", pynvml.NVML_FI_DEV_ECC_SBE_AGG_TOTAL),
    Field("ecc.uncorrected.aggregate", pynvml.NVML_FI_DEV_ECC_DBE_AGG_TOTAL),
    Field("retired.single_bit", pynvml.NVML_FI_DEV_RETIRED_SBE),
    Field("retired.double_bit", pynvml.NVML_FI_DEV_RETIRED_DBE),
    Field("retired_pending", pynvml.NVML_FI_DEV_RETIRED_PENDING),
    Field("remapped.corrected", pynvml.NVML_FI_DEV_REMAPPED_COR),
    Field("remapped.uncorrected", pynvml.NVML_FI_DEV_REMAPPED_UNC),
    Field("remap_pending", pynvml.NVML_FI_DEV_REMAPPED_PENDING),
    Field("remap_failure", pynvml.NVML_FI_DEV_REMAPPED_FAILURE),
    Field("pcie_replays", pynvml.NVML_FI_DEV_PCIE_REPLAY_COUNTER),
    Field("recovery_action", pynvml.NVML_FI_DEV_GET_GPU_RECOVERY_ACTION),
    *THROTTLE_FIELDS,
)

# Which of the core fields hold which counts.
ECC_KEYS: Final = MappingProxyType(
    {
        ("corrected", "volatile"): "ecc.corrected.volatile",
        ("uncorrected", "volatile"): "ecc.uncorrected.volatile",
        ("corrected", "aggregate"): "ecc.corrected.aggregate",
        ("uncorrected", "aggregate"): "ecc.uncorrected.aggregate",
    }
)
RETIRED_KEYS: Final = MappingProxyType({"single_bit": "retired.single_bit", "double_bit": "retired.double_bit"})
REMAPPED_KEYS: Final = MappingProxyType({"corrected": "remapped.corrected", "uncorrected": "remapped.uncorrected"})

FACT_FIELDS: Final = (
    Field("ecc_mode", pynvml.NVML_FI_DEV_ECC_CURRENT),
    Field("nvlink_count", pynvml.NVML_FI_DEV_NVLINK_LINK_COUNT),
    Field("power_limit_default", pynvml.NVML_FI_DEV_POWER_DEFAULT_LIMIT, _GPU_SCOPE),
    Field("power_limit_min", pynvml.NVML_FI_DEV_POWER_MIN_LIMIT, _GPU_SCOPE),
    Field("power_limit_max", pynvml.NVML_FI_DEV_POWER_MAX_LIMIT, _GPU_SCOPE),
    Field("margin.shutdown", pynvml.NVML_FI_DEV_TEMPERATURE_SHUTDOWN_TLIMIT),
    Field("margin.slowdown", pynvml.NVML_FI_DEV_TEMPERATURE_SLOWDOWN_TLIMIT),
    Field("margin.memory_max", pynvml.NVML_FI_DEV_TEMPERATURE_MEM_MAX_TLIMIT),
    Field("margin.gpu_max", pynvml.NVML_FI_DEV_TEMPERATURE_GPU_MAX_TLIMIT),
)

TEMPERATURE_THRESHOLDS: Final = MappingProxyType(
    {
        "shutdown": pynvml.NVML_TEMPERATURE_THRESHOLD_SHUTDOWN,
        "slowdown": pynvml.NVML_TEMPERATURE_THRESHOLD_SLOWDOWN,
        "memory_max": pynvml.NVML_TEMPERATURE_THRESHOLD_MEM_MAX,
        "gpu_max": pynvml.NVML_TEMPERATURE_THRESHOLD_GPU_MAX,
    }
)

ARCHITECTURES: Final = MappingProxyType(
    {
        pynvml.NVML_DEVICE_ARCH_KEPLER: "Kepler",
        pynvml.NVML_DEVICE_ARCH_MAXWELL: "Maxwell",
        pynvml.NVML_DEVICE_ARCH_PASCAL: "Pascal",
        pynvml.NVML_DEVICE_ARCH_VOLTA: "Volta",
        pynvml.NVML_DEVICE_ARCH_TURING: "Turing",
        pynvml.NVML_DEVICE_ARCH_AMPERE: "Ampere",
        pynvml.NVML_DEVICE_ARCH_ADA: "Ada",
        pynvml.NVML_DEVICE_ARCH_HOPPER: "Hopper",
        pynvml.NVML_DEVICE_ARCH_BLACKWELL: "Blackwell",
        13: "Rubin",
    }
)

COMPUTE_MODES: Final = MappingProxyType(
    {
        pynvml.NVML_COMPUTEMODE_DEFAULT: "default",
        pynvml.NVML_COMPUTEMODE_EXCLUSIVE_THREAD: "exclusive_thread",
        pynvml.NVML_COMPUTEMODE_PROHIBITED: "prohibited",
        pynvml.NVML_COMPUTEMODE_EXCLUSIVE_PROCESS: "exclusive_process",
    }
)

RECOVERY_ACTIONS: Final = MappingProxyType(
    {
        pynvml.NVML_GPU_RECOVERY_ACTION_NONE: "none",
        pynvml.NVML_GPU_RECOVERY_ACTION_GPU_RESET: "gpu_reset",
        pynvml.NVML_GPU_RECOVERY_ACTION_NODE_REBOOT: "node_reboot",
        pynvml.NVML_GPU_RECOVERY_ACTION_DRAIN_P2P: "drain_p2p",
        pynvml.NVML_GPU_RECOVERY_ACTION_DRAIN_AND_RESET: "drain_and_reset",
        5: "recover_imex_domain",
        6: "bus_reset",
        7: "system_reboot",
    }
)
