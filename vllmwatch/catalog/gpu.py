"""Metrics about GPUs, read from NVML and the kernel log."""

from vllmwatch.catalog import gpu_labels as labels
from vllmwatch.catalog.gpu_health import HEALTH_METRICS
from vllmwatch.catalog.labels import GPU, NODE, UUID
from vllmwatch.catalog.mig import MIG_METRICS
from vllmwatch.spec.metric import Metric, counter, gauge
from vllmwatch.spec.unit import BOOLEAN, BYTES, CELSIUS, COUNT, HERTZ, INFO, JOULES, NUMBER, RATIO, SECONDS, WATTS

_GPU = (NODE, UUID, GPU)

NVML_UP = gauge("nvml_up", "Whether NVML, the driver's library, can be used.", BOOLEAN, NODE)
NVML_ERROR = gauge(
    "nvml_error",
    "The present reason that NVML cannot be used; absent while it can.",
    BOOLEAN,
    NODE,
    labels.NVML_REASON,
)
NVML_INFO = gauge("nvml_info", "The driver of this host.", INFO, NODE, labels.DRIVER_VERSION, labels.CUDA_VERSION)
NVML_READ_DURATION = gauge("nvml_read_duration_seconds", "Time that the last look at all GPUs took.", SECONDS, NODE)
NVML_UNIDENTIFIED_GPUS = gauge(
    "nvml_unidentified_gpus",
    "GPUs that the driver counts, that do not say who they are, and that were not seen before.",
    COUNT,
    NODE,
)

GPU_INFO = gauge(
    "gpu_info",
    "Who a GPU is; kept while it is lost.",
    INFO,
    *_GPU,
    labels.NAME,
    labels.SERIAL,
    labels.PCI_BUS_ID,
    labels.ARCHITECTURE,
    labels.COMPUTE_CAPABILITY,
    labels.VBIOS_VERSION,
    labels.GSP_FIRMWARE_VERSION,
)
GPU_UP = gauge("gpu_up", "Whether the GPU answers; 0 for one that is lost, under its last UUID.", BOOLEAN, *_GPU)

GPU_TEMPERATURE = gauge("gpu_temperature_celsius", "Temperature of the GPU's core.", CELSIUS, *_GPU)
GPU_MEMORY_TEMPERATURE = gauge("gpu_memory_temperature_celsius", "Temperature of the GPU's memory.", CELSIUS, *_GPU)
GPU_TEMPERATURE_THRESHOLD = gauge(
    "gpu_temperature_threshold_celsius",
    "Temperature at which the card itself acts; absent on cards that state margins instead.",
    CELSIUS,
    *_GPU,
    labels.TEMPERATURE_KIND,
)
GPU_TEMPERATURE_MARGIN = gauge(
    "gpu_temperature_margin_celsius",
    "Distance from the card's own limit of temperature; it sinks as the card heats up.",
    CELSIUS,
    *_GPU,
)
GPU_TEMPERATURE_MARGIN_THRESHOLD = gauge(
    "gpu_temperature_margin_threshold_celsius",
    "Margin at and below which the card itself acts.",
    CELSIUS,
    *_GPU,
    labels.TEMPERATURE_KIND,
)

GPU_POWER = gauge(
    "gpu_power_watts",
    "Power that the GPU draws, averaged over a second by NVML on Ampere and later except GA100.",
    WATTS,
    *_GPU,
)
GPU_POWER_INSTANT = gauge("gpu_power_instant_watts", "Power that the GPU draws at this instant.", WATTS, *_GPU)
GPU_MODULE_POWER = gauge(
    "gpu_module_power_watts", "Power that the whole module draws, where GPU and CPU share one.", WATTS, *_GPU
)
GPU_POWER_LIMIT = gauge("gpu_power_limit_watts", "Limit of power that is enforced now.", WATTS, *_GPU)
GPU_POWER_LIMIT_DEFAULT = gauge("gpu_power_limit_default_watts", "Limit of power at boot.", WATTS, *_GPU)
GPU_POWER_LIMIT_MIN = gauge("gpu_power_limit_min_watts", "Lowest limit of power that can be set.", WATTS, *_GPU)
GPU_POWER_LIMIT_MAX = gauge("gpu_power_limit_max_watts", "Highest limit of power that can be set.", WATTS, *_GPU)
GPU_ENERGY = counter(
    "gpu_energy_joules_total", "Energy that the GPU has drawn since the driver was loaded.", *_GPU, unit=JOULES
)

GPU_UTILIZATION = gauge(
    "gpu_utilization_ratio",
    "Share of time in which any kernel ran on the GPU; not how much of the GPU it used.",
    RATIO,
    *_GPU,
)
GPU_MEMORY_ACTIVITY = gauge(
    "gpu_memory_activity_ratio",
    "Share of time in which device memory was read or written; not how full it is.",
    RATIO,
    *_GPU,
)
GPU_ENCODER_UTILIZATION = gauge(
    "gpu_encoder_utilization_ratio", "Share of time in which the video encoder was busy.", RATIO, *_GPU
)
GPU_DECODER_UTILIZATION = gauge(
    "gpu_decoder_utilization_ratio", "Share of time in which the video decoder was busy.", RATIO, *_GPU
)

