"""GPU samples on the page: the contract with the catalogue both ways, and absence per case."""

import re
from collections.abc import Iterator, Mapping

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.fake_nvml.cards import MIB, uuid_of
from tests.fake_nvml.plugin import Host
from tests.fake_nvml.presets import (
    PRESETS,
    gb10_host,
    h100_host,
    l4_host,
    mig_host,
    no_driver,
    rtx_host,
    shared_mig_host,
    sick_host,
)
from vllmwatch.catalog import gpu_labels
from vllmwatch.catalog.gpu import METRICS
from vllmwatch.exporter.family import Families
from vllmwatch.exporter.gpu import add_gpus
from vllmwatch.sources.nvml import NvmlReader, NvmlSnapshot, tables
from vllmwatch.sources.nvml.library import DownReason
from vllmwatch.sources.xid import NO_XIDS, XidLedger, XidSource, XidTotals
from vllmwatch.spec.metric import Kind

pytestmark = pytest.mark.fake_nvml

NODE = "box"


@pytest.fixture
def reader() -> Iterator[NvmlReader]:
    made = NvmlReader(monotonic=iter(range(0, 10_000_000, 100)).__next__)
    yield made
    made.close()


def page(snapshot: NvmlSnapshot, xids: XidTotals = NO_XIDS) -> str:
    families = Families(METRICS)
    add_gpus(families, snapshot, xids, NODE)
    return families.take_text()


def samples(text: str) -> Mapping[tuple[str, frozenset[tuple[str, str]]], float]:
    """Return all samples by name and labels, less the node."""
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = dict(sample.labels)
            assert labels.pop("node") == NODE
            found[sample.name, frozenset(labels.items())] = sample.value
    return found


def value(text: str, name: str, gpu: int = 0, /, **labels: str) -> float | None:
    own = {"uuid": uuid_of(gpu), "gpu": str(gpu)} | labels
    return samples(text).get((f"vllmwatch_{name}", frozenset(own.items())))


def names(text: str) -> set[str]:
    return set(re.findall(r"^# TYPE (\S+) ", text, re.MULTILINE))


def some_xids() -> XidTotals:
    ledger = XidLedger()
    ledger.record(uuid_of(1), 79, 1_700_000_000.5, XidSource.NVML)
    ledger.record("GPU-never-shown", 31, 1_700_000_001.0, XidSource.KERNEL_LOG)
    ledger.record("0000:f1:00", 48, 1_700_000_002.0, XidSource.KERNEL_LOG)
    ledger.set_listening(XidSource.NVML, listening=True)
    ledger.set_listening(XidSource.KERNEL_LOG, listening=False)
    return ledger.totals()


def test_every_declared_metric_is_exported_in_some_state_and_nothing_else(nvml_host: Host) -> None:
    exported: set[str] = set()
    for name, preset in PRESETS.items():
        if name == "slow_host":
            continue
        nvml_host(preset())
        reader = NvmlReader()
        reader.snapshot()
        exported |= names(page(reader.snapshot(), some_xids()))
        reader.close()
    assert exported == {metric.name for metric in METRICS}


@pytest.mark.parametrize("preset", [name for name in PRESETS if name != "slow_host"])
def test_page_parses_and_its_closed_labels_hold(nvml_host: Host, reader: NvmlReader, preset: str) -> None:
    nvml_host(PRESETS[preset]())
    reader.snapshot()
    text = page(reader.snapshot(), some_xids())
    declared = {metric.name: metric for metric in METRICS}
    for family in text_string_to_metric_families(text):
        metric = declared[family.name + ("_total" if family.type == "counter" else "")]
        assert family.type == metric.kind
        for sample in family.samples:
            assert list(sample.labels) == [label.name for label in metric.labels]
            for label in metric.labels:
                assert not label.values or sample.labels[label.name] in label.values, (sample.name, label.name)
            assert metric.kind is not Kind.COUNTER or sample.value >= 0


