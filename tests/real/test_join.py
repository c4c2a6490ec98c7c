"""Real vLLM servers whose workers the stand-in NVML puts on GPUs: the join comes out right without configuration."""

from collections.abc import Mapping
from pathlib import Path

import psutil
import pytest

from tests.exporter.join.page import held, holding, links, needs_hosts_pids, on, unmapped
from tests.fake_nvml.cards import GIB
from tests.fake_nvml.plugin import child_environment
from tests.fake_nvml.presets import h100_host
from tests.fake_nvml.state import State
from tests.real.fixtures import StartExporter, StartVllm
from tests.real.vllm_server import VllmServer
from tests.sources.processes.stand_in import wait_until

pytestmark = [pytest.mark.real_vllm, pytest.mark.fake_nvml, needs_hosts_pids, pytest.mark.timeout(900)]


def titled(server: VllmServer) -> Mapping[str, list[psutil.Process]]:
    """Return the server's processes by title, in the order of the titles of their engines."""
    found: dict[str, list[psutil.Process]] = {}
    for process in server.processes()[1:]:
        words = [word for word in process.cmdline() if word]
        if len(words) == 1 and "::" in words[0]:
            found.setdefault(words[0], []).append(process)
    return found


def worker_below(server: VllmServer, engine: str) -> int:
    """Return the pid of the process that would use a GPU for an engine."""
    (process,) = titled(server)[engine]
    below = [child for child in process.children() if "Worker" in " ".join(child.cmdline())]
    return below[0].pid if below else process.pid


def test_two_servers_one_with_two_engines_are_joined_without_configuration(
    start_vllm: StartVllm, start_exporter: StartExporter, fake_nvml_folder: Path, tmp_path: Path
) -> None:
    wide = start_vllm("--data-parallel-size", "2", wait=False)
    single = start_vllm(wait=False)
    wide.wait_ready()
    single.wait_ready()
    ranks = [worker_below(wide, f"VLLM::EngineCore_DP{rank}") for rank in range(2)]
    alone = worker_below(single, "VLLM::EngineCore")
    state = State(
        tmp_path / "nvml.state",
        holding(h100_host(2), on(0, ranks[0], 30 * GIB), on(1, ranks[1], 30 * GIB), on(1, alone, 20 * GIB)),
    )
    environment = child_environment(fake_nvml_folder, state.path)
    exporter = start_exporter("--node", "box", "--discover-interval-seconds", "1", environment=environment)
    first, second = f"box:{wide.port}", f"box:{single.port}"
    engines = [(first, "0", "TP0", 0), (first, "1", "TP0", 1)]
    assert links(exporter, wide.port, single.port) == sorted([*engines, (second, "0", "TP0", 1)])
    assert held(exporter) == {
        (0, "server", first): 30 * GIB,
        (1, "server", first): 30 * GIB,
        (1, "server", second): 20 * GIB,
    }
    assert unmapped(exporter) == {}

    single.stop()
    state.replace(holding(h100_host(2), on(0, ranks[0]), on(1, ranks[1])))
    wait_until(lambda: links(exporter, single.port) == [])
    again = start_vllm(port=single.port)
    state.replace(
        holding(h100_host(2), on(0, ranks[0]), on(1, ranks[1]), on(0, worker_below(again, "VLLM::EngineCore")))
    )
    wait_until(lambda: links(exporter, single.port) == [(second, "0", "TP0", 0)])
    assert links(exporter, wide.port) == engines
