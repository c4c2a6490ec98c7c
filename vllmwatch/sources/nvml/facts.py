"""Who a GPU is, and what about it does not change from scrape to scrape."""

import ctypes
from collections.abc import Mapping
from typing import Any, Final

from vllmwatch.sources.nvml import plausible
from vllmwatch.sources.nvml.fields import FieldBatch
from vllmwatch.sources.nvml.library import Device, GpuLostError, TwoNumbers, pynvml
from vllmwatch.sources.nvml.snapshot import GpuFacts, GpuIdentity, Memory
from vllmwatch.sources.nvml.tables import (
    ARCHITECTURES,
    CLOCK_DOMAINS,
    COMPUTE_MODES,
    FACT_FIELDS,
    TEMPERATURE_THRESHOLDS,
)

# Chips that share the host's memory. Some of their drivers refuse memory figures, others give the host's.
_UNIFIED_CHIPS: Final = ("GB10", "Thor", "Orin")
MAX_WIDTH: Final = 32
MAX_GENERATION: Final = 8
# More than any card has (18 with NVLink 5, 36 with NVLink 6): a larger count is none, and must not be counted to.
_MAX_LINKS: Final = 72
_MAX_CAPABILITY: Final = 1000
_SIGN_BIT: Final = 2**31


def read_identity(device: Device, index: int) -> GpuIdentity:
    """Read who a GPU is; raise GpuLostError when it does not say."""
    uuid = device.text("nvmlDeviceGetUUID")
    if uuid is None:
        raise GpuLostError(device.label)
    return GpuIdentity(
        uuid=uuid,
        index=index,
        name=device.text("nvmlDeviceGetName"),
        serial=device.text("nvmlDeviceGetSerial"),
        pci_bus_id=_pci_bus_id(device),
        architecture=ARCHITECTURES.get(device.number("nvmlDeviceGetArchitecture").number()),
        compute_capability=_compute_capability(device),
        vbios_version=device.text("nvmlDeviceGetVbiosVersion"),
        gsp_firmware_version=device.text("nvmlDeviceGetGspFirmwareVersion", with_length=False),
    )


class FactsReader:
    """Reads the facts of a GPU again and again; what it refuses once is not asked again."""

    def __init__(self, device: Device) -> None:
        number = device.number
        self._fields = FieldBatch(device, FACT_FIELDS)
        self._thresholds = {
            kind: number("nvmlDeviceGetTemperatureThreshold", which) for kind, which in TEMPERATURE_THRESHOLDS.items()
        }
        self._clocks = {domain: number("nvmlDeviceGetMaxClockInfo", which) for domain, which in CLOCK_DOMAINS.items()}
        self._limits = TwoNumbers(device, "nvmlDeviceGetPowerManagementLimitConstraints")
        self._default_limit = number("nvmlDeviceGetPowerManagementDefaultLimit")
        self._generation = number("nvmlDeviceGetMaxPcieLinkGeneration")
        self._width = number("nvmlDeviceGetMaxPcieLinkWidth")
        self._persistence_mode = number("nvmlDeviceGetPersistenceMode")
        self._compute_mode = number("nvmlDeviceGetComputeMode")
        self._mig_mode = TwoNumbers(device, "nvmlDeviceGetMigMode")
        self._gsp_firmware_mode = TwoNumbers(device, "nvmlDeviceGetGspFirmwareMode")

    def read(self, name: str | None, memory: Memory | None) -> tuple[GpuFacts, int | None]:
        """Return the facts, and the number of NVLinks where the driver tells it; raise when the GPU is lost."""
        fields = self._fields.read()
        thresholds = {kind: plausible.celsius(reading.number()) for kind, reading in self._thresholds.items()}
        clocks = {domain: plausible.hertz(reading.number()) for domain, reading in self._clocks.items()}
        lowest, highest = self._limits.read()
        facts = GpuFacts(
            temperature_thresholds_celsius={kind: value for kind, value in thresholds.items() if value},
            margin_thresholds_celsius=_margins(fields),
            clock_max_hertz={domain: value for domain, value in clocks.items() if value is not None},
            power_limit_default_watts=plausible.watts(
                fields.get("power_limit_default") or self._default_limit.number()
            ),
            power_limit_min_watts=plausible.watts(fields.get("power_limit_min") or lowest),
            power_limit_max_watts=plausible.watts(fields.get("power_limit_max") or highest),
            pcie_link_generation_max=within(self._generation.number(), MAX_GENERATION),
            pcie_link_width_max=within(self._width.number(), MAX_WIDTH),
            persistence_mode=plausible.yes(self._persistence_mode.number()),
            compute_mode=COMPUTE_MODES.get(self._compute_mode.number()),
            mig_mode=plausible.yes(self._mig_mode.read()[0]),
            ecc_mode=plausible.yes(fields.get("ecc_mode")),
            gsp_firmware_enabled=plausible.yes(self._gsp_firmware_mode.read()[0]),
            unified_memory=_unified_memory(name, memory),
        )
        return facts, plausible.whole(fields.get("nvlink_count"), _MAX_LINKS)


def is_unified_chip(name: str | None) -> bool:
    """Say whether a GPU of this name is known to have no memory of its own."""
    return name is not None and any(word in _UNIFIED_CHIPS for word in name.split())


def within(value: int | None, most: int) -> int | None:
    """Return a number from 1 to `most`."""
    return value if value is not None and 1 <= value <= most else None


def _margins(fields: Mapping[str, float]) -> dict[str, float]:
    found = {}
    for key, value in fields.items():
        # Margins below zero may come in an unsigned type.
        margin = plausible.celsius(value - 2**32 if value >= _SIGN_BIT else value)
        if key.startswith("margin.") and margin is not None:
            found[key.removeprefix("margin.")] = margin
    return found


def _unified_memory(name: str | None, memory: Memory | None) -> bool | None:
    if is_unified_chip(name):
        return True
    return None if memory is None else False


def _compute_capability(device: Device) -> str | None:
    major, minor = TwoNumbers(device, "nvmlDeviceGetCudaComputeCapability").read()
    if major is None or minor is None or max(major, minor) > _MAX_CAPABILITY:
        return None
    return f"{major}.{minor}"


def _pci_bus_id(device: Device) -> str | None:
    info: Any = pynvml.nvmlPciInfo_t()
    if not device.reading("nvmlDeviceGetPciInfo_v3", ctypes.byref(info)).read():
        return None
    return str(info.busId).lower()
