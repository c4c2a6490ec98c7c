"""A look at NVML, and the XID events so far, as samples."""

from vllmwatch.catalog import gpu as catalog
from vllmwatch.exporter.family import Families, Row
from vllmwatch.exporter.gpu_health import add_health, add_xids
from vllmwatch.exporter.mig import add_mig_instances, process_memory
from vllmwatch.sources.nvml.snapshot import GpuFacts, GpuIdentity, GpuReadings, NvmlSnapshot
from vllmwatch.sources.xid import XidTotals


def add_gpus(families: Families, snapshot: NvmlSnapshot, xids: XidTotals, node: str) -> None:
    """Add everything about the GPUs of a host; what was not read leaves no sample."""
    families[catalog.NVML_UP].add(int(snapshot.up), node)
    if snapshot.down_reason is not None:
        families[catalog.NVML_ERROR].add(1, node, snapshot.down_reason)
    else:
        families[catalog.NVML_INFO].add(1, node, snapshot.driver_version or "", snapshot.cuda_version or "")
        families[catalog.NVML_UNIDENTIFIED_GPUS].add(snapshot.unidentified, node)
        families[catalog.NVML_READ_DURATION].add(snapshot.read_seconds, node)
    for gpu in snapshot.gpus:
        labels = (node, gpu.identity.uuid, str(gpu.identity.index))
        _add_identity(families, labels, gpu.identity)
        families[catalog.GPU_UP].add(int(gpu.up), *labels)
        if gpu.facts is not None:
            _add_facts(families, labels, gpu.facts)
        if gpu.readings is not None:
            _add_readings(families, labels, gpu.readings)
            add_health(families, labels, gpu.facts, gpu.readings)
        add_mig_instances(families, node, gpu.identity.uuid, gpu.mig_instances)
    add_xids(families, xids, {gpu.identity.uuid: str(gpu.identity.index) for gpu in snapshot.gpus}, node)


def _add_identity(families: Families, labels: tuple[str, str, str], identity: GpuIdentity) -> None:
    families[catalog.GPU_INFO].add(
        1,
        *labels,
        identity.name or "",
        identity.serial or "",
        identity.pci_bus_id or "",
        identity.architecture or "",
        identity.compute_capability or "",
        identity.vbios_version or "",
        identity.gsp_firmware_version or "",
    )


_FACTS = Row(
    {
        catalog.GPU_POWER_LIMIT_DEFAULT: "power_limit_default_watts",
        catalog.GPU_POWER_LIMIT_MIN: "power_limit_min_watts",
        catalog.GPU_POWER_LIMIT_MAX: "power_limit_max_watts",
        catalog.GPU_PERSISTENCE_MODE: "persistence_mode",
        catalog.GPU_MIG_MODE: "mig_mode",
        catalog.GPU_GSP_FIRMWARE: "gsp_firmware_enabled",
        catalog.GPU_UNIFIED_MEMORY: "unified_memory",
    }
)


def _add_facts(families: Families, labels: tuple[str, str, str], facts: GpuFacts) -> None:
    families.add_row(_FACTS, facts, *labels)
    families[catalog.GPU_TEMPERATURE_THRESHOLD].add_each(facts.temperature_thresholds_celsius, *labels)
    families[catalog.GPU_TEMPERATURE_MARGIN_THRESHOLD].add_each(facts.margin_thresholds_celsius, *labels)
    families[catalog.GPU_CLOCK_MAX].add_each(facts.clock_max_hertz, *labels)
    if facts.compute_mode is not None:
        families[catalog.GPU_COMPUTE_MODE].add(1, *labels, facts.compute_mode)


_READINGS = Row(
    {
        catalog.GPU_TEMPERATURE: "temperature_celsius",
        catalog.GPU_MEMORY_TEMPERATURE: "memory_temperature_celsius",
        catalog.GPU_TEMPERATURE_MARGIN: "temperature_margin_celsius",
        catalog.GPU_POWER: "power_watts",
        catalog.GPU_POWER_INSTANT: "power_instant_watts",
        catalog.GPU_MODULE_POWER: "module_power_watts",
        catalog.GPU_POWER_LIMIT: "power_limit_watts",
        catalog.GPU_ENERGY: "energy_joules",
        catalog.GPU_UTILIZATION: "utilization_ratio",
        catalog.GPU_MEMORY_ACTIVITY: "memory_activity_ratio",
        catalog.GPU_ENCODER_UTILIZATION: "encoder_utilization_ratio",
        catalog.GPU_DECODER_UTILIZATION: "decoder_utilization_ratio",
        catalog.GPU_BAR1_USED: "bar1_used_bytes",
        catalog.GPU_BAR1_TOTAL: "bar1_total_bytes",
        catalog.GPU_PERFORMANCE_STATE: "performance_state",
    }
)
_MEMORY = Row(
    {
        catalog.GPU_MEMORY_USED: "used_bytes",
        catalog.GPU_MEMORY_FREE: "free_bytes",
        catalog.GPU_MEMORY_RESERVED: "reserved_bytes",
        catalog.GPU_MEMORY_TOTAL: "total_bytes",
    }
)


def _add_readings(families: Families, labels: tuple[str, str, str], readings: GpuReadings) -> None:
    families.add_row(_READINGS, readings, *labels)
    if readings.memory is not None:
        families.add_row(_MEMORY, readings.memory, *labels)
    families[catalog.GPU_CLOCK].add_each(readings.clock_hertz, *labels)
    families[catalog.GPU_THROTTLE_ACTIVE].add_each(readings.throttle_active, *labels)
    families[catalog.GPU_THROTTLE_SECONDS].add_each(readings.throttle_seconds, *labels)
    families[catalog.GPU_FAN_SPEED].add_each(readings.fan_speed_ratio, *labels)
    if readings.processes is not None:
        families[catalog.GPU_PROCESSES].add(len({process.pid for process in readings.processes}), *labels)
        families[catalog.GPU_PROCESS_MEMORY].add(process_memory(readings.processes), *labels)
