"""NVIDIA's dcgm-exporter: which of its metrics say what ours say.

DCGM 4.6 renamed most fields and kept the old names as aliases of the same fields, in the same units; so each has its
newer name and then its older one. A value that DCGM does not have is one of a few huge numbers.
"""

from vllmwatch.catalog import gpu, gpu_health
from vllmwatch.spec.foreign import ForeignMetric
from vllmwatch.spec.metric import Metric

NO_VALUE_FROM = 9e18
"""From this number on a value is a sentinel (DCGM_INT64_BLANK and above, dcgm_structs.h)."""
TEMPERATURE: tuple[str, ...] = ("DCGM_FI_DEV_GPU_TEMP_CELSIUS", "DCGM_FI_DEV_GPU_TEMP")
"""The field that every GPU has: where it is, the GPU is."""
XID_COUNT = "DCGM_EXP_XID_ERRORS_COUNT"

_MEBIBYTES = "* 1048576"
_MEGAHERTZ = "* 1e6"
_PERCENT = "/ 100"


def _dev(metric: Metric, *fields: str, conversion: str = "", **labels: str) -> ForeignMetric:
    return ForeignMetric(metric, tuple(f"DCGM_FI_DEV_{each}" for each in fields), conversion, labels)


def _throttle(reason: str, bit: int) -> ForeignMetric:
    fields = ("CLOCKS_EVENT_REASONS", "CLOCK_THROTTLE_REASONS")
    names = tuple(f"DCGM_FI_DEV_{each}" for each in fields)
    return ForeignMetric(gpu.GPU_THROTTLE_ACTIVE, names, labels={"reason": reason}, bit=bit)


def _recovery(action: str, number: int) -> ForeignMetric:
    names = tuple(f"DCGM_FI_DEV_{each}" for each in ("GPU_RECOVERY_ACTION", "GET_GPU_RECOVERY_ACTION"))
    return ForeignMetric(gpu_health.GPU_RECOVERY_ACTION, names, labels={"action": action}, equals=number)


def _ecc(kind: str, lifetime: str, *fields: str) -> ForeignMetric:
    return _dev(gpu_health.GPU_ECC_ERRORS, *fields, kind=kind, lifetime=lifetime)


DCGM_METRICS: tuple[ForeignMetric, ...] = (
    ForeignMetric(gpu.GPU_TEMPERATURE, TEMPERATURE),
    _dev(gpu.GPU_MEMORY_TEMPERATURE, "MEMORY_TEMP_CELSIUS", "MEMORY_TEMP"),
    _dev(gpu.GPU_TEMPERATURE_MARGIN, "GPU_TEMP_MARGIN_CELSIUS", "GPU_TEMP_LIMIT"),
    _dev(gpu.GPU_TEMPERATURE_THRESHOLD, "GPU_TEMP_SLOWDOWN_CELSIUS", "SLOWDOWN_TEMP", kind="slowdown"),
    _dev(gpu.GPU_TEMPERATURE_THRESHOLD, "GPU_TEMP_SHUTDOWN_CELSIUS", "SHUTDOWN_TEMP", kind="shutdown"),
    _dev(gpu.GPU_TEMPERATURE_THRESHOLD, "GPU_MAX_OP_TEMP_CELSIUS", "GPU_MAX_OP_TEMP", kind="gpu_max"),
    _dev(gpu.GPU_TEMPERATURE_THRESHOLD, "MEMORY_MAX_OP_TEMP_CELSIUS", "MEM_MAX_OP_TEMP", kind="memory_max"),
    _dev(gpu.GPU_POWER, "BOARD_POWER_WATTS", "POWER_USAGE"),
    _dev(gpu.GPU_POWER_INSTANT, "BOARD_POWER_RAW_WATTS", "POWER_USAGE_INSTANT"),
    _dev(gpu.GPU_ENERGY, "TOTAL_ENERGY_CONSUMPTION", conversion="/ 1000"),
    _dev(gpu.GPU_UTILIZATION, "GPU_UTIL_RATIO", "GPU_UTIL", conversion=_PERCENT),
    _dev(gpu.GPU_MEMORY_ACTIVITY, "MEM_COPY_UTIL", conversion=_PERCENT),
    _dev(gpu.GPU_MEMORY_USED, "FB_USED", conversion=_MEBIBYTES),
    _dev(gpu.GPU_MEMORY_FREE, "FB_FREE", conversion=_MEBIBYTES),
    _dev(gpu.GPU_MEMORY_RESERVED, "FB_RESERVED", conversion=_MEBIBYTES),
    _dev(gpu.GPU_CLOCK, "SM_CLOCK", conversion=_MEGAHERTZ, domain="sm"),
    _dev(gpu.GPU_CLOCK, "MEM_CLOCK", conversion=_MEGAHERTZ, domain="memory"),
    _throttle("gpu_idle", 0),
    _throttle("applications_clocks_setting", 1),
    _throttle("software_power_cap", 2),
    _throttle("hardware_slowdown", 3),
    _throttle("sync_boost", 4),
    _throttle("software_thermal_slowdown", 5),
    _throttle("hardware_thermal_slowdown", 6),
    _throttle("hardware_power_brake", 7),
    _throttle("display_clock_setting", 8),
    _ecc("corrected", "volatile", "ECC_SBE_VOL_TOTAL"),
    _ecc("uncorrected", "volatile", "ECC_DBE_VOL_TOTAL"),
    _ecc("corrected", "aggregate", "ECC_SBE_AGG_TOTAL"),
    _ecc("uncorrected", "aggregate", "ECC_DBE_AGG_TOTAL"),
    _dev(gpu_health.GPU_RETIRED_PAGES, "PAGE_RETIRED_SBE_TOTAL", "RETIRED_SBE", cause="single_bit"),
    _dev(gpu_health.GPU_RETIRED_PAGES, "PAGE_RETIRED_DBE_TOTAL", "RETIRED_DBE", cause="double_bit"),
    _dev(gpu_health.GPU_RETIRED_PAGES_PENDING, "PAGE_RETIRED_PENDING", "RETIRED_PENDING"),
    _dev(gpu_health.GPU_REMAPPED_ROWS, "ROW_REMAP_CORRECTABLE_TOTAL", "CORRECTABLE_REMAPPED_ROWS", kind="corrected"),
    _dev(
        gpu_health.GPU_REMAPPED_ROWS, "ROW_REMAP_UNCORRECTABLE_TOTAL", "UNCORRECTABLE_REMAPPED_ROWS", kind="uncorrected"
    ),
    _dev(gpu_health.GPU_ROW_REMAP_PENDING, "ROW_REMAP_PENDING"),
    _dev(gpu_health.GPU_ROW_REMAP_FAILURE, "ROW_REMAP_FAILED", "ROW_REMAP_FAILURE"),
    _recovery("none", 0),
    _recovery("gpu_reset", 1),
    _recovery("node_reboot", 2),
    _recovery("drain_p2p", 3),
    _recovery("drain_and_reset", 4),
    _dev(gpu_health.GPU_PCIE_WIDTH, "PCIE_LINK_WIDTH"),
    _dev(gpu_health.GPU_PCIE_WIDTH_MAX, "PCIE_MAX_LINK_WIDTH"),
    _dev(gpu_health.GPU_PCIE_REPLAYS, "PCIE_REPLAY_TOTAL", "PCIE_REPLAY_COUNTER"),
)
