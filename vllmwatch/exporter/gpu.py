"""A look at NVML, and the XID events so far, as samples."""

from vllmwatch.catalog import gpu as catalog
from vllmwatch.exporter.family import Families
from vllmwatch.exporter.gpu_health import add_health, add_xids
from vllmwatch.exporter.mig import add_mig_instance, process_memory
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
        for instance in gpu.mig_instances:
            add_mig_instance(families, node, gpu.identity.uuid, instance)
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


def _add_facts(families: Families, labels: tuple[str, str, str], facts: GpuFacts) -> None:
    for kind, threshold in facts.temperature_thresholds_celsius.items():
        families[catalog.GPU_TEMPERATURE_THRESHOLD].add(threshold, *labels, kind)
    for kind, margin in facts.margin_thresholds_celsius.items():
        families[catalog.GPU_TEMPERATURE_MARGIN_THRESHOLD].add(margin, *labels, kind)
    for domain, clock in facts.clock_max_hertz.items():
        families[catalog.GPU_CLOCK_MAX].add(clock, *labels, domain)
    if facts.compute_mode is not None:
        families[catalog.GPU_COMPUTE_MODE].add(1, *labels, facts.compute_mode)
    for metric, value in (
        (catalog.GPU_POWER_LIMIT_DEFAULT, facts.power_limit_default_watts),
        (catalog.GPU_POWER_LIMIT_MIN, facts.power_limit_min_watts),
        (catalog.GPU_POWER_LIMIT_MAX, facts.power_limit_max_watts),
    ):
        families[metric].add(value, *labels)
    for metric, switch in (
        (catalog.GPU_PERSISTENCE_MODE, facts.persistence_mode),
        (catalog.GPU_MIG_MODE, facts.mig_mode),
        (catalog.GPU_GSP_FIRMWARE, facts.gsp_firmware_enabled),
        (catalog.GPU_UNIFIED_MEMORY, facts.unified_memory),
    ):
        families[metric].add(None if switch is None else int(switch), *labels)


def _add_readings(families: Families, labels: tuple[str, str, str], readings: GpuReadings) -> None:
    for metric, value in (
        (catalog.GPU_TEMPERATURE, readings.temperature_celsius),
        (catalog.GPU_MEMORY_TEMPERATURE, readings.memory_temperature_celsius),
        (catalog.GPU_TEMPERATURE_MARGIN, readings.temperature_margin_celsius),
        (catalog.GPU_POWER, readings.power_watts),
        (catalog.GPU_POWER_INSTANT, readings.power_instant_watts),
        (catalog.GPU_MODULE_POWER, readings.module_power_watts),
        (catalog.GPU_POWER_LIMIT, readings.power_limit_watts),
        (catalog.GPU_ENERGY, readings.energy_joules),
        (catalog.GPU_UTILIZATION, readings.utilization_ratio),
        (catalog.GPU_MEMORY_ACTIVITY, readings.memory_activity_ratio),
        (catalog.GPU_ENCODER_UTILIZATION, readings.encoder_utilization_ratio),
        (catalog.GPU_DECODER_UTILIZATION, readings.decoder_utilization_ratio),
        (catalog.GPU_BAR1_USED, readings.bar1_used_bytes),
        (catalog.GPU_BAR1_TOTAL, readings.bar1_total_bytes),
        (catalog.GPU_PERFORMANCE_STATE, readings.performance_state),
    ):
        families[metric].add(value, *labels)
    if readings.memory is not None:
        families[catalog.GPU_MEMORY_USED].add(readings.memory.used_bytes, *labels)
        families[catalog.GPU_MEMORY_FREE].add(readings.memory.free_bytes, *labels)
        families[catalog.GPU_MEMORY_RESERVED].add(readings.memory.reserved_bytes, *labels)
        families[catalog.GPU_MEMORY_TOTAL].add(readings.memory.total_bytes, *labels)
    for domain, clock in readings.clock_hertz.items():
        families[catalog.GPU_CLOCK].add(clock, *labels, domain)
    for reason, active in readings.throttle_active.items():
        families[catalog.GPU_THROTTLE_ACTIVE].add(int(active), *labels, reason)
    for reason, seconds in readings.throttle_seconds.items():
        families[catalog.GPU_THROTTLE_SECONDS].add(seconds, *labels, reason)
    for fan, speed in readings.fan_speed_ratio.items():
        families[catalog.GPU_FAN_SPEED].add(speed, *labels, str(fan))
    if readings.processes is not None:
        families[catalog.GPU_PROCESSES].add(len({process.pid for process in readings.processes}), *labels)
        families[catalog.GPU_PROCESS_MEMORY].add(process_memory(readings.processes), *labels)
