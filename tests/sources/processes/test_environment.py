"""The variables of real processes that name GPUs."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from vllmwatch.sources.processes.environment import VisibleDevices, visible_devices

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="another user or other file systems need root")


@contextlib.contextmanager
def running(*before: str, **environment: str) -> Iterator[int]:
    words = [*before, sys.executable, "-c", "print('up', flush=True); input()"]
    child = subprocess.Popen(words, env={"PATH": os.environ["PATH"], **environment}, stdin=-1, stdout=-1)
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == b"up\n"
        yield child.pid
    finally:
        child.kill()
        child.communicate()


def test_variables_are_read_as_they_are() -> None:
    variables = {"CUDA_VISIBLE_DEVICES": " 1,GPU-a=b", "NVIDIA_VISIBLE_DEVICES": "", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
    with running(**variables) as pid:
        assert visible_devices(pid) == VisibleDevices(" 1,GPU-a=b", "", "PCI_BUS_ID", shared_view=True)


def test_variables_that_are_not_set_are_none() -> None:
    with running(MY_CUDA_VISIBLE_DEVICES="7") as pid:
        assert visible_devices(pid) == VisibleDevices(shared_view=True)


@needs_root
def test_other_file_systems_are_another_view_of_devices() -> None:
    with running("unshare", "--mount", CUDA_VISIBLE_DEVICES="0") as pid:
        assert visible_devices(pid) == VisibleDevices("0", shared_view=False)


def test_a_process_that_ended_tells_nothing() -> None:
    with running() as pid:
        pass
    assert visible_devices(pid) is None


def test_a_process_that_is_not_ours_to_see_tells_nothing(tmp_path: Path) -> None:
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "environ").mkdir()
    assert visible_devices(7, tmp_path) is None


def test_bytes_that_are_no_text_are_no_fault(tmp_path: Path) -> None:
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "environ").write_bytes(b"CUDA_VISIBLE_DEVICES=\xff1\0NOTHING\0\0=x\0CUDA_DEVICE_ORDER=a\0")
    assert visible_devices(7, tmp_path) == VisibleDevices("\ufffd1", None, "a", shared_view=False)