def test_h100_values_are_on_the_page(nvml_host: Host, reader: NvmlReader) -> None:
    nvml_host(h100_host(2))
    text = page(reader.snapshot())
    assert samples(text)["vllmwatch_nvml_up", frozenset()] == 1
    assert value(text, "gpu_up", 1) == 1
    assert value(text, "gpu_temperature_celsius", 1) == 55
    assert value(text, "gpu_memory_temperature_celsius", 1) == 62
    assert value(text, "gpu_temperature_margin_threshold_celsius", 1, kind="shutdown") == -8
    assert value(text, "gpu_power_watts", 1) == 412.4
    assert value(text, "gpu_power_instant_watts", 1) == 437.8
    assert value(text, "gpu_power_limit_watts", 1) == 650
    assert value(text, "gpu_energy_joules_total", 1) == 987_654_321.001
    assert value(text, "gpu_utilization_ratio", 1) == 0.91
    assert value(text, "gpu_memory_activity_ratio", 1) == 0.41
    assert value(text, "gpu_memory_used_bytes", 1) == 74210 * MIB
    assert value(text, "gpu_memory_total_bytes", 1) == 81559 * MIB
    assert value(text, "gpu_clock_hertz", 1, domain="sm") == 1_740_000_000
    assert value(text, "gpu_clock_max_hertz", 1, domain="sm") == 1_980_000_000
    assert value(text, "gpu_throttle_active", 1, reason="software_power_cap") == 1
    assert value(text, "gpu_throttle_active", 1, reason="hardware_thermal_slowdown") == 0
    assert value(text, "gpu_throttle_seconds_total", 1, reason="hardware_power_brake") == 0.75
    assert value(text, "gpu_ecc_errors_total", 1, kind="corrected", lifetime="aggregate") == 201
    assert value(text, "gpu_nvlink_up", 1, link="17") == 1
    assert value(text, "gpu_nvlink_transmit_bytes_total", 1, link="17") == 4_000_017 * 1024
    assert value(text, "gpu_nvlink_errors_total", 1, link="17", kind="crc") == 2
    assert value(text, "gpu_processes", 1) == 1
    assert value(text, "gpu_process_memory_bytes", 1) == 73700 * MIB
    assert value(text, "gpu_compute_mode", 1, mode="default") == 1
    assert value(text, "gpu_recovery_action", 1, action="none") == 1


def test_info_names_the_card(nvml_host: Host, reader: NvmlReader) -> None:
    nvml_host(h100_host(1))
    text = page(reader.snapshot())
    who = {
        "name": "NVIDIA H100 80GB HBM3",
        "serial": "1650223000000",
        "pci_bus_id": "00000000:18:00.0",
        "architecture": "Hopper",
        "compute_capability": "9.0",
        "vbios_version": "96.00.00.00.01",
        "gsp_firmware_version": "580.95.05",
    }
    assert value(text, "gpu_info", 0, **who) == 1


@pytest.mark.parametrize(
    "name",
    [
        "gpu_memory_temperature_celsius",
        "gpu_temperature_margin_celsius",
        "gpu_ecc_errors_total",
        "gpu_ecc_mode",
        "gpu_retired_pages",
        "gpu_row_remap_pending",
        "gpu_row_remap_failure",
        "gpu_nvlink_up",
        "gpu_mig_mode",
        "gpu_module_power_watts",
        "gpu_gsp_firmware_enabled",
    ],
)
def test_geforce_cards_have_no_sample_of_what_they_lack(nvml_host: Host, reader: NvmlReader, name: str) -> None:
    nvml_host(rtx_host())
    text = page(reader.snapshot())
    assert f"vllmwatch_{name}" not in names(text)
    assert value(text, "gpu_fan_speed_ratio", 1, fan="1") == 0.48


def test_memory_of_processes_is_absent_when_one_is_unknown(nvml_host: Host, reader: NvmlReader) -> None:
    nvml_host(rtx_host())
    text = page(reader.snapshot())
    assert value(text, "gpu_process_memory_bytes", 0) == (20900 + 310) * MIB
    assert value(text, "gpu_processes", 1) == 1
    assert value(text, "gpu_process_memory_bytes", 1) is None


def test_passive_card_has_no_fan(nvml_host: Host, reader: NvmlReader) -> None:
    nvml_host(l4_host())
    found = names(page(reader.snapshot()))
    assert "vllmwatch_gpu_power_watts" in found
    assert "vllmwatch_gpu_fan_speed_ratio" not in found


def test_unified_memory_leaves_no_memory_and_says_so(nvml_host: Host, reader: NvmlReader) -> None:
    nvml_host(gb10_host())
    text = page(reader.snapshot())
    assert value(text, "gpu_unified_memory") == 1
    assert not {name for name in names(text) if name.startswith("vllmwatch_gpu_memory_")} - {
        "vllmwatch_gpu_memory_activity_ratio"
    }
    assert value(text, "gpu_process_memory_bytes") == 52_000_000_000


