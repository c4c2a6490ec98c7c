"""Records the metrics pages of real vLLM servers that lie in tests/data/vllm.

Run as `python -m tests.real.record_pages [NAME …]`, about two minutes a page; the environment must be there
(`python -m tests.real.vllm_environment`).
"""

import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

from tests.real.load import Load
from tests.real.places import ROOT
from tests.real.vllm_environment import VLLM_VERSION
from tests.real.vllm_server import VllmServer

FOLDER = ROOT / "tests" / "data" / "vllm"


def idle(server: VllmServer) -> str:
    """Return the page of a server that nobody has asked anything."""
    return server.page()


def open_metrics(server: VllmServer) -> str:
    """Return the page in OpenMetrics, which /metrics/ writes when it is asked for."""
    return server.page("/metrics/", {"Accept": "application/openmetrics-text; version=1.0.0"})


def loaded(server: VllmServer) -> str:
    """Return the page after finished, aborted and wrong requests, while others still run."""
    load = Load(server.url)
    load.many(24)
    load.abort()
    load.wrong_model()
    load.wrong_max_tokens()
    running = [Thread(target=load.complete, args=("busy " * 20,), kwargs={"max_tokens": 1500}) for _ in range(6)]
    for thread in running:
        thread.start()
    time.sleep(2.0)
    page = server.page()
    for thread in running:
        thread.join()
    return page


@dataclass(frozen=True, slots=True)
class Recording:
    """One page: its name without suffix, how the server is started, and what is done to it."""

    name: str
    read: Callable[[VllmServer], str]
    arguments: tuple[str, ...] = ()


RECORDINGS = (
    Recording("idle", idle),
    Recording("loaded", loaded),
    Recording("openmetrics", open_metrics),
    Recording("data_parallel_2", loaded, ("--data-parallel-size", "2")),
    Recording("api_servers_2", loaded, ("--api-server-count", "2")),
    Recording("kv_pressure", loaded, ("--num-gpu-blocks-override", "40")),
)


def record(recording: Recording, folder: Path = FOLDER) -> Path:
    """Start a server, do what the recording says, write its page."""
    with tempfile.TemporaryDirectory() as logs:
        server = VllmServer(Path(logs), arguments=recording.arguments)
        try:
            server.start()
            text = recording.read(server)
        finally:
            server.stop()
    path = folder / f"vllm_{VLLM_VERSION}_{recording.name}.prom"
    path.write_text(text)
    return path


if __name__ == "__main__":
    wanted = sys.argv[1:]
    FOLDER.mkdir(parents=True, exist_ok=True)
    for each in RECORDINGS:
        if not wanted or each.name in wanted:
            print(record(each))
