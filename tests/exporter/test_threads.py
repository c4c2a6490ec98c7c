"""Threads that never hold up the end of the process."""

import subprocess
import sys
import threading
import time

import pytest

from vllmwatch.exporter.threads import DaemonPool


def test_results_and_faults_come_back() -> None:
    pool = DaemonPool(2, "test")
    assert pool.submit(lambda: 41 + 1).result(5) == 42
    with pytest.raises(ZeroDivisionError):
        pool.submit(lambda: 1 // 0).result(5)
    pool.close()


def test_threads_are_made_as_needed_and_used_again() -> None:
    pool = DaemonPool(4, "test")
    names = {pool.submit(lambda: threading.current_thread().name).result(5) for _ in range(20)}
    assert len(names) <= 2
    gate = threading.Event()
    waiting = [pool.submit(lambda: (gate.wait(5), threading.current_thread().name)[1]) for _ in range(6)]
    time.sleep(0.1)
    assert sum(future.running() for future in waiting) == 4
    gate.set()
    assert len({future.result(5) for future in waiting}) == 4
    pool.close()


def test_after_the_close_nothing_is_taken_and_what_was_taken_is_done() -> None:
    pool = DaemonPool(1, "test")
    futures = [pool.submit(lambda: time.sleep(0.05)) for _ in range(3)]
    pool.close()
    with pytest.raises(RuntimeError, match="closed"):
        pool.submit(lambda: None)
    for future in futures:
        assert future.result(5) is None


def test_a_task_that_hangs_does_not_hold_up_the_end() -> None:
    code = (
        "import time; from vllmwatch.exporter.threads import DaemonPool\n"
        "DaemonPool(1, 'x').submit(lambda: time.sleep(600)); time.sleep(0.2)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=30)