def test_vanished_gpu_leaves_up_0_and_who_it_was_alone(nvml_host: Host, reader: NvmlReader) -> None:
    state = nvml_host(h100_host(2))
    reader.snapshot()
    state.lose_gpu(1)
    text = page(reader.snapshot(), some_xids())
    lost = {name for name, labels in samples(text) if ("uuid", uuid_of(1)) in labels}
    assert lost == {
        "vllmwatch_gpu_up",
        "vllmwatch_gpu_info",
        "vllmwatch_gpu_xid_errors_total",
        "vllmwatch_gpu_xid_last_timestamp_seconds",
    }
    assert (value(text, "gpu_up", 1), value(text, "gpu_up", 0)) == (0, 1)
    assert value(text, "gpu_temperature_celsius", 0) == 54


def test_driver_that_is_down_leaves_reason_and_known_gpus(nvml_host: Host, reader: NvmlReader) -> None:
    state = nvml_host(h100_host(1))
    reader.snapshot()
    state.lose_driver()
    text = page(reader.snapshot())
    assert samples(text)["vllmwatch_nvml_up", frozenset()] == 0
    assert samples(text)["vllmwatch_nvml_error", frozenset({("reason", "driver_not_loaded")})] == 1
    assert names(text) == {
        "vllmwatch_nvml_up",
        "vllmwatch_nvml_error",
        "vllmwatch_gpu_info",
        "vllmwatch_gpu_up",
    }
    assert value(text, "gpu_up") == 0


def test_host_without_driver_has_two_series(nvml_host: Host, reader: NvmlReader) -> None:
    nvml_host(no_driver())
    assert len(samples(page(reader.snapshot()))) == 2


def test_sick_host_shows_each_fault(nvml_host: Host, reader: NvmlReader) -> None:
    nvml_host(sick_host())
    text = page(reader.snapshot())
    assert samples(text)["vllmwatch_nvml_unidentified_gpus", frozenset()] == 1
    assert value(text, "gpu_throttle_active", 1, reason="hardware_thermal_slowdown") == 1
    assert (value(text, "gpu_pcie_link_width", 2), value(text, "gpu_pcie_link_width_max", 2)) == (4, 16)
    assert value(text, "gpu_nvlink_up", 2, link="7") == 0
    assert (value(text, "gpu_row_remap_failure", 3), value(text, "gpu_row_remap_pending", 3)) == (1, 1)
    assert value(text, "gpu_ecc_errors_total", 3, kind="uncorrected", lifetime="volatile") == 3
    assert value(text, "gpu_recovery_action", 3, action="gpu_reset") == 1


def test_mig_instances_stand_apart_from_their_gpu(nvml_host: Host, reader: NvmlReader) -> None:
    nvml_host(mig_host())
    reader.snapshot()
    text = page(reader.snapshot())
    mig = {"uuid": "MIG-1f3a0c52-6a11-5c0e-9d0b-5b8e1a7c0001", "parent_uuid": uuid_of(0), "profile": "3g.40gb"}
    found = samples(text)
    assert found["vllmwatch_mig_memory_used_bytes", frozenset(mig.items())] == 29952 * MIB
    assert found["vllmwatch_mig_memory_total_bytes", frozenset(mig.items())] == 40448 * MIB
    assert found["vllmwatch_mig_utilization_ratio", frozenset(mig.items())] == 0.63
    assert found["vllmwatch_mig_processes", frozenset(mig.items())] == 1
    numbers = mig | {"gpu_instance": "2", "compute_instance": "0"}
    assert found["vllmwatch_mig_instance_info", frozenset(numbers.items())] == 1
    assert value(text, "gpu_utilization_ratio") is None
    assert [name for name, labels in found if "MIG-" in str(labels) and "_gpu_" in name] == []


