"""The stand-in is faithful: tools that know nothing of it show what its state says."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.fake_nvml.cards import MIB, uuid_of
from tests.fake_nvml.plugin import child_environment
from tests.fake_nvml.presets import h100_host, mig_host, rtx_host
from tests.fake_nvml.state import State

pytestmark = pytest.mark.fake_nvml

NVITOP = """
import json
from nvitop import Device
print(json.dumps([{
    "name": device.name(),
    "uuid": device.uuid(),
    "temperature": device.temperature(),
    "memory_used": device.memory_used(),
    "memory_total": device.memory_total(),
    "power": device.power_usage(),
    "limit": device.power_limit(),
    "utilization": device.gpu_utilization(),
    "memory_utilization": device.memory_utilization(),
    "fan": device.fan_speed(),
    "sm_clock": device.sm_clock(),
    "state": device.performance_state(),
    "ecc": device.total_volatile_uncorrected_ecc_errors(),
    "mig": device.mig_mode(),
    "migs": [[mig.uuid(), mig.memory_used()] for mig in device.mig_devices()],
    "pids": sorted(device.processes()),
} for device in Device.all()]))
"""


def run(program: list[str], needs: str, folder: Path, state: State) -> Any:
    if importlib.util.find_spec(needs) is None:
        reason = f"{needs} is not installed (it is in the group of test dependencies)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    environment = child_environment(folder, state.path)
    done = subprocess.run(program, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_nvitop_shows_the_h100_host(fake_nvml_folder: Path, tmp_path: Path) -> None:
    state = State(tmp_path / "state", h100_host())
    shown = run([sys.executable, "-W", "ignore", "-c", NVITOP], "nvitop", fake_nvml_folder, state)
    assert [device["uuid"] for device in shown] == [uuid_of(index) for index in range(8)]
    third = shown[3]
    assert (third["name"], third["temperature"]) == ("NVIDIA H100 80GB HBM3", 57)
    assert (third["memory_used"], third["memory_total"]) == (74210 * MIB, 81559 * MIB)
    assert (third["power"], third["limit"]) == (412400, 650000)
    assert (third["utilization"], third["memory_utilization"], third["fan"]) == (93, 43, "N/A")
    assert (third["sm_clock"], third["state"], third["ecc"], third["mig"]) == (1740, "P0", 0, "Disabled")


def test_nvitop_shows_mig_instances(fake_nvml_folder: Path, tmp_path: Path) -> None:
    state = State(tmp_path / "state", mig_host())
    shown = run([sys.executable, "-W", "ignore", "-c", NVITOP], "nvitop", fake_nvml_folder, state)
    assert (shown[0]["mig"], shown[0]["utilization"]) == ("Enabled", "N/A")
    assert [used for _, used in shown[0]["migs"]] == [29952 * MIB, 38 * MIB]


def test_gpustat_shows_the_geforce_host(fake_nvml_folder: Path, tmp_path: Path) -> None:
    state = State(tmp_path / "state", rtx_host())
    shown = run([sys.executable, "-W", "ignore", "-m", "gpustat", "--json"], "gpustat", fake_nvml_folder, state)
    assert shown["driver_version"] == "575.57.08"
    second = shown["gpus"][1]
    assert (second["name"], second["uuid"]) == ("NVIDIA GeForce RTX 4090", uuid_of(1))
    assert (second["temperature.gpu"], second["fan.speed"], second["utilization.gpu"]) == (55, 46, 91)
    assert (second["power.draw"], second["enforced.power.limit"]) == (287, 450)
    assert (second["memory.used"], second["memory.total"]) == (21900, 24564)
