"""XID events through NVML: counted once each, by GPU, through losses of GPUs and drivers."""

import time
from collections.abc import Callable, Iterator, Mapping

import pytest

from tests.fake_nvml.cards import uuid_of
from tests.fake_nvml.plugin import Host
from tests.fake_nvml.presets import h100_host
from vllmwatch.sources.nvml import NvmlReader
from vllmwatch.sources.xid import XidLedger, XidSource

pytestmark = pytest.mark.fake_nvml


@pytest.fixture
def ledger() -> XidLedger:
    return XidLedger()


@pytest.fixture
def now() -> list[float]:
    return [1000.0]


@pytest.fixture
def reader(ledger: XidLedger, now: list[float]) -> Iterator[NvmlReader]:
    made = NvmlReader(ledger=ledger, monotonic=lambda: now[0], wall=lambda: 1_700_000_000.0)
    yield made
    made.close()


def counts(ledger: XidLedger) -> Mapping[tuple[str, int], int]:
    totals = ledger.totals().by_uuid
    return {(uuid, xid): total.count for uuid, by_code in totals.items() for xid, total in by_code.items()}


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, "it did not happen within ten seconds"
        time.sleep(0.01)


def test_each_event_is_counted_for_its_gpu_and_code(nvml_host: Host, reader: NvmlReader, ledger: XidLedger) -> None:
    state = nvml_host(h100_host(3))
    reader.snapshot()
    for gpu, xid in ((0, 31), (2, 79), (0, 31), (0, 94)):
        state.raise_xid(gpu, xid)
    expected = {(uuid_of(0), 31): 2, (uuid_of(0), 94): 1, (uuid_of(2), 79): 1}
    eventually(lambda: counts(ledger) == expected)
    assert ledger.totals().by_uuid[uuid_of(2)][79].last_timestamp_seconds == 1_700_000_000.0
    assert ledger.totals().listening == {XidSource.NVML: True}


def test_events_before_the_first_look_are_not_told_by_nvml(
    nvml_host: Host, reader: NvmlReader, ledger: XidLedger
) -> None:
    state = nvml_host(h100_host(1))
    state.raise_xid(0, 48)
    reader.snapshot()
    state.raise_xid(0, 13)
    eventually(lambda: counts(ledger) == {(uuid_of(0), 13): 1})


def test_events_are_heard_after_the_driver_returned(
    nvml_host: Host, reader: NvmlReader, ledger: XidLedger, now: list[float]
) -> None:
    state = nvml_host(h100_host(1))
    reader.snapshot()
    state.lose_driver()
    reader.snapshot()
    assert ledger.totals().listening == {XidSource.NVML: False}
    state.restore_driver()
    now[0] += 1.1
    reader.snapshot()
    state.raise_xid(0, 95)
    eventually(lambda: counts(ledger) == {(uuid_of(0), 95): 1})
    assert ledger.totals().listening == {XidSource.NVML: True}


def test_lost_gpu_does_not_deafen_the_others(nvml_host: Host, reader: NvmlReader, ledger: XidLedger) -> None:
    state = nvml_host(h100_host(2))
    reader.snapshot()
    state.fail("nvmlEventSetWait_v2", 15)
    time.sleep(0.6)
    state.unset("nvmlEventSetWait_v2")
    state.raise_xid(1, 119)
    eventually(lambda: counts(ledger) == {(uuid_of(1), 119): 1})


def test_cards_without_events_are_said_not_to_be_heard(nvml_host: Host, reader: NvmlReader, ledger: XidLedger) -> None:
    state = nvml_host(h100_host(1))
    state.unset("gpu.0.nvmlDeviceGetSupportedEventTypes")
    assert reader.snapshot().up
    assert ledger.totals().listening == {XidSource.NVML: False}


def test_close_ends_the_thread_within_two_seconds(nvml_host: Host, ledger: XidLedger) -> None:
    nvml_host(h100_host(1))
    reader = NvmlReader(ledger=ledger)
    reader.snapshot()
    began = time.monotonic()
    reader.close()
    assert time.monotonic() - began < 2


def test_pci_addresses_from_the_kernel_log_find_their_gpu(
    nvml_host: Host, reader: NvmlReader, ledger: XidLedger
) -> None:
    nvml_host(h100_host(2))
    ledger.record("PCI:0000:29:00", 63, 1_600_000_000.0, XidSource.KERNEL_LOG)
    assert ledger.totals().unplaced == {"00000000:29:00.0": {63: ledger.totals().unplaced["00000000:29:00.0"][63]}}
    reader.snapshot()
    assert counts(ledger) == {(uuid_of(1), 63): 1}
    assert ledger.totals().unplaced == {}
