"""The kernel log as a source of XID events."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from vllmwatch.sources.kernel_log import (
    KernelIdentity,
    KernelLog,
    KernelRecord,
    KernelXid,
    LineReader,
    parse_record,
)
from vllmwatch.sources.xid import XidLedger, XidSource, XidTotal

OFF_BUS = "NVRM: fallen off the bus and is not responding to commands."
BOOT = 1_750_000_000.0
NOW = 1_750_000_500.0


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, "it did not happen within ten seconds"
        time.sleep(0.01)


def test_record_has_sequence_time_and_text() -> None:
    record = parse_record("4,8123,171000000123,-,caller=T77;NVRM: Xid (PCI:0000:3b:00): 31, a\\x0ab; c")
    assert record == KernelRecord(8123, 171_000.000123, "NVRM: Xid (PCI:0000:3b:00): 31, a\nb; c")


@pytest.mark.parametrize(
    "line", ["", " SUBSYSTEM=pci", " DEVICE=+pci:0000:3b:00.0", "4,12;x", "no;prefix", "4,a,b,-;x"]
)
def test_lines_without_a_prefix_are_no_records(line: str) -> None:
    assert parse_record(line) is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("NVRM: Xid (PCI:0000:3b:00): 119, pid=77, name=python3, Timeout of RPC", KernelXid("0000:3b:00", 119)),
        ("NVRM: Xid (0000:0a:00): 14, Channel 00000002", KernelXid("0000:0a:00", 14)),
        ("NVRM: Xid (PCI:0008:02:00): 149, NETIR_LINK_EVT Fatal XC0", KernelXid("0008:02:00", 149)),
        ("NVRM: Xid (PCI:0000:07:00 GPU-I:05): 94, pid=9, Contained: SM", KernelXid("0000:07:00", 94)),
        ("NVRM: Xid (PCI:0000:07:00.0): 63, Row Remapper", KernelXid("0000:07:00.0", 63)),
        ("NVRM: Xid (PCI:0000:05:00): 79, pid='<unknown>', GPU has fallen off the bus.", KernelXid("0000:05:00", 79)),
        ("[77.1] NVRM: Xid (PCI:0000:05:00): 45", KernelXid("0000:05:00", 45)),
        ("NVRM: GPU 0000:c8:00.0: GPU has fallen off the bus.", KernelXid("0000:c8:00.0", None)),
        (
            "NVRM: The NVIDIA GPU 0000:65:00.0\nNVRM: (PCI ID: 10de:2330) has\n" + OFF_BUS,
            KernelXid("0000:65:00.0", None),
        ),
        (
            "NVRM: GPU at PCI:0000:4f:00: GPU-7c4e1b9a-0f3d-4e52-8a61-d2b5c09e0000",
            KernelIdentity("0000:4f:00", "GPU-7c4e1b9a-0f3d-4e52-8a61-d2b5c09e0000"),
        ),
        ("nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 32", None),
        ("NVRM: GPU Board Serial Number: 1650223000004", None),
        ("NVRM: loading NVIDIA UNIX x86_64 Kernel Module  580.95.05", None),
        ("user: echoed NVRM: Xid (here): 79", None),
        ("usb 1-1: fallen off the bus", None),
    ],
)
def test_each_shape_of_line_is_known(text: str, found: KernelXid | KernelIdentity | None) -> None:
    assert LineReader().read(text) == found


def test_sentence_over_three_records_is_one_event() -> None:
    lines = LineReader()
    told = [
        lines.read("NVRM: The NVIDIA GPU 0000:65:00.0"),
        lines.read("NVRM: (PCI ID: 10de:2330) installed in this system has"),
        lines.read(OFF_BUS),
        lines.read(OFF_BUS),
    ]
    assert told == [None, None, KernelXid("0000:65:00.0", None), None]


def record(sequence: int, seconds: float, text: str) -> str:
    return f"3,{sequence},{int(seconds * 1e6)},-;{text}\n"


def test_events_since_boot_and_those_to_come_are_counted_once(tmp_path: Path) -> None:
    path = tmp_path / "kmsg"
    path.write_text(
        record(1, 3.1, "NVRM: Xid (PCI:0000:3b:00): 31, pid=1")
        + " SUBSYSTEM=pci\n"
        + record(2, 9.5, "eth0: link up")
        + record(3, 12.0, "NVRM: Xid (PCI:0000:3b:00): 31, pid=2")
        + record(4, 20.0, "NVRM: GPU 0000:3b:00.0: GPU has fallen off the bus.")
    )
    ledger = XidLedger()
    log = KernelLog(ledger, path=str(path), boot_time=lambda: BOOT, wall=lambda: NOW)
    log.start()
    place = "00000000:3b:00.0"
    before = {31: XidTotal(2, BOOT + 12.0), 79: XidTotal(1, BOOT + 20.0)}
    eventually(lambda: ledger.totals().unplaced.get(place) == before)
    assert ledger.totals().listening == {XidSource.KERNEL_LOG: True}
    with path.open("a") as file:
        file.write(record(5, 30.0, "NVRM: GPU at PCI:0000:3b:00: GPU-7c4e1b9a-0f3d-4e52-8a61-d2b5c09e0000"))
        file.write(record(6, 31.0, "NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed"))
    after = before | {154: XidTotal(1, NOW)}
    eventually(lambda: ledger.totals().by_uuid == {"GPU-7c4e1b9a-0f3d-4e52-8a61-d2b5c09e0000": after})
    log.close()


def test_records_that_are_read_again_are_counted_once(tmp_path: Path) -> None:
    path = tmp_path / "kmsg"
    first = record(7, 3.0, "NVRM: Xid (PCI:0000:3b:00): 31, pid=1") + record(
        8, 4.0, "NVRM: Xid (PCI:0000:3b:00): 31, x"
    )
    path.write_text(first + first + record(9, 5.0, "NVRM: Xid (PCI:0000:3b:00): 43, end"))
    ledger = XidLedger()
    log = KernelLog(ledger, path=str(path), boot_time=lambda: BOOT, wall=lambda: NOW)
    log.start()
    expected = {31: XidTotal(2, BOOT + 4.0), 43: XidTotal(1, BOOT + 5.0)}
    eventually(lambda: ledger.totals().unplaced.get("00000000:3b:00.0") == expected)
    log.close()


def test_records_that_arrive_in_pieces_are_put_together(tmp_path: Path) -> None:
    path = tmp_path / "kmsg"
    os.mkfifo(path)
    ledger = XidLedger()
    log = KernelLog(ledger, path=str(path), boot_time=lambda: BOOT, wall=lambda: NOW)
    log.start()
    whole = record(1, 5.0, "NVRM: Xid (PCI:0000:5d:00): 48, DBE") + record(2, 6.0, "NVRM: Xid (PCI:0000:5d:00): 63, x")
    time.sleep(1)  # long past the moment at which the backlog is read
    with path.open("w") as writer:
        for piece in (whole[:30], whole[30:70], whole[70:]):
            writer.write(piece)
            writer.flush()
            time.sleep(0.05)
    expected = {48: XidTotal(1, NOW), 63: XidTotal(1, NOW)}
    eventually(lambda: ledger.totals().unplaced.get("00000000:5d:00.0") == expected)
    log.close()


def test_event_told_by_both_is_one_though_the_clock_of_the_kernel_is_off(tmp_path: Path) -> None:
    path = tmp_path / "kmsg"
    path.write_text(record(1, 3.0, "NVRM: Xid (PCI:0000:3b:00): 43, before the start"))
    ledger = XidLedger()
    ledger.learn("GPU-7c4e1b9a-0f3d-4e52-8a61-d2b5c09e0000", "0000:3b:00")
    log = KernelLog(ledger, path=str(path), boot_time=lambda: BOOT, wall=lambda: NOW)
    log.start()

    def of_gpu() -> object:
        return ledger.totals().by_uuid.get("GPU-7c4e1b9a-0f3d-4e52-8a61-d2b5c09e0000")

    eventually(lambda: of_gpu() == {43: XidTotal(1, BOOT + 3.0)})
    time.sleep(1)  # long past the moment at which the backlog is read
    for _ in range(100):
        ledger.record("0000:3b:00", 94, NOW - 0.3, XidSource.NVML)
    with path.open("a") as file:
        for number in range(100):
            file.write(record(2 + number, NOW - BOOT - 12, "NVRM: Xid (PCI:0000:3b:00): 94, contained"))
        file.write(record(200, NOW - BOOT - 12, "NVRM: Xid (PCI:0000:3b:00): 13, the last"))
    eventually(lambda: 13 in ledger.totals().by_uuid["GPU-7c4e1b9a-0f3d-4e52-8a61-d2b5c09e0000"])
    log.close()
    assert of_gpu() == {43: XidTotal(1, BOOT + 3.0), 94: XidTotal(100, NOW - 0.3), 13: XidTotal(1, NOW)}


def test_log_that_cannot_be_read_is_a_state(tmp_path: Path) -> None:
    ledger = XidLedger()
    log = KernelLog(ledger, path=str(tmp_path / "absent"))
    log.start()
    eventually(lambda: ledger.totals().listening == {XidSource.KERNEL_LOG: False})
    began = time.monotonic()
    log.close()
    assert time.monotonic() - began < 2


def test_noise_without_line_ends_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "kmsg"
    path.write_text("x" * 3_000_000 + "\n" + record(1, 2.0, "NVRM: Xid (PCI:0000:5d:00): 62, y"))
    ledger = XidLedger()
    log = KernelLog(ledger, path=str(path), boot_time=lambda: BOOT, wall=lambda: NOW)
    log.start()
    eventually(lambda: ledger.totals().unplaced == {"00000000:5d:00.0": {62: XidTotal(1, BOOT + 2.0)}})
    log.close()


@pytest.mark.skipif(not os.access("/dev/kmsg", os.R_OK), reason="/dev/kmsg cannot be read here")
def test_the_real_kernel_log_is_read_without_a_fault(caplog: pytest.LogCaptureFixture) -> None:
    ledger = XidLedger()
    log = KernelLog(ledger)
    log.start()
    eventually(lambda: XidSource.KERNEL_LOG in ledger.totals().listening)
    time.sleep(1)  # long past the moment at which the backlog is read
    assert ledger.totals().listening[XidSource.KERNEL_LOG]
    log.close()
    assert caplog.records == []
