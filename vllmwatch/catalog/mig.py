"""Metrics about MIG instances: families of their own, so that no sum counts memory twice."""

from dataclasses import replace

from vllmwatch.catalog import gpu_labels as labels
from vllmwatch.catalog.labels import NODE, PARENT_UUID, PROFILE, UUID
from vllmwatch.spec.metric import Metric, gauge
from vllmwatch.spec.unit import BYTES, COUNT, INFO, RATIO

_MIG_UUID = replace(UUID, help="The UUID of the MIG instance.")
_MIG = (NODE, _MIG_UUID, PARENT_UUID, PROFILE)

MIG_INSTANCE_INFO = gauge(
    "mig_instance_info",
    "A MIG instance and its numbers within its GPU.",
    INFO,
    *_MIG,
    labels.GPU_INSTANCE,
    labels.COMPUTE_INSTANCE,
)
MIG_UTILIZATION = gauge(
    "mig_utilization_ratio",
    "Share of time since the last look in which any kernel ran on the GPU instance (Hopper and later).",
    RATIO,
    *_MIG,
)
# The compute instances of a GPU instance share its memory.
_ONCE = "of several compute instances that share it, the first alone has this series"
MIG_MEMORY_USED = gauge(
    "mig_memory_used_bytes", f"Memory of the GPU instance that is allocated; {_ONCE}.", BYTES, *_MIG
)
MIG_MEMORY_FREE = gauge("mig_memory_free_bytes", f"Memory of the GPU instance that is free; {_ONCE}.", BYTES, *_MIG)
MIG_MEMORY_RESERVED = gauge(
    "mig_memory_reserved_bytes",
    f"Memory of the GPU instance that the driver keeps for itself; {_ONCE}.",
    BYTES,
    *_MIG,
)
MIG_MEMORY_TOTAL = gauge("mig_memory_total_bytes", f"Memory of the GPU instance in all; {_ONCE}.", BYTES, *_MIG)
MIG_PROCESSES = gauge("mig_processes", "Processes that use the instance.", COUNT, *_MIG)
MIG_PROCESS_MEMORY = gauge(
    "mig_process_memory_bytes", "Memory of all processes on the instance, where the driver tells it.", BYTES, *_MIG
)

MIG_METRICS: tuple[Metric, ...] = (
    MIG_INSTANCE_INFO,
    MIG_UTILIZATION,
    MIG_MEMORY_USED,
    MIG_MEMORY_FREE,
    MIG_MEMORY_RESERVED,
    MIG_MEMORY_TOTAL,
    MIG_PROCESSES,
    MIG_PROCESS_MEMORY,
)
