"""A MIG instance, as samples."""

from collections.abc import Iterable

from vllmwatch.catalog import mig as catalog
from vllmwatch.exporter.family import Families
from vllmwatch.sources.nvml.snapshot import GpuProcess, MigInstance


def add_mig_instance(families: Families, node: str, parent_uuid: str, instance: MigInstance) -> None:
    """Add one MIG instance of the GPU `parent_uuid`."""
    labels = (node, instance.uuid, parent_uuid, instance.profile or "")
    gpu_instance = "" if instance.gpu_instance is None else str(instance.gpu_instance)
    compute_instance = "" if instance.compute_instance is None else str(instance.compute_instance)
    families[catalog.MIG_INSTANCE_INFO].add(1, *labels, gpu_instance, compute_instance)
    families[catalog.MIG_UTILIZATION].add(instance.utilization_ratio, *labels)
    if instance.memory is not None:
        families[catalog.MIG_MEMORY_USED].add(instance.memory.used_bytes, *labels)
        families[catalog.MIG_MEMORY_FREE].add(instance.memory.free_bytes, *labels)
        families[catalog.MIG_MEMORY_RESERVED].add(instance.memory.reserved_bytes, *labels)
        families[catalog.MIG_MEMORY_TOTAL].add(instance.memory.total_bytes, *labels)
    if instance.processes is not None:
        families[catalog.MIG_PROCESSES].add(len(instance.processes), *labels)
        families[catalog.MIG_PROCESS_MEMORY].add(process_memory(instance.processes), *labels)


def process_memory(processes: Iterable[GpuProcess]) -> int | None:
    """Return the memory of all processes in bytes, or None where the driver does not tell it for every one."""
    total = 0
    for process in processes:
        if process.memory_bytes is None:
            return None
        total += process.memory_bytes
    return total
