"""NvmlReader on the stand-in: every reading in base units, and every failure as data."""

import logging
from collections.abc import Callable, Iterator

import psutil
import pytest

from tests.fake_nvml.cards import MIB, uuid_of
from tests.fake_nvml.plugin import Calls, Host
from tests.fake_nvml.presets import (
    b200_host,
    cgroup_host,
    gb10_host,
    h100_host,
    h200_host,
    l4_host,
    mig_host,
    no_driver,
    no_gpu,
    rtx_host,
    sick_host,
    slow_host,
    v100_host,
)
from vllmwatch.sources.nvml import NvmlReader, NvmlSnapshot
from vllmwatch.sources.nvml.library import DownReason, pynvml
from vllmwatch.sources.nvml.snapshot import GpuFacts, GpuReadings, NvLinks

pytestmark = pytest.mark.fake_nvml


class Clock:
    """A monotonic clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def reader(clock: Clock) -> Iterator[NvmlReader]:
    made = NvmlReader(monotonic=clock)
    yield made
    made.close()


def errors_of(links: NvLinks, wanted: int) -> dict[str, int]:
    return {kind: count for (link, kind), count in links.errors.items() if link == wanted}


def readings(snapshot: NvmlSnapshot, gpu: int = 0) -> GpuReadings:
    found = snapshot.gpus[gpu].readings
    assert found is not None
    return found


def facts(snapshot: NvmlSnapshot, gpu: int = 0) -> GpuFacts:
    found = snapshot.gpus[gpu].facts
    assert found is not None
    return found


def ups(snapshot: NvmlSnapshot) -> dict[str, bool]:
    return {gpu.identity.uuid: gpu.up for gpu in snapshot.gpus}


def test_h100_identity_names_the_card_and_its_firmware(nvml_host: Host, reader: NvmlReader) -> None:
    nvml_host(h100_host())
    snapshot = reader.snapshot()
    assert (snapshot.up, snapshot.driver_version, snapshot.cuda_version) == (True, "580.95.05", "13.0")
    assert len(snapshot.gpus) == 8
    who = snapshot.gpus[3].identity
    assert (who.uuid, who.index, who.name) == (uuid_of(3), 3, "NVIDIA H100 80GB HBM3")
    assert (who.serial, who.pci_bus_id) == ("1650223000003", "00000000:4b:00.0")
    assert (who.architecture, who.compute_capability) == ("Hopper", "9.0")
    assert (who.vbios_version, who.gsp_firmware_version) == ("96.00.03.00.01", "580.95.05")


def test_h100_readings_are_in_base_units(nvml_host: Host, reader: NvmlReader) -> None:
    nvml_host(h100_host())
    read = readings(reader.snapshot(), 2)
    assert read.temperature_celsius == 56
    assert read.memory_temperature_celsius == 63
    assert read.temperature_margin_celsius == 31
    assert (read.power_watts, read.power_instant_watts) == (412.4, 437.8)
    assert read.module_power_watts is None
    assert read.power_limit_watts == 650
    assert read.energy_joules == 987_654_321.002
    assert (read.utilization_ratio, read.memory_activity_ratio) == (0.92, 0.42)
    assert (read.encoder_utilization_ratio, read.decoder_utilization_ratio) == (0.03, 0.07)
    assert read.memory is not None
    assert (read.memory.total_bytes, read.memory.used_bytes) == (81559 * MIB, 74210 * MIB)
    assert read.memory.reserved_bytes == 81559 * MIB // 170
    assert read.memory.free_bytes == 81559 * MIB - 74210 * MIB - 81559 * MIB // 170
    assert (read.bar1_used_bytes, read.bar1_total_bytes) == (7 * MIB, 128 * 1024 * MIB)
    megahertz = {"graphics": 1755, "sm": 1740, "memory": 2619, "video": 1545}
    assert read.clock_hertz == {domain: value * 1_000_000 for domain, value in megahertz.items()}
    assert read.performance_state == 0
    assert (read.pcie_link_generation, read.pcie_link_width, read.pcie_replays) == (5, 16, 6)
    assert read.recovery_action == "none"
    assert read.fan_speed_ratio == {}
    assert [process.pid for process in read.processes or ()] == [21002]


def test_h100_errors_and_throttling_are_split_by_kind(nvml_host: Host, reader: NvmlReader) -> None:
    nvml_host(h100_host())
    read = readings(reader.snapshot(), 1)
    assert read.ecc_errors == {
        ("corrected", "volatile"): 11,
        ("uncorrected", "volatile"): 0,
        ("corrected", "aggregate"): 201,
        ("uncorrected", "aggregate"): 1,
    }
    assert read.remapped_rows == {"corrected": 2, "uncorrected": 0}
    assert (read.row_remap_pending, read.row_remap_failure) == (False, False)
    assert [name for name, active in read.throttle_active.items() if active] == ["software_power_cap"]
    assert read.throttle_seconds == {
        "software_power_cap": 8123.456789001,
        "sync_boost": 0,
        "software_thermal_slowdown": 2,
        "hardware_thermal_slowdown": 0,
        "hardware_power_brake": 0.75,
        "board_limit": 0.25,
        "low_utilization": 9000,
        "reliability": 0,
    }
    links = read.nvlinks
    assert links.up == dict.fromkeys(range(18), True)
    assert errors_of(links, 5) == {"replay": 0, "recovery": 0, "crc": 2}
    assert len(links.errors) == 3 * 18
    assert links.transmit_bytes == {link: (4_000_000 + link) * 1024 for link in range(18)}
    assert links.receive_bytes == {link: (3_000_000 + link) * 1024 for link in range(18)}


def test_facts_hold_limits_modes_and_margins(nvml_host: Host, reader: NvmlReader) -> None:
    nvml_host(h100_host(1))
    found = facts(reader.snapshot())
    assert found.margin_thresholds_celsius == {"shutdown": -8, "slowdown": -2, "memory_max": 0, "gpu_max": 0}
    assert found.temperature_thresholds_celsius == {}
    limits = (found.power_limit_default_watts, found.power_limit_min_watts, found.power_limit_max_watts)
    assert limits == (700.0, 200.0, 700.0)
    assert found.clock_max_hertz["sm"] == 1_980_000_000
    assert (found.pcie_link_generation_max, found.pcie_link_width_max) == (5, 16)
    assert (found.persistence_mode, found.compute_mode, found.mig_mode) == (True, "default", False)
    assert (found.ecc_mode, found.gsp_firmware_enabled, found.unified_memory) == (True, True, False)


def test_geforce_card_leaves_out_what_it_does_not_have(nvml_host: Host, reader: NvmlReader) -> None:
    nvml_host(rtx_host())
    snapshot = reader.snapshot()
    read = readings(snapshot)
    assert snapshot.gpus[0].identity.serial is None
    assert read.memory_temperature_celsius is None
    assert read.temperature_margin_celsius is None
    assert (read.ecc_errors, read.remapped_rows, read.retired_pages) == ({}, {}, {})
    assert (read.row_remap_pending, read.retired_pages_pending) == (None, None)
    assert read.nvlinks == NvLinks({}, {}, {}, {})
    assert read.fan_speed_ratio == {0: 0.46, 1: 0.48}
    found = facts(snapshot)
    assert found.temperature_thresholds_celsius == {"shutdown": 99, "slowdown": 96, "gpu_max": 90}
    assert (found.ecc_mode, found.mig_mode, found.persistence_mode) == (None, None, False)


def test_one_pid_that_computes_and_draws_is_one_process(nvml_host: Host, reader: NvmlReader) -> None:
    state = nvml_host(rtx_host())
    state.set("process.3", f"gpu.0,graphics,5150,{20900 * MIB},-,-")
    snapshot = reader.snapshot()
    by_pid = {process.pid: process for process in readings(snapshot).processes or ()}
    assert set(by_pid) == {5150, 2210}
    assert (by_pid[5150].compute, by_pid[5150].graphics, by_pid[5150].memory_bytes) == (True, True, 20900 * MIB)
    assert (by_pid[2210].compute, by_pid[2210].graphics) == (False, True)
    unknown = readings(snapshot, 1).processes or ()
    assert [(process.pid, process.memory_bytes) for process in unknown] == [(5151, None)]


def test_many_processes_are_all_listed(nvml_host: Host, reader: NvmlReader) -> None:
    lines = h200_host() | {f"process.{i}": f"gpu.0,compute,{100 + i},{MIB},-,-" for i in range(150)}
    nvml_host(lines)
    for _ in range(2):
        assert {process.pid for process in readings(reader.snapshot()).processes or ()} == set(range(100, 250))


def test_old_card_answers_through_the_older_calls(nvml_host: Host, reader: NvmlReader) -> None:
    nvml_host(v100_host())
    snapshot = reader.snapshot()
    read = readings(snapshot)
    assert read.retired_pages == {"single_bit": 2, "double_bit": 1}
    assert read.retired_pages_pending is True
    assert read.power_limit_watts == 300
    assert read.throttle_seconds == {
        "software_power_cap": 0.5,
        "software_thermal_slowdown": 1.5,
        "sync_boost": 2.5,
        "board_limit": 3.5,
        "low_utilization": 4.5,
        "reliability": 5.5,
    }
    assert list(read.nvlinks.up.values()) == [True] * 5 + [False]
    assert errors_of(read.nvlinks, 2) == {"replay": 2, "recovery": 3, "crc": 102}
    thresholds = {"shutdown": 90, "slowdown": 87, "memory_max": 85, "gpu_max": 83}
    assert facts(snapshot).temperature_thresholds_celsius == thresholds


def test_temperature_is_read_by_the_newer_call_where_the_older_is_gone(nvml_host: Host, reader: NvmlReader) -> None:
    state = nvml_host(h200_host() | {"gpu.0.nvmlDeviceGetTemperatureV.0": "44"})
    state.fail("gpu.0.nvmlDeviceGetTemperature.0", 26)
    assert [readings(reader.snapshot()).temperature_celsius for _ in range(2)] == [44, 44]


def test_blackwell_links_and_module_power_are_read(nvml_host: Host, reader: NvmlReader) -> None:
    nvml_host(b200_host())
    read = readings(reader.snapshot())
    assert (read.power_watts, read.module_power_watts) == (744, 911)
    assert read.nvlinks.transmit_bytes[1] == 7 * 10**12 + 1
    assert read.nvlinks.receive_bytes[1] == 6 * 10**12 + 1
    assert errors_of(read.nvlinks, 1) == {"receive": 1, "transmit_discard": 0, "recovery": 4, "recovery_failed": 0}


def test_driver_that_ignores_the_scope_gives_no_module_power(nvml_host: Host, reader: NvmlReader) -> None:
    state = nvml_host(h200_host())
    state.lines |= {"gpu.0.field.185.1": "u32:518900", "gpu.0.field.186.1": "u32:544300"}
    state.write()
    assert readings(reader.snapshot()).module_power_watts is None


def test_links_of_ampere_have_field_numbers_of_their_own(nvml_host: Host, reader: NvmlReader) -> None:
    lines = {"gpu.0.field.91": "u32:12"}
    for link in range(12):
        first = {"replay": 46, "recovery": 53, "crc": 32} if link < 6 else {"replay": 102, "recovery": 108, "crc": 90}
        for number in first.values():
            lines[f"gpu.0.field.{number + link}"] = f"u64:{1000 * number + link}"
    nvml_host(h200_host() | lines)
    links = readings(reader.snapshot()).nvlinks
    assert errors_of(links, 5) == {"replay": 46005, "recovery": 53005, "crc": 32005}
    assert errors_of(links, 6) == {"replay": 102006, "recovery": 108006, "crc": 90006}
    assert errors_of(links, 11) == {"replay": 102011, "recovery": 108011, "crc": 90011}


@pytest.mark.parametrize(("state_code", "up"), [(0, False), (1, True), (2, True), (3, False)])
def test_link_is_up_when_active_or_asleep(nvml_host: Host, reader: NvmlReader, state_code: int, up: bool) -> None:
    nvml_host(h200_host() | {"gpu.0.field.91": "u32:1", "gpu.0.field.165.0": f"u32:{state_code}"})
    assert readings(reader.snapshot()).nvlinks.up == {0: up}


def test_throttle_reasons_that_the_card_lacks_are_absent(nvml_host: Host, reader: NvmlReader) -> None:
    nvml_host(h200_host() | {"gpu.0.nvmlDeviceGetSupportedClocksEventReasons": "0x5"})
    assert readings(reader.snapshot()).throttle_active == {"gpu_idle": False, "software_power_cap": True}


def test_unified_memory_is_marked_and_has_no_figures(nvml_host: Host, reader: NvmlReader) -> None:
    state = nvml_host(gb10_host())
    snapshot = reader.snapshot()
    assert facts(snapshot).unified_memory is True
    read = readings(snapshot)
    assert read.memory is None
    assert (read.temperature_celsius, read.power_watts) == (54, 9.7)
    assert [process.memory_bytes for process in read.processes or ()] == [52_000_000_000]
    reader.close()
    # Another driver gives the host's memory as if it were the card's.
    state.set("gpu.0.nvmlDeviceGetMemoryInfo", "128400000000,0,9100000000,7300000000")
    assert readings(reader.snapshot()).memory is None


def test_memory_sensor_that_reads_zero_is_absent(nvml_host: Host, reader: NvmlReader) -> None:
    nvml_host(l4_host())
    assert readings(reader.snapshot()).memory_temperature_celsius is None


ReadValue = Callable[[GpuReadings], object]


@pytest.mark.parametrize(
    ("key", "value", "read"),
    [
        ("nvmlDeviceGetTemperature.0", "4294967295", lambda r: r.temperature_celsius),
        ("nvmlDeviceGetTemperature.0", "215", lambda r: r.temperature_celsius),
        ("field.82", "u32:4294967295", lambda r: r.memory_temperature_celsius),
        ("field.82", "u32:255", lambda r: r.memory_temperature_celsius),
        ("nvmlDeviceGetMarginTemperature", "0", lambda r: r.temperature_margin_celsius),
        ("field.185.0", "u32:1400001", lambda r: r.power_watts),
        ("field.186.0", "u32:4294967295", lambda r: r.power_instant_watts),
        ("field.190.0", "u32:4294967295", lambda r: r.power_limit_watts),
        ("field.83", "u64:18446744073709551615", lambda r: r.energy_joules),
        ("nvmlDeviceGetUtilizationRates", "101,20", lambda r: r.utilization_ratio),
        ("nvmlDeviceGetUtilizationRates", "20,4294967295", lambda r: r.memory_activity_ratio),
        ("nvmlDeviceGetMemoryInfo", "1000,0,0,1001", lambda r: r.memory),
        ("nvmlDeviceGetMemoryInfo", "1000,0,1001,0", lambda r: r.memory),
        ("nvmlDeviceGetMemoryInfo", "1000,1001,0,0", lambda r: r.memory),
        ("nvmlDeviceGetBAR1MemoryInfo", "1000,0,1001", lambda r: r.bar1_used_bytes),
        ("nvmlDeviceGetClockInfo.1", "4294967295", lambda r: r.clock_hertz.get("sm")),
        ("nvmlDeviceGetPerformanceState", "32", lambda r: r.performance_state),
        ("nvmlDeviceGetCurrPcieLinkWidth", "0", lambda r: r.pcie_link_width),
        ("nvmlDeviceGetCurrPcieLinkGeneration", "4294967295", lambda r: r.pcie_link_generation),
        ("field.4", "u64:18446744073709551615", lambda r: r.ecc_errors.get(("uncorrected", "volatile"))),
        ("field.144", "u32:7", lambda r: r.row_remap_pending),
        ("field.230", "u32:99", lambda r: r.recovery_action),
        ("field.74", "u64:18446744073709551615", lambda r: r.throttle_seconds.get("software_power_cap")),
    ],
)
def test_sentinels_and_impossible_values_are_absent(
    nvml_host: Host, reader: NvmlReader, key: str, value: str, read: ReadValue
) -> None:
    state = nvml_host(h200_host())
    state.unset("gpu.0.nvmlDeviceGetEnforcedPowerLimit")  # else the older calls would give what the fields do not
    state.unset("gpu.0.nvmlDeviceGetTotalEnergyConsumption")
    assert read(readings(reader.snapshot())) is not None
    state.set(f"gpu.0.{key}", value)
    broken = readings(reader.snapshot())
    assert read(broken) is None
    assert broken.pcie_replays == 6  # the other readings go on


@pytest.mark.parametrize("code", [2, 3, 4, 6, 10, 13, 17, 21, 25, 26, 999])
def test_one_failing_call_costs_its_own_reading_only(nvml_host: Host, reader: NvmlReader, code: int) -> None:
    state = nvml_host(h200_host())
    state.fail("gpu.0.nvmlDeviceGetUtilizationRates", code)
    read = readings(reader.snapshot())
    assert (read.utilization_ratio, read.memory_activity_ratio) == (None, None)
    assert (read.temperature_celsius, read.power_watts) == (54, 518.9)


def test_what_is_not_supported_is_not_asked_again(
    nvml_host: Host, nvml_calls: Calls, reader: NvmlReader, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    nvml_host(rtx_host())
    reader.snapshot()
    first = [record.message for record in caplog.records]
    assert sum("field 82 of GPU 0" in message for message in first) == 1
    caplog.clear()
    nvml_calls.forget()
    for _ in range(5):
        reader.snapshot()
    assert nvml_calls.count("field.82") == 0
    assert nvml_calls.count("nvmlDeviceGetMarginTemperature") == 0
    assert nvml_calls.count("field.185") == 10
    assert caplog.records == []


def test_facts_that_are_refused_are_asked_for_once_until_the_driver_starts_anew(
    nvml_host: Host, nvml_calls: Calls, clock: Clock, reader: NvmlReader, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    state = nvml_host(rtx_host())
    refused = {"nvmlDeviceGetMigMode": 2, "nvmlDeviceGetGspFirmwareMode": 2, "field.1": 2}  # by two GPUs
    reader.snapshot()
    assert {name: nvml_calls.count(name) for name in refused} == refused
    assert sum("nvmlDeviceGetMigMode of GPU 1" in record.message for record in caplog.records) == 1
    caplog.clear()
    nvml_calls.forget()
    for _ in range(3):
        clock.now += 61
        reader.snapshot()
    assert {name: nvml_calls.count(name) for name in refused} == dict.fromkeys(refused, 0)
    assert nvml_calls.count("nvmlDeviceGetComputeMode") == 6
    assert caplog.records == []
    state.lose_driver()
    assert not reader.snapshot().up
    state.restore_driver()
    nvml_calls.forget()
    clock.now += 61
    assert reader.snapshot().up
    assert {name: nvml_calls.count(name) for name in refused} == refused


def test_transient_failure_is_asked_again(nvml_host: Host, reader: NvmlReader) -> None:
    state = nvml_host(h200_host())
    state.fail("gpu.0.nvmlDeviceGetUtilizationRates", 999)
    assert readings(reader.snapshot()).utilization_ratio is None
    state.set("gpu.0.nvmlDeviceGetUtilizationRates", "77,8")
    assert readings(reader.snapshot()).utilization_ratio == 0.77


def test_each_reading_costs_one_call(nvml_host: Host, nvml_calls: Calls, reader: NvmlReader) -> None:
    nvml_host(h100_host(1))
    reader.snapshot()
    nvml_calls.forget()
    reader.snapshot()
    once = ("Temperature", "UtilizationRates", "MemoryInfo_v2", "PerformanceState", "CurrPcieLinkWidth")
    assert {name: nvml_calls.count(f"nvmlDeviceGet{name}") for name in once} == dict.fromkeys(once, 1)
    assert nvml_calls.count("nvmlDeviceGetFieldValues") == 2  # the GPU's fields, and those of its links
    assert nvml_calls.count("field.185") == 1
    constant = ("Name", "Serial", "PciInfo_v3", "MaxClockInfo", "TemperatureThreshold", "MigMode", "ComputeMode")
    assert sum(nvml_calls.count(f"nvmlDeviceGet{name}") for name in constant) == 0


def test_facts_are_read_anew_after_a_while(nvml_host: Host, clock: Clock, reader: NvmlReader) -> None:
    state = nvml_host(h200_host())
    reader.snapshot()
    state.set("gpu.0.nvmlDeviceGetComputeMode", 3)
    clock.now += 59
    assert facts(reader.snapshot()).compute_mode == "default"
    clock.now += 2
    assert facts(reader.snapshot()).compute_mode == "exclusive_process"


def test_lost_gpu_stays_under_its_uuid_while_others_go_on(nvml_host: Host, reader: NvmlReader) -> None:
    state = nvml_host(h100_host(4))
    reader.snapshot()
    state.lose_gpu(1)
    snapshot = reader.snapshot()
    assert ups(snapshot) == {uuid_of(0): True, uuid_of(1): False, uuid_of(2): True, uuid_of(3): True}
    lost = snapshot.gpus[1]
    assert (lost.identity.index, lost.readings, lost.facts) == (1, None, None)
    assert readings(snapshot, 2).temperature_celsius == 56


def test_gpu_that_needs_a_reset_is_lost(nvml_host: Host, reader: NvmlReader) -> None:
    state = nvml_host(h100_host(2))
    reader.snapshot()
    state.fail("gpu.0.nvmlDeviceGetUtilizationRates", 16)
    assert ups(reader.snapshot()) == {uuid_of(0): False, uuid_of(1): True}


def test_field_that_says_lost_loses_the_gpu(nvml_host: Host, reader: NvmlReader) -> None:
    state = nvml_host(h100_host(2))
    reader.snapshot()
    state.fail("gpu.1.field.83", 15)
    assert ups(reader.snapshot()) == {uuid_of(0): True, uuid_of(1): False}


def test_gpu_whose_calls_are_all_refused_is_lost(nvml_host: Host, reader: NvmlReader) -> None:
    state = nvml_host(h100_host(2))
    reader.snapshot()
    state.lose_gpu(0, code=2)  # a handle from before a restart of the driver
    assert ups(reader.snapshot()) == {uuid_of(0): False, uuid_of(1): True}


def test_lost_gpu_that_returns_is_up_again(nvml_host: Host, reader: NvmlReader) -> None:
    state = nvml_host(h100_host(2))
    reader.snapshot()
    state.lose_gpu(1)
    reader.snapshot()
    state.unset("gpu.1.*")
    snapshot = reader.snapshot()
    assert snapshot.gpus[1].up
    assert readings(snapshot, 1).temperature_celsius == 55


def test_gpu_that_vanishes_from_the_count_stays_lost(nvml_host: Host, reader: NvmlReader) -> None:
    state = nvml_host(h100_host(4))
    reader.snapshot()
    lines = {key: value for key, value in h100_host(4).items() if not key.startswith("gpu.3.")}
    state.replace(lines | {"nvmlDeviceGetCount_v2": "3"})
    snapshot = reader.snapshot()
    assert ups(snapshot) == {uuid_of(0): True, uuid_of(1): True, uuid_of(2): True, uuid_of(3): False}
    assert snapshot.unidentified == 0


def test_known_gpu_that_no_longer_says_who_it_is_is_not_counted_twice(
    nvml_host: Host, clock: Clock, reader: NvmlReader
) -> None:
    state = nvml_host(h100_host(2))
    reader.snapshot()
    state.lose_gpu(1)
    reader.snapshot()
    clock.now += 61  # NVML is initialized anew, and the lost GPU has no handle any more
    snapshot = reader.snapshot()
    assert ups(snapshot) == {uuid_of(0): True, uuid_of(1): False}
    assert snapshot.unidentified == 0


def test_gpu_that_is_added_is_seen_at_once(nvml_host: Host, reader: NvmlReader) -> None:
    state = nvml_host(h100_host(1))
    reader.snapshot()
    state.replace(h100_host(2))
    assert ups(reader.snapshot()) == {uuid_of(0): True, uuid_of(1): True}


def test_gpu_lost_before_the_first_look_is_counted(nvml_host: Host, reader: NvmlReader) -> None:
    nvml_host(sick_host())
    snapshot = reader.snapshot()
    assert snapshot.unidentified == 1
    assert ups(snapshot) == {uuid_of(1): True, uuid_of(2): True, uuid_of(3): True}


def test_gpu_lost_before_the_first_look_is_found_after_its_reset(
    nvml_host: Host, clock: Clock, reader: NvmlReader
) -> None:
    state = nvml_host(sick_host())
    reader.snapshot()
    state.unset("gpu.0.*")
    clock.now += 61
    snapshot = reader.snapshot()
    assert (snapshot.unidentified, ups(snapshot)[uuid_of(0)]) == (0, True)


def test_lost_gpu_is_looked_for_ever_more_rarely(
    nvml_host: Host, nvml_calls: Calls, clock: Clock, reader: NvmlReader
) -> None:
    nvml_host(sick_host())
    reader.snapshot()
    nvml_calls.forget()
    for _ in range(360):
        clock.now += 10
        reader.snapshot()
    assert 3 <= nvml_calls.count("nvmlInit_v2") <= 8


def test_sick_gpus_show_what_ails_them(nvml_host: Host, reader: NvmlReader) -> None:
    nvml_host(sick_host())
    snapshot = reader.snapshot()
    hot, narrow, broken = (readings(snapshot, gpu) for gpu in range(3))
    assert (hot.temperature_celsius, hot.temperature_margin_celsius) == (91, -4)
    active = {name for name, on in hot.throttle_active.items() if on}
    assert active == {"hardware_slowdown", "software_thermal_slowdown", "hardware_thermal_slowdown"}
    assert hot.throttle_seconds["hardware_thermal_slowdown"] == 3600
    assert (narrow.pcie_link_width, narrow.pcie_replays) == (4, 1290)
    assert (narrow.nvlinks.up[7], narrow.nvlinks.errors[7, "crc"]) == (False, 55012)
    assert (broken.row_remap_pending, broken.row_remap_failure) == (True, True)
    assert broken.ecc_errors["uncorrected", "volatile"] == 3
    assert broken.recovery_action == "gpu_reset"


def test_cards_that_change_places_keep_their_uuid(nvml_host: Host, clock: Clock, reader: NvmlReader) -> None:
    state = nvml_host(h100_host(2))
    before = {gpu.identity.uuid: readings(reader.snapshot(), i) for i, gpu in enumerate(reader.snapshot().gpus)}
    state.lose_driver()
    reader.snapshot()
    swapped = {}
    for key, value in h100_host(2).items():
        for here, there in (("gpu.0", "gpu.1"), ("gpu.1", "gpu.0")):
            if key.startswith(f"{here}."):
                swapped[key.replace(here, there, 1)] = value
    state.replace(h100_host(2) | swapped)
    clock.now += 2
    snapshot = reader.snapshot()
    assert [(gpu.identity.uuid, gpu.identity.index) for gpu in snapshot.gpus] == [(uuid_of(1), 0), (uuid_of(0), 1)]
    assert readings(snapshot, 0).temperature_celsius == before[uuid_of(1)].temperature_celsius == 55


def test_driver_that_comes_late_is_found_without_a_restart(nvml_host: Host, clock: Clock, reader: NvmlReader) -> None:
    state = nvml_host(no_driver())
    snapshot = reader.snapshot()
    assert (snapshot.up, snapshot.down_reason, snapshot.gpus) == (False, DownReason.DRIVER_NOT_LOADED, ())
    state.replace(h200_host())
    assert not reader.snapshot().up  # not tried again within the second
    clock.now += 1.1
    assert reader.snapshot().up


def test_driver_that_vanishes_and_returns_keeps_the_gpus_known(
    nvml_host: Host, clock: Clock, reader: NvmlReader
) -> None:
    state = nvml_host(h100_host(2))
    reader.snapshot()
    state.lose_driver()
    down = reader.snapshot()
    assert (down.up, down.down_reason) == (False, DownReason.DRIVER_NOT_LOADED)
    assert ups(down) == {uuid_of(0): False, uuid_of(1): False}
    state.restore_driver()
    clock.now += 1.1
    assert ups(reader.snapshot()) == {uuid_of(0): True, uuid_of(1): True}


def test_missing_driver_is_tried_ever_more_rarely(
    nvml_host: Host, nvml_calls: Calls, clock: Clock, reader: NvmlReader
) -> None:
    nvml_host(no_driver())
    for _ in range(600):
        reader.snapshot()
        clock.now += 1
    assert 15 <= nvml_calls.count("nvmlInit_v2") <= 26


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (9, DownReason.DRIVER_NOT_LOADED),
        (18, DownReason.VERSION_MISMATCH),
        (4, DownReason.NO_PERMISSION),
        (999, DownReason.UNKNOWN_ERROR),
    ],
)
def test_each_failure_to_start_has_its_reason(
    nvml_host: Host, reader: NvmlReader, code: int, reason: DownReason
) -> None:
    nvml_host({"nvmlInit_v2": f"error:{code}"})
    assert reader.snapshot().down_reason is reason


def test_container_that_loses_its_devices_goes_down_and_comes_back(
    nvml_host: Host, clock: Clock, reader: NvmlReader
) -> None:
    state = nvml_host(h200_host())
    reader.snapshot()
    state.replace(cgroup_host() | {"*": "error:999"})
    assert reader.snapshot().down_reason is DownReason.UNKNOWN_ERROR
    clock.now += 1.1
    assert reader.snapshot().down_reason is DownReason.UNKNOWN_ERROR
    state.replace(h200_host())
    clock.now += 2.1
    assert reader.snapshot().up


def test_host_without_gpus_is_up_and_empty(nvml_host: Host, reader: NvmlReader) -> None:
    nvml_host(no_gpu())
    snapshot = reader.snapshot()
    assert (snapshot.up, snapshot.gpus, snapshot.unidentified) == (True, (), 0)


def test_library_is_given_back(nvml_host: Host, clock: Clock) -> None:
    nvml_host(h200_host())
    reader = NvmlReader(monotonic=clock)
    reader.snapshot()
    reader.close()
    with pytest.raises(pynvml.NVMLError) as raised:
        pynvml.nvmlDeviceGetCount()
    assert raised.value.value == pynvml.NVML_ERROR_UNINITIALIZED


def test_mig_instances_have_memory_processes_and_utilization(nvml_host: Host, reader: NvmlReader) -> None:
    nvml_host(mig_host())
    reader.snapshot()
    snapshot = reader.snapshot()
    large, small = snapshot.gpus[0].mig_instances
    assert (large.profile, large.gpu_instance, large.compute_instance) == ("3g.40gb", 2, 0)
    assert large.memory is not None
    assert (large.memory.total_bytes, large.memory.used_bytes) == (40448 * MIB, 29952 * MIB)
    assert large.utilization_ratio == 0.63
    assert [(process.pid, process.gpu_instance) for process in large.processes or ()] == [(8801, 2)]
    assert (small.profile, small.utilization_ratio, small.processes) == ("2g.20gb", 0, ())
    parent = readings(snapshot)
    assert (parent.utilization_ratio, parent.row_remap_pending, parent.power_watts) == (None, None, 301.2)


def test_first_look_at_a_mig_instance_has_no_utilization_yet(nvml_host: Host, reader: NvmlReader) -> None:
    nvml_host(mig_host())
    assert [mig.utilization_ratio for mig in reader.snapshot().gpus[0].mig_instances] == [None, None]


def test_mig_instance_that_is_destroyed_leaves_the_snapshot(nvml_host: Host, reader: NvmlReader) -> None:
    state = nvml_host(mig_host())
    reader.snapshot()
    state.unset("gpu.0.mig.0.nvmlDeviceGetUUID")
    assert [mig.profile for mig in reader.snapshot().gpus[0].mig_instances] == ["2g.20gb"]


def test_mig_instance_that_is_made_anew_does_not_continue_the_old_one(nvml_host: Host, reader: NvmlReader) -> None:
    state = nvml_host(mig_host())
    reader.snapshot()
    state.unset("gpu.0.mig.0.nvmlDeviceGetUUID")
    reader.snapshot()
    state.set("gpu.0.mig.0.nvmlDeviceGetUUID", "MIG-1f3a0c52-6a11-5c0e-9d0b-5b8e1a7c0009")
    assert reader.snapshot().gpus[0].mig_instances[0].utilization_ratio is None
    assert reader.snapshot().gpus[0].mig_instances[0].utilization_ratio == 0.63


def test_mig_without_performance_monitoring_has_no_utilization(nvml_host: Host, reader: NvmlReader) -> None:
    state = nvml_host(mig_host())
    state.unset("gpu.0.nvmlGpmQueryDeviceSupport")
    reader.snapshot()
    assert [mig.utilization_ratio for mig in reader.snapshot().gpus[0].mig_instances] == [None, None]


def test_gpu_that_leaves_mig_mode_is_asked_for_everything_again(
    nvml_host: Host, clock: Clock, reader: NvmlReader
) -> None:
    state = nvml_host(mig_host())
    assert readings(reader.snapshot()).utilization_ratio is None
    state.replace(h100_host(1))
    clock.now += 61
    snapshot = reader.snapshot()
    assert readings(snapshot).utilization_ratio == 0.9
    assert snapshot.gpus[0].mig_instances == ()


def test_gpu_that_leaves_mig_mode_says_at_once_what_it_refused_in_it(
    nvml_host: Host, clock: Clock, reader: NvmlReader
) -> None:
    lines = mig_host()
    del lines["gpu.0.nvmlDeviceGetMaxPcieLinkWidth"]
    state = nvml_host(lines)
    assert facts(reader.snapshot()).pcie_link_width_max is None
    state.replace(h100_host(1))
    clock.now += 61
    assert facts(reader.snapshot()).pcie_link_width_max == 16


def test_thousands_of_looks_keep_memory_flat(nvml_host: Host) -> None:
    process = psutil.Process()
    nvml_host(h100_host(1) | mig_host() | {"nvmlDeviceGetCount_v2": "1"})
    reader = NvmlReader(facts_interval_seconds=0.01)
    for _ in range(300):
        reader.snapshot()
    before = process.memory_info().rss
    for _ in range(2000):
        reader.snapshot()
    reader.close()
    assert process.memory_info().rss - before < 2 * MIB


def test_slow_driver_is_waited_for_and_its_time_is_told(nvml_host: Host) -> None:
    nvml_host(slow_host())
    reader = NvmlReader()
    snapshot = reader.snapshot()
    reader.close()
    assert 0.12 <= snapshot.read_seconds < 5
    assert [readings(snapshot, gpu).utilization_ratio for gpu in range(2)] == [0.9, 0.91]


def test_margins_that_come_without_a_sign_are_negative(nvml_host: Host, reader: NvmlReader) -> None:
    nvml_host(h200_host() | {"gpu.0.field.193": f"u32:{2**32 - 8}", "gpu.0.field.194": "i64:-2"})
    assert facts(reader.snapshot()).margin_thresholds_celsius == {
        "shutdown": -8,
        "slowdown": -2,
        "memory_max": 0,
        "gpu_max": 0,
    }