def test_memory_that_compute_instances_share_is_counted_once(nvml_host: Host, reader: NvmlReader) -> None:
    nvml_host(shared_mig_host())
    found = samples(page(reader.snapshot()))
    for part, of_both in (("total", 40448 + 20096), ("used", 29952 + 38), ("reserved", 24 + 24)):
        of_part = {
            dict(labels)["profile"]: held for (name, labels), held in found.items() if f"mig_memory_{part}" in name
        }
        assert of_part.keys() == {"2c.3g.40gb", "2g.20gb"}  # the compute instance 0 of each GPU instance
        assert sum(of_part.values()) == of_both * MIB
    infos = [dict(labels) for name, labels in found if name == "vllmwatch_mig_instance_info"]
    assert {info["profile"] for info in infos} == {"1c.3g.40gb", "2c.3g.40gb", "2g.20gb"}
    processes = {
        dict(labels)["profile"]: held for (name, labels), held in found.items() if name.endswith("mig_processes")
    }
    assert processes == {"1c.3g.40gb": 0, "2c.3g.40gb": 1, "2g.20gb": 0}


def test_instances_of_unknown_number_keep_their_memory(nvml_host: Host, reader: NvmlReader) -> None:
    nvml_host(mig_host() | {f"gpu.0.mig.{index}.nvmlDeviceGetGpuInstanceId": "error:3" for index in range(2)})
    found = samples(page(reader.snapshot()))
    assert sum(name == "vllmwatch_mig_memory_total_bytes" for name, _ in found) == 2


def test_xids_are_counted_by_gpu_and_by_address(nvml_host: Host, reader: NvmlReader) -> None:
    nvml_host(h100_host(2))
    text = page(reader.snapshot(), some_xids())
    found = samples(text)
    assert value(text, "gpu_xid_errors_total", 1, xid="79") == 1
    assert value(text, "gpu_xid_last_timestamp_seconds", 1, xid="79") == 1_700_000_000.5
    unknown = frozenset({("uuid", "GPU-never-shown"), ("gpu", ""), ("xid", "31")})
    assert found["vllmwatch_gpu_xid_errors_total", unknown] == 1
    address = frozenset({("pci_bus_id", "00000000:f1:00.0"), ("xid", "48")})
    assert found["vllmwatch_xid_unplaced_total", address] == 1
    assert found["vllmwatch_xid_source_up", frozenset({("source", "nvml")})] == 1
    assert found["vllmwatch_xid_source_up", frozenset({("source", "kernel_log")})] == 0


def test_catalogue_and_source_use_the_same_words() -> None:
    assert set(gpu_labels.NVML_REASON.values) == set(DownReason)
    assert set(gpu_labels.THROTTLE_REASON.values) == set(tables.THROTTLE_BITS)
    timed = {field.key.removeprefix("throttle.") for field in tables.THROTTLE_FIELDS}
    assert set(gpu_labels.THROTTLE_TIME_REASON.values) == timed
    assert set(gpu_labels.CLOCK_DOMAIN.values) == set(tables.CLOCK_DOMAINS)
    assert set(gpu_labels.TEMPERATURE_KIND.values) == set(tables.TEMPERATURE_THRESHOLDS)
    assert set(gpu_labels.RECOVERY_ACTION.values) == set(tables.RECOVERY_ACTIONS.values())
    assert set(gpu_labels.COMPUTE_MODE.values) == set(tables.COMPUTE_MODES.values())
    assert set(gpu_labels.XID_SOURCE.values) == {XidSource.NVML, XidSource.KERNEL_LOG}


FIXED_NAMES = """
gpu_info gpu_up gpu_temperature_celsius gpu_memory_temperature_celsius gpu_temperature_threshold_celsius gpu_power_watts
gpu_power_instant_watts gpu_power_limit_watts gpu_energy_joules_total gpu_utilization_ratio gpu_memory_activity_ratio
gpu_memory_used_bytes gpu_memory_free_bytes gpu_memory_reserved_bytes gpu_memory_total_bytes gpu_clock_hertz
gpu_clock_max_hertz gpu_throttle_active gpu_throttle_seconds_total gpu_fan_speed_ratio gpu_ecc_errors_total
gpu_row_remap_pending gpu_row_remap_failure gpu_pcie_link_width gpu_pcie_link_width_max gpu_nvlink_up
gpu_xid_errors_total gpu_xid_last_timestamp_seconds nvml_up
"""


def test_names_that_users_lean_on_are_declared() -> None:
    declared = {metric.name for metric in METRICS}
    assert {f"vllmwatch_{name}" for name in FIXED_NAMES.split()} <= declared


def test_every_gpu_metric_leads_with_node_uuid_and_index() -> None:
    for metric in METRICS:
        if metric.name.startswith("vllmwatch_gpu_"):
            assert [label.name for label in metric.labels[:3]] == ["node", "uuid", "gpu"], metric.name
