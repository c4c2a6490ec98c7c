"""The table of processes is right at each look, though most of it is read once."""

import os
import subprocess
import sys

import psutil
import pytest

from tests.sources.processes.stand_in import wait_until
from vllmwatch.sources.processes import Process, ProcessTable
from vllmwatch.sources.processes.table import SETTLED_SECONDS, created


def entry(table: ProcessTable, pid: int) -> Process | None:
    return next((process for process in table.read() if process.pid == pid), None)


def test_this_process_is_in_the_table_with_its_parent_and_words() -> None:
    mine = entry(ProcessTable(), os.getpid())
    assert mine is not None
    assert mine.parent_pid == os.getppid()
    assert mine.arguments == tuple(psutil.Process().cmdline())
    assert abs(mine.create_time_seconds + psutil.boot_time() - psutil.Process().create_time()) < 1


def test_a_step_of_the_clock_makes_no_other_process(monkeypatch: pytest.MonkeyPatch) -> None:
    table = ProcessTable()
    before = entry(table, os.getpid())
    monkeypatch.setattr(psutil, "boot_time", lambda: 0.0)
    monkeypatch.setattr("psutil._pslinux.boot_time", lambda: 0.0)
    assert psutil.Process().create_time() < 10**9, "psutil's own measure moves with the clock"
    assert entry(ProcessTable(), os.getpid()) == before


def test_a_process_of_any_name_has_its_time_of_creation() -> None:
    """The name stands in brackets before the time, and may have brackets and blanks in it."""
    code = "import ctypes; ctypes.CDLL(None).prctl(15, b'a) S 1 (b', 0, 0, 0); print(flush=True); input()"
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert child.stdout is not None
        child.stdout.readline()
        found = created(child.pid)
        assert found is not None
        assert abs(found + psutil.boot_time() - psutil.Process(child.pid).create_time()) < 1
    finally:
        child.kill()
        child.communicate()
    assert created(child.pid) is None


def test_a_title_put_on_later_is_seen() -> None:
    code = "import os, sys; sys.stdin.readline(); os.execv(sys.executable, ['VLLM::Worker_TP0', '-c', 'input()'])"
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, text=True)
    try:
        table = ProcessTable()
        before = entry(table, child.pid)
        assert before is not None
        assert child.stdin is not None
        child.stdin.write("\n")
        child.stdin.flush()
        wait_until(lambda: (now := entry(table, child.pid)) is not None and now.arguments[0] == "VLLM::Worker_TP0")
    finally:
        child.kill()
        child.communicate()


def test_a_process_that_ended_is_gone_from_the_table() -> None:
    child = subprocess.Popen(["sleep", "60"])
    table = ProcessTable()
    assert entry(table, child.pid) is not None
    child.kill()
    child.wait()
    assert entry(table, child.pid) is None


def test_the_words_of_an_old_process_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    child = subprocess.Popen(["sleep", "60"])
    born = created(child.pid)
    assert born is not None
    read: list[int] = []
    cmdline = psutil.Process.cmdline

    def counted(peer: psutil.Process) -> list[str]:
        read.append(peer.pid)
        return cmdline(peer)

    monkeypatch.setattr(psutil.Process, "cmdline", counted)
    try:
        young = ProcessTable(clock=lambda: born + 1)
        assert entry(young, child.pid) == entry(young, child.pid)
        assert read.count(child.pid) == 2
        read.clear()
        old = ProcessTable(clock=lambda: born + SETTLED_SECONDS + 1)
        assert entry(old, child.pid) == entry(old, child.pid)
        assert read.count(child.pid) == 1
    finally:
        child.kill()
        child.wait()
