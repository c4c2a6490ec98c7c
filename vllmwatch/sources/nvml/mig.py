"""The MIG instances of one GPU: each with memory, processes and utilization of its own."""

import ctypes
from typing import Any

from vllmwatch.sources.nvml import plausible
from vllmwatch.sources.nvml.gpm import GpuInstanceUtilization
from vllmwatch.sources.nvml.library import Device, pynvml
from vllmwatch.sources.nvml.memory import MemoryReading
from vllmwatch.sources.nvml.processes import Processes
from vllmwatch.sources.nvml.snapshot import MigInstance

# No GPU can be cut into more (nvml.h, nvmlDeviceGetMaxMigDeviceCount gives 7 for the largest).
_MAX_INSTANCES = 16


class _Instance:
    def __init__(self, device: Device, uuid: str) -> None:
        self.uuid = uuid
        self.gpu_instance = device.number("nvmlDeviceGetGpuInstanceId").number()
        self.compute_instance = device.number("nvmlDeviceGetComputeInstanceId").number()
        name = device.text("nvmlDeviceGetName") or ""
        self.profile = name.partition(" MIG ")[2] or None
        self.memory = MemoryReading(device)
        self.processes = Processes(device)


class MigInstances:
    """Reads the instances that a GPU is cut into now; they come and go while the driver runs."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._known: dict[str, _Instance] = {}
        self._utilization = GpuInstanceUtilization(device)

    def read(self) -> tuple[MigInstance, ...]:
        """Return the instances; raise when the GPU is lost."""
        present: dict[str, _Instance] = {}
        for handle in self._handles():
            device = Device(self._device.library, handle, f"a MIG instance of {self._device.label}")
            uuid = device.text("nvmlDeviceGetUUID")
            if uuid is not None and uuid not in present:
                present[uuid] = self._known.get(uuid) or _Instance(device, uuid)
        self._known = present
        self._utilization.forget_others({instance.gpu_instance for instance in present.values()})
        # Compute instances of one GPU instance share its engines; each look takes one sample of those.
        busy: dict[int | None, float | None] = {None: None}
        for instance in present.values():
            if instance.gpu_instance is not None and instance.gpu_instance not in busy:
                busy[instance.gpu_instance] = self._utilization.percent(instance.gpu_instance)
        return tuple(self._snapshot(instance, busy[instance.gpu_instance]) for instance in present.values())

    def close(self) -> None:
        """Free what the instances hold in the library."""
        self._utilization.forget_others(set())
        self._known = {}

    def _handles(self) -> list[Any]:
        count = self._device.number("nvmlDeviceGetMaxMigDeviceCount").number() or 0
        handles = []
        for index in range(min(count, _MAX_INSTANCES)):
            handle = pynvml.c_nvmlDevice_t()
            found = ctypes.byref(handle)
            if self._device.reading("nvmlDeviceGetMigDeviceHandleByIndex", ctypes.c_uint(index), found).read():
                handles.append(handle)
        return handles

    def _snapshot(self, instance: _Instance, busy: float | None) -> MigInstance:
        return MigInstance(
            uuid=instance.uuid,
            gpu_instance=instance.gpu_instance,
            compute_instance=instance.compute_instance,
            profile=instance.profile,
            memory=instance.memory.read(),
            utilization_ratio=plausible.ratio(busy),
            processes=instance.processes.read(),
        )
