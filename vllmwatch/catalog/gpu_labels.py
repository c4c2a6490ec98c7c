"""The labels of GPU metrics, each closed set with every value and its meaning."""

from vllmwatch.spec.metric import Label

NAME = Label("name", "The card's product name.")
SERIAL = Label("serial", "The card's serial number; empty where it has none.")
PCI_BUS_ID = Label("pci_bus_id", "The PCI address, domain:bus:device.function, in lower case.")
ARCHITECTURE = Label("architecture", "The architecture, such as Hopper.")
COMPUTE_CAPABILITY = Label("compute_capability", "The CUDA compute capability, such as 9.0.")
VBIOS_VERSION = Label("vbios_version", "The version of the card's VBIOS.")
GSP_FIRMWARE_VERSION = Label("gsp_firmware_version", "The version of the firmware of the GPU's system processor.")
DRIVER_VERSION = Label("driver_version", "The version of the NVIDIA driver.")
CUDA_VERSION = Label("cuda_version", "The newest CUDA version that the driver serves.")

NVML_REASON = Label(
    "reason",
    "Why NVML cannot be used.",
    {
        "library_not_found": "there is no libnvidia-ml.so.1: no driver is installed, or a container hides it",
        "driver_not_loaded": "the library is there, and the kernel's driver is not loaded",
        "version_mismatch": "the library and the kernel's driver are of different versions",
        "no_permission": "the user may not open the driver's devices",
        "unknown_error": "the driver gives no reason; containers that lost their devices show this",
        "timeout": "the driver did not answer in time",
    },
)

TEMPERATURE_KIND = Label(
    "kind",
    "What the card does there.",
    {
        "gpu_max": "the core is at its highest operating temperature and clocks are lowered below base",
        "memory_max": "the memory is at its highest operating temperature and clocks are lowered",
        "slowdown": "the hardware halves the clocks or worse",
        "shutdown": "the hardware turns itself off",
    },
)

CLOCK_DOMAIN = Label(
    "domain",
    "Which clock.",
    {
        "graphics": "the graphics engines",
        "sm": "the streaming multiprocessors",
        "memory": "the device memory",
        "video": "the video encoder and decoder",
    },
)

THROTTLE_REASON = Label(
    "reason",
    "Why the clocks are down.",
    {
        "gpu_idle": "nothing runs: no fault",
        "applications_clocks_setting": "somebody set the clocks of applications",
        "software_power_cap": "the limit of power; usual under full load",
        "hardware_slowdown": "the hardware lowered the clocks; one of the other hardware reasons may say why",
        "sync_boost": "a group of GPUs is held to the clock of its slowest",
        "software_thermal_slowdown": "core or memory is above its highest operating temperature",
        "hardware_thermal_slowdown": "the temperature is so high that the hardware halves the clocks or worse",
        "hardware_power_brake": "the power supply or the rack asked for less through the brake signal",
        "display_clock_setting": "the display's clock sets the limit",
    },
)

THROTTLE_TIME_REASON = Label(
    "reason",
    "Why the clocks were down.",
    {
        "software_power_cap": "the limit of power; usual under full load",
        "sync_boost": "a group of GPUs was held to the clock of its slowest",
        "software_thermal_slowdown": "core or memory was above its highest operating temperature",
        "hardware_thermal_slowdown": "the temperature was so high that the hardware halved the clocks or worse",
        "hardware_power_brake": "the power supply or the rack asked for less through the brake signal",
        "board_limit": "the board's limit of voltage or current",
        "low_utilization": "too little ran to raise the clocks: no fault",
        "reliability": "the limit of voltage that keeps the chip reliable",
    },
)

FAN = Label("fan", "The number of the fan.")

COMPUTE_MODE = Label(
    "mode",
    "Who may compute on the GPU.",
    {
        "default": "any number of processes",
        "exclusive_thread": "one thread of one process; no longer in use",
        "prohibited": "nobody",
        "exclusive_process": "one process",
    },
)

ECC_KIND = Label(
    "kind",
    "Whether the error was mended.",
    {"corrected": "mended by ECC", "uncorrected": "not mended: data was lost or wrong"},
)
ECC_LIFETIME = Label(
    "lifetime",
    "Since when the errors are counted.",
    {"volatile": "since the driver was loaded", "aggregate": "over the life of the card"},
)
RETIREMENT_CAUSE = Label(
    "cause",
    "Why the pages were retired.",
    {"single_bit": "repeated single-bit errors", "double_bit": "a double-bit error"},
)
REMAP_KIND = Label(
    "kind",
    "Which errors led to the remapping.",
    {"corrected": "corrected errors", "uncorrected": "uncorrected errors"},
)

LINK = Label("link", "The number of the NVLink on its GPU.")
NVLINK_ERROR_KIND = Label(
    "kind",
    "Which errors.",
    {
        "replay": "data was sent again (before Blackwell)",
        "recovery": "the link was trained again",
        "crc": "a checksum was wrong (before Blackwell)",
        "receive": "a packet arrived with errors (Blackwell and later)",
        "transmit_discard": "a packet was dropped before it was sent (Blackwell and later)",
        "recovery_failed": "the link could not be trained again and went down (Blackwell and later)",
    },
)

RECOVERY_ACTION = Label(
    "action",
    "What the driver asks for.",
    {
        "none": "nothing",
        "gpu_reset": "a reset of the GPU",
        "node_reboot": "a reboot of the host",
        "drain_p2p": "that work between GPUs be stopped",
        "drain_and_reset": "that the GPU be emptied of work and reset",
        "recover_imex_domain": "that the IMEX domain be recovered",
        "bus_reset": "a reset of the bus",
        "system_reboot": "a reboot of the whole system",
    },
)

XID = Label("xid", "The number of the XID event in NVIDIA's catalogue.")
XID_SOURCE = Label(
    "source",
    "Where XID events come from.",
    {"nvml": "events of NVML", "kernel_log": "the kernel log, with those since boot"},
)

GPU_INSTANCE = Label("gpu_instance", "The number of the GPU instance.")
COMPUTE_INSTANCE = Label("compute_instance", "The number of the compute instance within its GPU instance.")
