"""The ledger of XID events."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vllmwatch.sources.xid import (
    MAX_RECENT,
    MAX_SERIES,
    XidLedger,
    XidSource,
    XidTotal,
    normal_pci_address,
)

GPU = "GPU-7c4e1b9a-0f3d-4e52-8a61-d2b5c09e0000"
OTHER = "GPU-7c4e1b9a-0f3d-4e52-8a61-d2b5c09e0001"
NVML, KERNEL, BARE = XidSource.NVML, XidSource.KERNEL_LOG, XidSource.KERNEL_LOG_WITHOUT_CODE


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("0000:4f:00", "00000000:4f:00.0"),
        ("PCI:0000:5d:00", "00000000:5d:00.0"),
        ("0000:E3:00.0", "00000000:e3:00.0"),
        ("00000000:18:00.0", "00000000:18:00.0"),
        ("0008:02:00", "00000008:02:00.0"),
        ("00010000:01:00.0", "00010000:01:00.0"),
        (GPU, None),
        ("44:00", None),
        ("", None),
    ],
)
def test_pci_addresses_have_one_form(text: str, address: str | None) -> None:
    assert normal_pci_address(text) == address


def total(ledger: XidLedger, xid: int, gpu: str = GPU) -> XidTotal | None:
    return ledger.totals().by_uuid.get(gpu, {}).get(xid)


@pytest.mark.parametrize(("apart", "count"), [(0.0, 1), (4.9, 1), (-4.9, 1), (5.1, 2)])
def test_two_sources_within_five_seconds_tell_one_event(apart: float, count: int) -> None:
    ledger = XidLedger()
    ledger.record(GPU, 31, 100.0, NVML)
    ledger.record(GPU, 31, 100.0 + apart, KERNEL)
    assert total(ledger, 31) == XidTotal(count, 100.0 if count == 1 else max(100.0, 100.0 + apart))


def test_one_source_tells_each_event_once() -> None:
    ledger = XidLedger()
    for _ in range(3):
        ledger.record(GPU, 31, 100.0, KERNEL)
    for _ in range(3):
        ledger.record(GPU, 31, 101.0, NVML)
    assert total(ledger, 31) == XidTotal(3, 100.0)


def test_events_differ_by_gpu_and_by_code() -> None:
    ledger = XidLedger()
    ledger.record(GPU, 31, 1.0, NVML)
    ledger.record(GPU, 43, 1.0, KERNEL)
    ledger.record(OTHER, 31, 1.0, KERNEL)
    assert (total(ledger, 31), total(ledger, 43), total(ledger, 31, OTHER)) == (XidTotal(1, 1.0),) * 3


def test_gpu_that_falls_off_the_bus_without_a_code_is_79_once() -> None:
    ledger = XidLedger()
    ledger.record(GPU, 79, 100.0, KERNEL)
    for seconds in (100.0, 130.0, 3000.0):
        ledger.record(GPU, 79, seconds, BARE)
    assert total(ledger, 79) == XidTotal(1, 100.0)
    ledger.record(GPU, 79, 100.0 + 3601, BARE)
    assert total(ledger, 79) == XidTotal(2, 3701.0)


def test_address_becomes_the_gpu_that_is_found_there() -> None:
    ledger = XidLedger()
    ledger.record("PCI:0000:4f:00", 79, 50.0, KERNEL)
    ledger.record(GPU, 79, 400.0, NVML)
    assert ledger.totals().unplaced == {"00000000:4f:00.0": {79: XidTotal(1, 50.0)}}
    ledger.learn(GPU, "00000000:4f:00.0")
    assert ledger.totals().unplaced == {}
    assert total(ledger, 79) == XidTotal(2, 400.0)
    ledger.record("0000:4f:00.0", 79, 401.0, KERNEL)
    assert total(ledger, 79) == XidTotal(2, 400.0)


def test_card_in_the_place_of_another_starts_anew() -> None:
    ledger = XidLedger()
    ledger.learn(GPU, "0000:4f:00.0")
    ledger.record("0000:4f:00", 48, 10.0, KERNEL)
    ledger.learn(OTHER, "0000:4f:00.0")
    ledger.record("0000:4f:00", 48, 900.0, KERNEL)
    assert (total(ledger, 48), total(ledger, 48, OTHER)) == (XidTotal(1, 10.0), XidTotal(1, 900.0))


def test_ledger_is_bounded() -> None:
    ledger = XidLedger()
    for xid in range(MAX_SERIES + 500):
        ledger.record(GPU, xid, 1.0, KERNEL)
    assert len(ledger.totals().by_uuid[GPU]) == MAX_SERIES
    ledger.record(GPU, 3, 100.0, KERNEL)
    assert total(ledger, 3) == XidTotal(2, 100.0)


def test_ten_thousand_events_of_one_code_are_all_counted() -> None:
    ledger = XidLedger()
    for second in range(10_000):
        ledger.record(GPU, 31, second * 10.0, KERNEL)
        ledger.record(GPU, 31, second * 10.0 + 0.2, NVML)
    assert total(ledger, 31) == XidTotal(10_000, 99_990.0)


@pytest.mark.parametrize(("first", "second"), [(NVML, KERNEL), (KERNEL, NVML)])
def test_burst_told_by_both_is_counted_once(first: XidSource, second: XidSource) -> None:
    ledger = XidLedger()
    for source in (first, second):
        for number in range(MAX_RECENT):
            ledger.record(GPU, 94, 100.0 + number * 0.01, source)
    assert total(ledger, 94) == XidTotal(MAX_RECENT, 100.0 + (MAX_RECENT - 1) * 0.01)
    ledger.record(GPU, 94, 111.0, second)
    assert total(ledger, 94) == XidTotal(MAX_RECENT + 1, 111.0)


def test_longest_of_bursts_keeps_memory_bounded() -> None:
    ledger = XidLedger()
    for number in range(4 * MAX_RECENT):
        ledger.record(GPU, 94, float(number), KERNEL)
    assert len(ledger._series[GPU, 94].recent) == MAX_RECENT
    assert total(ledger, 94) == XidTotal(4 * MAX_RECENT, 4.0 * MAX_RECENT - 1)


def test_threads_lose_no_event() -> None:
    ledger = XidLedger()

    def tell(xid: int) -> None:
        for second in range(2000):
            ledger.record(GPU, xid, float(second), KERNEL)

    threads = [threading.Thread(target=tell, args=(31,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = total(ledger, 31)
    assert found is not None
    assert found.count == 8000


@given(st.lists(st.tuples(st.integers(0, 400), st.sampled_from([NVML, KERNEL])), max_size=60))
def test_count_is_between_the_louder_source_and_both_together(events: list[tuple[int, XidSource]]) -> None:
    ledger = XidLedger()
    for seconds, source in events:
        ledger.record(GPU, 13, float(seconds), source)
    by_source = [sum(source is each for _, source in events) for each in (NVML, KERNEL)]
    found = total(ledger, 13)
    count = found.count if found else 0
    assert max(by_source) <= count <= sum(by_source)


def test_events_told_of_by_address_and_by_uuid_are_one_when_the_two_are_learnt_to_be_one_gpu() -> None:
    ledger = XidLedger()
    ledger.record("0000:3b:00", 79, 1000.0, XidSource.KERNEL_LOG)
    ledger.record("0000:3b:00", 79, 2000.0, XidSource.KERNEL_LOG)
    ledger.record("GPU-1", 79, 1001.0, XidSource.NVML)
    ledger.learn("GPU-1", "0000:3b:00")
    assert ledger.totals().by_uuid["GPU-1"] == {79: XidTotal(2, 2000.0)}
    assert ledger.totals().unplaced == {}
