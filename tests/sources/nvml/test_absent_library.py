"""Hosts where the loader finds no NVML, finds it late, or finds an old one; each in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.fake_nvml.build import SONAME
from tests.fake_nvml.plugin import child_environment
from tests.fake_nvml.presets import h200_host, v100_host
from tests.fake_nvml.state import State

PROGRAM = """
import json, sys
from vllmwatch.sources.nvml import NvmlReader
reader = NvmlReader()
snapshot = reader.snapshot()
read = snapshot.gpus[0].readings if snapshot.gpus else None
print(json.dumps({
    "up": snapshot.up,
    "reason": snapshot.down_reason,
    "gpus": len(snapshot.gpus),
    "temperature": read and read.temperature_celsius,
    "used": read and read.memory and read.memory.used_bytes,
    "reserved": read and read.memory and read.memory.reserved_bytes,
    "pids": read and [process.pid for process in read.processes],
    "throttled": read and [name for name, active in read.throttle_active.items() if active],
}))
reader.close()
"""


LATE = """
import os, shutil, sys, time
from vllmwatch.sources.nvml import NvmlReader
reader = NvmlReader()
before = reader.snapshot()
shutil.copy(sys.argv[1], os.environ["LD_LIBRARY_PATH"])
time.sleep(1.1)
after = reader.snapshot()
reader.close()
print(before.up, before.down_reason, after.up, after.gpus[0].identity.name)
"""


def look(folder: Path, state: Path | None) -> dict[str, Any]:
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(
        command, env=child_environment(folder, state), capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stderr == ""
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_no_library_is_a_state_and_not_an_error(tmp_path: Path) -> None:
    found = look(tmp_path, None)
    assert (found["up"], found["reason"], found["gpus"]) == (False, "library_not_found", 0)


@pytest.mark.fake_nvml
def test_library_is_found_by_its_name(fake_nvml_folder: Path, tmp_path: Path) -> None:
    state = State(tmp_path / "state", h200_host())
    found = look(fake_nvml_folder, state.path)
    assert (found["up"], found["gpus"], found["temperature"]) == (True, 1, 54)


@pytest.mark.fake_nvml
def test_old_driver_answers_through_the_older_functions(old_fake_nvml_folder: Path, tmp_path: Path) -> None:
    state = State(tmp_path / "state", v100_host())
    found = look(old_fake_nvml_folder, state.path)
    reserved = 32510 * 2**20 // 170
    assert (found["used"], found["reserved"]) == (29000 * 2**20 + reserved, None)
    assert found["pids"] == [909]
    assert found["throttled"] == ["software_power_cap"]


@pytest.mark.fake_nvml
def test_wide_entries_of_processes_are_told_apart(wide_fake_nvml_folder: Path, tmp_path: Path) -> None:
    lines = h200_host() | {f"process.{i}": f"gpu.0,compute,{100 + i},{i + 1},-,-" for i in range(5)}
    found = look(wide_fake_nvml_folder, State(tmp_path / "state", lines).path)
    assert found["pids"] == [100, 101, 102, 103, 104]


@pytest.mark.fake_nvml
def test_driver_installed_later_is_found_without_a_restart(fake_nvml_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "lib"
    folder.mkdir()
    state = State(tmp_path / "state", h200_host())
    done = subprocess.run(
        [sys.executable, "-c", LATE, str(fake_nvml_folder / SONAME)],
        env=child_environment(folder, state.path),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == "False library_not_found True NVIDIA H200\n"
