"""Hosts of the stand-in NVML by who is on their GPUs, and what an exporter says of the join."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.fake_nvml.cards import GIB, Lines, processes, uuid_of
from tests.real.exporter_process import ExporterProcess

SAMPLE = re.compile(r"^vllmwatch_(\w+)\{(.*)\} (\S+)$", re.MULTILINE)
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
# In a container of its own no number of the driver's is believed, and there would be no join to test.
needs_hosts_pids = pytest.mark.skipif(
    str(Path("/proc/self/ns/pid").readlink()) != "pid:[4026531836]", reason="needs the host's PID namespace"
)
Entry = tuple[str, str, int, int | None]


def holding(preset: Lines, *entries: Entry) -> Lines:
    """Return a host with these processes and no others."""
    return {key: text for key, text in preset.items() if not key.startswith("process.")} | processes(*entries)


def on(gpu: int, pid: int, memory: int | None = 70 * GIB) -> Entry:
    return (f"gpu.{gpu}", "compute", pid, memory)


def samples(exporter: ExporterProcess, name: str) -> list[tuple[dict[str, str], float]]:
    found = SAMPLE.findall(exporter.page())
    return [(dict(LABEL.findall(labels)), float(value)) for metric, labels, value in found if metric == name]


def links(exporter: ExporterProcess, *ports: int) -> list[tuple[str, str, str, int]]:
    """Return server, engine, rank and GPU of each link, of the servers on these ports."""
    servers = {f"box:{port}" for port in ports}
    found = [labels for labels, _ in samples(exporter, "engine_gpu_info") if labels["server"] in servers]
    for labels in found:
        assert labels["uuid"] == uuid_of(int(labels["gpu"]))
    return sorted((labels["server"], labels["engine"], labels["rank"], int(labels["gpu"])) for labels in found)


def held(exporter: ExporterProcess) -> dict[tuple[int, str, str], float]:
    found = samples(exporter, "gpu_held_memory_bytes")
    return {(int(labels["gpu"]), labels["holder"], labels["server"]): value for labels, value in found}


def unmapped(exporter: ExporterProcess) -> dict[int, set[str]]:
    found: dict[int, set[str]] = {}
    for labels, _ in samples(exporter, "gpu_unmapped"):
        found.setdefault(int(labels["gpu"]), set()).add(labels["reason"])
    return found


def debug(exporter: ExporterProcess) -> Mapping[str, Any]:
    told: Mapping[str, Any] = json.loads(exporter.page("/debug/last"))["join"]
    return told
