"""A driver that hangs, fails or comes back, as the exporter sees it."""

import threading
import time

import pytest

from vllmwatch.exporter.gpu_watch import GpuWatch
from vllmwatch.sources.nvml.library import DownReason
from vllmwatch.sources.nvml.snapshot import GpuIdentity, GpuSnapshot, NvmlSnapshot

HEALTHY = NvmlSnapshot(True, None, (GpuSnapshot(GpuIdentity("GPU-1", 0), up=True),), 0, "590.1", "13.0", 0.01)


class Driver:
    """A stand-in for a reader of GPUs whose next looks are told."""

    def __init__(self) -> None:
        self.release = threading.Event()
        self.release.set()
        self.looks = 0
        self.fault: Exception | None = None
        self.closed = threading.Event()

    def snapshot(self) -> NvmlSnapshot:
        self.looks += 1
        self.release.wait(10)
        if self.fault is not None:
            raise self.fault
        return HEALTHY

    def close(self) -> None:
        self.closed.set()


def test_a_quick_driver_is_read_each_time() -> None:
    driver = Driver()
    watch = GpuWatch(driver, None)
    assert watch.finish(watch.begin(), 5) is HEALTHY
    assert watch.finish(watch.begin(), 5) is HEALTHY
    assert driver.looks == 2
    watch.close()
    assert driver.closed.wait(5)


def test_a_driver_that_hangs_is_down_with_its_gpus_and_is_asked_once() -> None:
    driver = Driver()
    watch = GpuWatch(driver, None)
    watch.finish(watch.begin(), 5)
    driver.release.clear()
    for patience in (0.05, 60, 60):
        started = time.monotonic()
        hung = watch.finish(watch.begin(60 if patience > 1 else 0), patience)
        assert time.monotonic() - started < 5, "only the first waits for a driver that hangs"
        assert (hung.up, hung.down_reason) == (False, DownReason.TIMEOUT)
        assert [(gpu.identity.uuid, gpu.up) for gpu in hung.gpus] == [("GPU-1", False)]
    assert driver.looks == 2
    look = watch.begin()
    driver.release.set()
    look.result(5)
    assert watch.finish(watch.begin(), 5).up
    watch.close()


def test_a_driver_that_hangs_from_the_start_has_no_gpus_yet() -> None:
    driver = Driver()
    driver.release.clear()
    watch = GpuWatch(driver, None)
    assert watch.finish(watch.begin(), 0.05).gpus == ()
    driver.release.set()
    watch.close()


def test_a_fault_of_the_gpu_half_is_a_state_and_passes(caplog: pytest.LogCaptureFixture) -> None:
    driver = Driver()
    watch = GpuWatch(driver, None)
    driver.fault = RuntimeError("boom")
    assert watch.finish(watch.begin(), 5).down_reason is DownReason.UNKNOWN_ERROR
    assert "could not be read" in caplog.text
    driver.fault = None
    assert watch.finish(watch.begin(), 5).up
    watch.close()


def test_a_head_start_waits_for_a_quick_driver_and_not_for_a_slow_one() -> None:
    driver = Driver()
    watch = GpuWatch(driver, None)
    watch.begin(5)
    assert driver.looks == 1
    watch.finish(watch.begin(), 5)
    driver.release.clear()
    started = time.monotonic()
    watch.begin(0.05)
    assert time.monotonic() - started < 2
    driver.release.set()
    watch.close()
