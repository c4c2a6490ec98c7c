"""One GPU: its readings, prepared once and repeated at every look."""

import ctypes
from collections.abc import Mapping
from typing import Any

from vllmwatch.sources.nvml import plausible
from vllmwatch.sources.nvml.facts import (
    MAX_GENERATION,
    MAX_WIDTH,
    FactsReader,
    is_unified_chip,
    read_identity,
    within,
)
from vllmwatch.sources.nvml.fields import FieldBatch, KeyT
from vllmwatch.sources.nvml.library import Device, FirstOf, GpuLostError, Library, Number, TwoNumbers, pynvml
from vllmwatch.sources.nvml.memory import Bar1Reading, MemoryReading
from vllmwatch.sources.nvml.mig import MigInstances
from vllmwatch.sources.nvml.nvlinks import NvLinkReading
from vllmwatch.sources.nvml.processes import Processes
from vllmwatch.sources.nvml.snapshot import GpuFacts, GpuReadings, GpuSnapshot, Memory
from vllmwatch.sources.nvml.tables import (
    CLOCK_DOMAINS,
    CORE_FIELDS,
    ECC_KEYS,
    RECOVERY_ACTIONS,
    REMAPPED_KEYS,
    RETIRED_KEYS,
    THROTTLE_BITS,
)
from vllmwatch.sources.nvml.throttle import Violations


class _Margin:
    def __init__(self, device: Device) -> None:
        # nvmlMarginTemperature_v1_t: the version, and the margin.
        self._info = (ctypes.c_int * 2)(pynvml.nvmlMarginTemperature_v1)
        self._reading = device.reading("nvmlDeviceGetMarginTemperature", self._info)

    def read(self) -> int | None:
        return self._info[1] if self._reading.read() else None


class _Temperature:
    """The core's temperature, by the call that nvml.h 13 deprecates, else by its successor."""

    def __init__(self, device: Device) -> None:
        sensor = pynvml.NVML_TEMPERATURE_GPU
        self._first = device.number("nvmlDeviceGetTemperature", sensor)
        # nvmlTemperature_v1_t: the version, the sensor, and the temperature.
        self._info = (ctypes.c_int * 3)(pynvml.nvmlTemperature_v1, sensor)
        self._second = device.reading("nvmlDeviceGetTemperatureV", self._info)

    def read(self) -> int | None:
        value = self._first.number()
        if self._first.refused and self._second.read():
            return self._info[2]
        return value


