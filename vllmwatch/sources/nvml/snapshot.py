"""What one look at NVML gives: frozen, in base units, and None for what is not there or cannot be true."""

from collections.abc import Mapping
from dataclasses import dataclass

from vllmwatch.sources.nvml.library import DownReason


@dataclass(frozen=True, slots=True)
class GpuIdentity:
    """Who a GPU is. `index` is NVML's order, which moves; `uuid` does not."""

    uuid: str
    index: int
    name: str | None = None
    serial: str | None = None
    pci_bus_id: str | None = None
    architecture: str | None = None
    compute_capability: str | None = None
    vbios_version: str | None = None
    gsp_firmware_version: str | None = None


@dataclass(frozen=True, slots=True)
class GpuProcess:
    """A process on a GPU: its pid as the host sees it, and its memory in bytes where the driver says so.

    `gpu_instance` and `compute_instance` are set for processes on a MIG instance.
    """

    pid: int
    memory_bytes: int | None
    compute: bool
    graphics: bool
    gpu_instance: int | None = None
    compute_instance: int | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """Device memory in bytes. `reserved` is the driver's own; old drivers count it in `used` and leave it None."""

    total_bytes: int
    used_bytes: int
    free_bytes: int
    reserved_bytes: int | None


@dataclass(frozen=True, slots=True)
class NvLinks:
    """The NVLinks of a GPU by number: whether each is up, bytes sent and received, and errors by link and kind."""

    up: Mapping[int, bool]
    transmit_bytes: Mapping[int, int]
    receive_bytes: Mapping[int, int]
    errors: Mapping[tuple[int, str], int]


@dataclass(frozen=True, slots=True)
class MigInstance:
    """A MIG instance: its own memory, processes and, on Hopper and later, share of time that its engines were busy."""

    uuid: str
    gpu_instance: int | None
    compute_instance: int | None
    profile: str | None
    memory: Memory | None
    utilization_ratio: float | None
    processes: tuple[GpuProcess, ...] | None


@dataclass(frozen=True, slots=True)
class GpuFacts:
    """What does not change from scrape to scrape; read anew every minute or so.

    `temperature_thresholds_celsius` (slowdown, shutdown, gpu_max, memory_max) are absolute. Cards of the Hopper line
    and later state margins instead: at which `temperature_margin_celsius` each begins
    (`margin_thresholds_celsius`). `unified_memory` is True where the GPU has no memory of its own.
    """

    temperature_thresholds_celsius: Mapping[str, float]
    margin_thresholds_celsius: Mapping[str, float]
    clock_max_hertz: Mapping[str, int]
    power_limit_default_watts: float | None
    power_limit_min_watts: float | None
    power_limit_max_watts: float | None
    pcie_link_generation_max: int | None
    pcie_link_width_max: int | None
    persistence_mode: bool | None
    compute_mode: str | None
    mig_mode: bool | None
    ecc_mode: bool | None
    gsp_firmware_enabled: bool | None
    unified_memory: bool | None


@dataclass(frozen=True, slots=True)
class GpuReadings:
    """What is read at every look.

    Power is NVML's average over a second where the card averages, else the present draw. Counters
    (`energy_joules`, `throttle_seconds`, ECC, replays) count since the driver was loaded or over the card's life, as
    NVML has them.
    """

    temperature_celsius: float | None
    memory_temperature_celsius: float | None
    temperature_margin_celsius: float | None
    power_watts: float | None
    power_instant_watts: float | None
    module_power_watts: float | None
    power_limit_watts: float | None
    energy_joules: float | None
    utilization_ratio: float | None
    memory_activity_ratio: float | None
    encoder_utilization_ratio: float | None
    decoder_utilization_ratio: float | None
    memory: Memory | None
    bar1_used_bytes: int | None
    bar1_total_bytes: int | None
    clock_hertz: Mapping[str, int]
    performance_state: int | None
    throttle_active: Mapping[str, bool]
    throttle_seconds: Mapping[str, float]
    fan_speed_ratio: Mapping[int, float]
    ecc_errors: Mapping[tuple[str, str], int]
    retired_pages: Mapping[str, int]
    retired_pages_pending: bool | None
    remapped_rows: Mapping[str, int]
    row_remap_pending: bool | None
    row_remap_failure: bool | None
    pcie_link_generation: int | None
    pcie_link_width: int | None
    pcie_replays: int | None
    recovery_action: str | None
    nvlinks: NvLinks
    processes: tuple[GpuProcess, ...] | None


@dataclass(frozen=True, slots=True)
class GpuSnapshot:
    """One GPU. When it is lost, `up` is False, `facts` and `readings` are None, and who it is stays known."""

    identity: GpuIdentity
    up: bool
    facts: GpuFacts | None = None
    readings: GpuReadings | None = None
    mig_instances: tuple[MigInstance, ...] = ()


@dataclass(frozen=True, slots=True)
class NvmlSnapshot:
    """One look at NVML.

    With NVML down, `down_reason` says why and each GPU that was ever seen is there with `up` False. `unidentified` is
    how many GPUs the driver counts that do not even say who they are. `cuda_version` is that of the driver's API.
    """

    up: bool
    down_reason: DownReason | None
    gpus: tuple[GpuSnapshot, ...]
    unidentified: int
    driver_version: str | None
    cuda_version: str | None
    read_seconds: float
