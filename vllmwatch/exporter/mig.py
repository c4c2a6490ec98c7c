"""MIG instances, as samples."""

from collections.abc import Iterable, Sequence

from vllmwatch.catalog import mig as catalog
from vllmwatch.exporter.family import Families, Row
from vllmwatch.sources.nvml.snapshot import GpuProcess, MigInstance

_MEMORY = Row(
    {
        catalog.MIG_MEMORY_USED: "used_bytes",
        catalog.MIG_MEMORY_FREE: "free_bytes",
        catalog.MIG_MEMORY_RESERVED: "reserved_bytes",
        catalog.MIG_MEMORY_TOTAL: "total_bytes",
    }
)


def add_mig_instances(families: Families, node: str, parent_uuid: str, instances: Sequence[MigInstance]) -> None:
    """Add the MIG instances of the GPU `parent_uuid`."""
    tellers = _memory_tellers(instances)
    for instance in instances:
        labels = (node, instance.uuid, parent_uuid, instance.profile or "")
        _add_instance(families, labels, instance)
        if instance.memory is not None and instance.uuid in tellers:
            families.add_row(_MEMORY, instance.memory, *labels)


def _memory_tellers(instances: Iterable[MigInstance]) -> set[str]:
    """Return who tells the memory of each GPU instance: its compute instances share it, and a sum counts it once."""
    first: dict[object, MigInstance] = {}
    for instance in instances:
        shared = instance.uuid if instance.gpu_instance is None else instance.gpu_instance
        known = first.setdefault(shared, instance)
        if (instance.compute_instance or 0) < (known.compute_instance or 0):
            first[shared] = instance
    return {instance.uuid for instance in first.values()}


def _add_instance(families: Families, labels: tuple[str, str, str, str], instance: MigInstance) -> None:
    gpu_instance = "" if instance.gpu_instance is None else str(instance.gpu_instance)
    compute_instance = "" if instance.compute_instance is None else str(instance.compute_instance)
    families[catalog.MIG_INSTANCE_INFO].add(1, *labels, gpu_instance, compute_instance)
    families[catalog.MIG_UTILIZATION].add(instance.utilization_ratio, *labels)
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