class GpuReader:
    """Reads one GPU. Raises GpuLostError at once when the GPU does not say who it is."""

    def __init__(self, library: Library, index: int) -> None:
        self._device = Device(library, library.handle(index), f"GPU {index}")
        self.identity = read_identity(self._device, index)
        self._device.label = f"GPU {index} ({self.identity.uuid})"
        self._facts: GpuFacts | None = None
        self._facts_due = 0.0
        self._prepare()

    @property
    def handle(self) -> Any:
        """NVML's handle of the GPU."""
        return self._device.handle

    def _prepare(self) -> None:
        """Make every call ready; what was refused before is asked once more."""
        device = self._device
        self._temperature = _Temperature(device)
        self._margin = _Margin(device)
        self._power = device.number("nvmlDeviceGetPowerUsage")
        self._enforced = device.number("nvmlDeviceGetEnforcedPowerLimit")
        self._energy = device.number("nvmlDeviceGetTotalEnergyConsumption", wide=True)
        self._utilization = TwoNumbers(device, "nvmlDeviceGetUtilizationRates", as_structure=True)
        self._encoder = TwoNumbers(device, "nvmlDeviceGetEncoderUtilization")
        self._decoder = TwoNumbers(device, "nvmlDeviceGetDecoderUtilization")
        self._memory = MemoryReading(device)
        self._bar1 = Bar1Reading(device)
        self._clocks = {name: device.number("nvmlDeviceGetClockInfo", kind) for name, kind in CLOCK_DOMAINS.items()}
        self._state = device.number("nvmlDeviceGetPerformanceState")
        self._reasons = FirstOf(
            device.number("nvmlDeviceGetCurrentClocksEventReasons", wide=True),
            device.number("nvmlDeviceGetCurrentClocksThrottleReasons", wide=True),
        )
        self._generation = device.number("nvmlDeviceGetCurrPcieLinkGeneration")
        self._width = device.number("nvmlDeviceGetCurrPcieLinkWidth")
        self._violations = Violations(device)
        self._fields = FieldBatch(device, CORE_FIELDS)
        self._processes = Processes(device)
        self._fans: dict[int, Number] | None = None
        self._links: NvLinkReading | None = None
        self._supported_reasons: int | None = None
        self._mig = MigInstances(device)
        self._mig_mode = TwoNumbers(device, "nvmlDeviceGetMigMode")
        self._facts_reader = FactsReader(device)

    def read(self, now: float, facts_interval_seconds: float) -> GpuSnapshot:
        """Read the GPU; raise NvmlDownError when the driver is gone. `now` is a monotonic time in seconds."""
        try:
            memory = self._memory.read()
            if self._facts is None or now >= self._facts_due or self._has_left_mig(self._facts):
                self._refresh_facts(memory)
                self._facts_due = now + facts_interval_seconds
            assert self._facts is not None
            readings = self._read(self._facts, memory)
            instances = self._mig.read() if self._facts.mig_mode else ()
        except GpuLostError:
            return GpuSnapshot(self.identity, up=False)
        return GpuSnapshot(self.identity, up=True, facts=self._facts, readings=readings, mig_instances=instances)

    def close(self) -> None:
        """Free what the GPU's readings hold in the library."""
        self._mig.close()

    def _has_left_mig(self, facts: GpuFacts) -> bool:
        """Say whether a GPU that was cut into instances is whole again; its instances must not outlive the mode."""
        return bool(facts.mig_mode) and plausible.yes(self._mig_mode.read()[0]) is False

    def _refresh_facts(self, memory: Memory | None) -> None:
        before = self._facts
        self._facts, links = self._facts_reader.read(self.identity.name, memory)
        if before is not None and before.mig_mode != self._facts.mig_mode:
            self._mig.close()
            self._prepare()  # a GPU refuses other things once it is cut into instances
            self._facts, links = self._facts_reader.read(self.identity.name, memory)
        if self._links is None:
            self._links = NvLinkReading(self._device, links)
        if self._fans is None:
            self._fans = self._prepare_fans()
        if self._supported_reasons is None:
            self._supported_reasons = FirstOf(
                self._device.number("nvmlDeviceGetSupportedClocksEventReasons", wide=True),
                self._device.number("nvmlDeviceGetSupportedClocksThrottleReasons", wide=True),
            ).number()

    def _prepare_fans(self) -> dict[int, Number]:
        count = self._device.number("nvmlDeviceGetNumFans")
        fans = count.number()
        if fans is None:
            return {0: self._device.number("nvmlDeviceGetFanSpeed")}
        return {fan: self._device.number("nvmlDeviceGetFanSpeed_v2", fan) for fan in range(min(fans, 16))}

    def _read(self, facts: GpuFacts, memory: Memory | None) -> GpuReadings:
        assert self._links is not None
        core = plausible.celsius(self._temperature.read())
        fields = self._fields.read()
        used, activity = self._utilization.read()
        bar1_used, bar1_total = self._bar1.read()
        limit = plausible.watts(fields.get("power_limit", self._enforced_if(fields)))
        highest = max((value for value in (limit, facts.power_limit_max_watts) if value), default=None)
        if core is None and used is None and not fields:
            raise GpuLostError(self._device.label)  # a handle that answers nothing is of a GPU that is gone
        return GpuReadings(
            temperature_celsius=core,
            memory_temperature_celsius=plausible.memory_celsius(fields.get("memory_temperature"), core),
            temperature_margin_celsius=plausible.margin_celsius(self._margin.read(), core),
            power_watts=plausible.watts(self._average_power(fields), highest),
            power_instant_watts=plausible.watts(fields.get("power_instant"), highest),
            module_power_watts=plausible.watts(_module_power(fields)),
            power_limit_watts=limit,
            energy_joules=self._energy_joules(fields),
            utilization_ratio=plausible.ratio(used),
            memory_activity_ratio=plausible.ratio(activity),
            encoder_utilization_ratio=plausible.ratio(self._encoder.read()[0]),
            decoder_utilization_ratio=plausible.ratio(self._decoder.read()[0]),
            memory=None if is_unified_chip(self.identity.name) else memory,
            bar1_used_bytes=bar1_used,
            bar1_total_bytes=bar1_total,
            clock_hertz=_present({name: plausible.hertz(clock.number()) for name, clock in self._clocks.items()}),
            performance_state=self._performance_state(),
            throttle_active=self._throttle_active(),
            throttle_seconds=self._violations.read(fields),
            fan_speed_ratio=self._fan_speeds(),
            ecc_errors=_counts(fields, ECC_KEYS),
            retired_pages=_counts(fields, RETIRED_KEYS),
            retired_pages_pending=plausible.yes(fields.get("retired_pending")),
            remapped_rows=_counts(fields, REMAPPED_KEYS),
            row_remap_pending=plausible.yes(fields.get("remap_pending")),
            row_remap_failure=plausible.yes(fields.get("remap_failure")),
            pcie_link_generation=within(self._generation.number(), MAX_GENERATION),
            pcie_link_width=within(self._width.number(), MAX_WIDTH),
            pcie_replays=plausible.whole(fields.get("pcie_replays")),
            recovery_action=RECOVERY_ACTIONS.get(fields.get("recovery_action")),
            nvlinks=self._links.read(),
            processes=self._processes.read(),
        )

    def _enforced_if(self, fields: Mapping[str, float]) -> int | None:
        return None if "power_limit" in fields else self._enforced.number()

    def _average_power(self, fields: Mapping[str, float]) -> float | None:
        return fields["power_average"] if "power_average" in fields else self._power.number()

    def _energy_joules(self, fields: Mapping[str, float]) -> float | None:
        millijoules = fields["energy"] if "energy" in fields else self._energy.number()
        known = plausible.whole(millijoules)
        return None if known is None else known / 1000

    def _performance_state(self) -> int | None:
        state = self._state.number()
        return state if state is not None and state <= plausible.MAX_PERFORMANCE_STATE else None

    def _throttle_active(self) -> dict[str, bool]:
        mask = self._reasons.number()
        if mask is None:
            return {}
        supported = self._supported_reasons
        return {name: bool(mask & bit) for name, bit in THROTTLE_BITS.items() if supported is None or supported & bit}

    def _fan_speeds(self) -> dict[int, float]:
        speeds = {
            fan: plausible.ratio(reading.number(), plausible.MAX_FAN_PERCENT)
            for fan, reading in (self._fans or {}).items()
        }
        return {fan: speed for fan, speed in speeds.items() if speed is not None}


def _present(values: Mapping[str, int | None]) -> dict[str, int]:
    return {name: value for name, value in values.items() if value is not None}


def _module_power(fields: Mapping[str, float]) -> float | None:
    """Return the power of the whole module; drivers that do not know modules give the GPU's again."""
    for kind in ("average", "instant"):
        value = fields.get(f"module_power_{kind}")
        if value and value != fields.get(f"power_{kind}"):
            return value
    return None


def _counts(fields: Mapping[str, float], keys: Mapping[KeyT, str]) -> dict[KeyT, int]:
    found = {name: plausible.whole(fields.get(key)) for name, key in keys.items()}
    return {name: count for name, count in found.items() if count is not None}