GPU_MEMORY_USED = gauge("gpu_memory_used_bytes", "Device memory that is allocated.", BYTES, *_GPU)
GPU_MEMORY_FREE = gauge("gpu_memory_free_bytes", "Device memory that is free.", BYTES, *_GPU)
GPU_MEMORY_RESERVED = gauge(
    "gpu_memory_reserved_bytes",
    "Device memory that the driver keeps for itself; drivers without the figure count it as used.",
    BYTES,
    *_GPU,
)
GPU_MEMORY_TOTAL = gauge("gpu_memory_total_bytes", "Device memory in all.", BYTES, *_GPU)
GPU_UNIFIED_MEMORY = gauge(
    "gpu_unified_memory",
    "Whether the GPU has no memory of its own and uses the host's; memory in bytes is then absent.",
    BOOLEAN,
    *_GPU,
)
GPU_BAR1_USED = gauge("gpu_bar1_used_bytes", "Part of the BAR1 window that is mapped.", BYTES, *_GPU)
GPU_BAR1_TOTAL = gauge(
    "gpu_bar1_total_bytes", "Size of the BAR1 window, through which others reach the memory.", BYTES, *_GPU
)

GPU_CLOCK = gauge("gpu_clock_hertz", "Present clock.", HERTZ, *_GPU, labels.CLOCK_DOMAIN)
GPU_CLOCK_MAX = gauge("gpu_clock_max_hertz", "Highest clock that the card has.", HERTZ, *_GPU, labels.CLOCK_DOMAIN)
GPU_PERFORMANCE_STATE = gauge(
    "gpu_performance_state", "Performance state: 0 is the fastest, 15 the slowest.", NUMBER, *_GPU
)
GPU_THROTTLE_ACTIVE = gauge(
    "gpu_throttle_active",
    "Whether a reason holds the clocks down now.",
    BOOLEAN,
    *_GPU,
    labels.THROTTLE_REASON,
)
GPU_THROTTLE_SECONDS = counter(
    "gpu_throttle_seconds_total",
    "Time in which a reason held the clocks down; reasons overlap, so they are not added up.",
    *_GPU,
    labels.THROTTLE_TIME_REASON,
    unit=SECONDS,
)
GPU_FAN_SPEED = gauge(
    "gpu_fan_speed_ratio", "Speed of a fan against its nominal highest, which it may exceed.", RATIO, *_GPU, labels.FAN
)

GPU_PROCESSES = gauge("gpu_processes", "Processes that use the GPU.", COUNT, *_GPU)
GPU_PROCESS_MEMORY = gauge(
    "gpu_process_memory_bytes", "Device memory of all processes on the GPU, where the driver tells it.", BYTES, *_GPU
)
GPU_PERSISTENCE_MODE = gauge(
    "gpu_persistence_mode", "Whether the driver stays loaded while nobody uses the GPU.", BOOLEAN, *_GPU
)
GPU_COMPUTE_MODE = gauge("gpu_compute_mode", "The present compute mode.", BOOLEAN, *_GPU, labels.COMPUTE_MODE)
GPU_MIG_MODE = gauge("gpu_mig_mode", "Whether the GPU is in MIG mode.", BOOLEAN, *_GPU)
GPU_GSP_FIRMWARE = gauge(
    "gpu_gsp_firmware_enabled", "Whether the GPU's own system processor runs the driver's firmware.", BOOLEAN, *_GPU
)

METRICS: tuple[Metric, ...] = (
    NVML_UP,
    NVML_ERROR,
    NVML_INFO,
    NVML_READ_DURATION,
    NVML_UNIDENTIFIED_GPUS,
    GPU_INFO,
    GPU_UP,
    GPU_TEMPERATURE,
    GPU_MEMORY_TEMPERATURE,
    GPU_TEMPERATURE_THRESHOLD,
    GPU_TEMPERATURE_MARGIN,
    GPU_TEMPERATURE_MARGIN_THRESHOLD,
    GPU_POWER,
    GPU_POWER_INSTANT,
    GPU_MODULE_POWER,
    GPU_POWER_LIMIT,
    GPU_POWER_LIMIT_DEFAULT,
    GPU_POWER_LIMIT_MIN,
    GPU_POWER_LIMIT_MAX,
    GPU_ENERGY,
    GPU_UTILIZATION,
    GPU_MEMORY_ACTIVITY,
    GPU_ENCODER_UTILIZATION,
    GPU_DECODER_UTILIZATION,
    GPU_MEMORY_USED,
    GPU_MEMORY_FREE,
    GPU_MEMORY_RESERVED,
    GPU_MEMORY_TOTAL,
    GPU_UNIFIED_MEMORY,
    GPU_BAR1_USED,
    GPU_BAR1_TOTAL,
    GPU_CLOCK,
    GPU_CLOCK_MAX,
    GPU_PERFORMANCE_STATE,
    GPU_THROTTLE_ACTIVE,
    GPU_THROTTLE_SECONDS,
    GPU_FAN_SPEED,
    GPU_PROCESSES,
    GPU_PROCESS_MEMORY,
    GPU_PERSISTENCE_MODE,
    GPU_COMPUTE_MODE,
    GPU_MIG_MODE,
    GPU_GSP_FIRMWARE,
    *HEALTH_METRICS,
    *MIG_METRICS,
)
