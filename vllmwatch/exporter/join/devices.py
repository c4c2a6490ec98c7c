"""The devices of a host, and what people and variables call them; pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from vllmwatch.exporter.join.links import Device
from vllmwatch.sources.nvml.snapshot import GpuSnapshot, MigInstance, NvmlSnapshot
from vllmwatch.sources.processes.environment import VisibleDevices
from vllmwatch.sources.xid import normal_pci_address

_ALL = frozenset({"all"})
_NONE = frozenset({"", "none", "void"})
_LEAST_PREFIX = len("GPU-") + 1
# How MIG instances were named before driver 470: by their GPU and the numbers of their instances.
_OLD_MIG = re.compile(r"MIG-(GPU-[0-9a-fA-F-]+)/([0-9]{1,6})/([0-9]{1,6})")

_WITHOUT_DOMAIN = re.compile(r"[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(\.[0-7])?")
_NUMBER = re.compile(r"[0-9]{1,6}")


class OrderUnknownError(Exception):
    """Devices are named by number, or not at all, and which these are cannot be known from here."""


@dataclass(frozen=True, slots=True)
class _Known:
    device: Device
    gpu: GpuSnapshot
    instance: MigInstance | None = None


class Devices:
    """All devices of one look at NVML."""

    def __init__(self, snapshot: NvmlSnapshot) -> None:
        self._gpus: list[_Known] = []
        self._instances: list[_Known] = []
        self.lost = frozenset(gpu.identity.uuid for gpu in snapshot.gpus if not gpu.up)
        """The UUIDs of the GPUs that the driver knows no more."""
        for gpu in snapshot.gpus:
            identity = gpu.identity
            self._gpus.append(_Known(Device(identity.uuid, identity.index), gpu))
            for instance in gpu.mig_instances:
                device = Device(instance.uuid, identity.index, identity.uuid)
                self._instances.append(_Known(device, gpu, instance))

    def named(self, name: str) -> Device | None:
        """Return the device that a UUID (or its unique beginning), an index of NVML's or a PCI address names."""
        text = name.strip()
        if _NUMBER.fullmatch(text):
            return next((entry.device for entry in self._gpus if entry.device.index == int(text)), None)
        if (place := normal_pci_address(f"0000:{text}" if _WITHOUT_DOMAIN.fullmatch(text) else text)) is not None:
            return next((entry.device for entry in self._gpus if _place(entry.gpu) == place), None)
        return self._by_uuid(text)

    def visible(self, variables: VisibleDevices) -> tuple[Device, ...]:
        """Return the devices that variables leave a process, in the order of its own numbers.

        Raises OrderUnknownError where numbers are used and the cards differ, unless CUDA_DEVICE_ORDER says PCI_BUS_ID
        (CUDA puts the fastest first by its own measure), and where what a container was given is not in its variables.
        """
        # A variable of the toolkit counts the host's devices, and in its container we see those that it let in alone.
        inside = self._let_in("all" if variables.shared_view else variables.nvidia)
        if variables.cuda is None:
            return self._in_order(inside, variables.order)
        found: list[Device] = []
        for word in map(str.strip, variables.cuda.split(",")):
            device = self._visible_one(word, inside, variables.order)
            # CUDA hides all devices from the first name on that it does not know.
            if device is None or device in found:
                break
            found.append(device)
        return tuple(found)

    def _let_in(self, variable: str | None) -> list[Device] | None:
        """Return what the container toolkit lets in, which counts as NVML does; None where it has no part in it.

        Raises OrderUnknownError for a name that is none of ours: the numbers of the others are not known then.
        """
        if variable is None or variable.strip() in _NONE:
            return None
        if variable.strip() in _ALL:
            return [entry.device for entry in self._gpus]
        named = [device for word in variable.split(",") if (device := self.named(word)) is not None]
        if len(named) < len(variable.split(",")):
            raise OrderUnknownError
        return list(dict.fromkeys(named))

    def _visible_one(self, word: str, inside: Sequence[Device] | None, order: str | None) -> Device | None:
        if _NUMBER.fullmatch(word):
            ordered = self._in_order(inside, order)
            return ordered[int(word)] if int(word) < len(ordered) else None
        device = self._by_uuid(word)
        if device is None or inside is None:
            return device
        return device if not {device.uuid, device.gpu_uuid}.isdisjoint({entry.uuid for entry in inside}) else None

    def _in_order(self, inside: Sequence[Device] | None, order: str | None) -> tuple[Device, ...]:
        """Return devices in the order of CUDA's numbers: cards of one kind go by their place on the bus."""
        if inside is None:
            raise OrderUnknownError
        uuids = {device.gpu_uuid for device in inside}
        kinds = {entry.gpu.identity.name for entry in self._gpus if entry.device.uuid in uuids}
        if order != "PCI_BUS_ID" and len(kinds) > 1:
            raise OrderUnknownError
        return tuple(sorted(inside, key=self._bus_order))

    def _bus_order(self, device: Device) -> tuple[str, int]:
        gpu = next(entry.gpu for entry in self._gpus if entry.device.uuid == device.gpu_uuid)
        return _place(gpu) or "", device.index

    def _by_uuid(self, text: str) -> Device | None:
        if old := _OLD_MIG.fullmatch(text):
            return self._old_mig(old[1], int(old[2]), int(old[3]))
        if len(text) < _LEAST_PREFIX:
            return None
        found = [entry.device for entry in (*self._gpus, *self._instances) if entry.device.uuid.startswith(text)]
        exact = [device for device in found if device.uuid == text]
        return (exact or found)[0] if exact or len(found) == 1 else None

    def _old_mig(self, parent: str, gpu_instance: int, compute_instance: int) -> Device | None:
        for entry in self._instances:
            instance = entry.instance
            assert instance is not None
            numbers = (instance.gpu_instance, instance.compute_instance)
            if entry.device.parent_uuid == parent and numbers == (gpu_instance, compute_instance):
                return entry.device
        return None


def _place(gpu: GpuSnapshot) -> str | None:
    return normal_pci_address(gpu.identity.pci_bus_id or "")
