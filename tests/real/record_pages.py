"""Records the metrics pages of real vLLM servers that lie in tests/data/vllm.

Run as `python -m tests.real.record_pages [NAME …]`, about a minute a page; the environment must be there
(`python -m tests.real.vllm_environment`). For another version of vLLM, --version, --program and --model name it,
its `vllm` command, and a model that its own Python made (make_tiny_model.py).
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

from tests.real.load import Load
from tests.real.places import ROOT, TINY_MODEL, VLLM_ENVIRONMENT
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


@dataclass(frozen=True, slots=True)
class Peer:
    """The vLLM that is recorded: its version as file names have it, its command, and the model that it serves."""

    version: str = VLLM_VERSION
    program: Path = VLLM_ENVIRONMENT / "bin" / "vllm"
    model: Path = TINY_MODEL


def record(recording: Recording, peer: Peer, folder: Path = FOLDER) -> Path:
    """Start a server, do what the recording says, write its page."""
    with tempfile.TemporaryDirectory() as logs:
        server = VllmServer(Path(logs), arguments=recording.arguments, program=peer.program, model=peer.model)
        try:
            server.start()
            text = recording.read(server)
        finally:
            server.stop()
    path = folder / f"vllm_{peer.version}_{recording.name}.prom"
    path.write_text(text)
    return path


def main() -> None:
    """Record the pages that the command line names, or all of them."""
    parser = argparse.ArgumentParser(description="Record metrics pages of real vLLM servers.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(each.name for each in RECORDINGS))
    parser.add_argument("--version", default=VLLM_VERSION)
    parser.add_argument("--program", type=Path, default=VLLM_ENVIRONMENT / "bin" / "vllm")
    parser.add_argument("--model", type=Path, default=TINY_MODEL)
    wanted = parser.parse_args()
    peer = Peer(wanted.version, wanted.program.absolute(), wanted.model.absolute())
    FOLDER.mkdir(parents=True, exist_ok=True)
    for each in RECORDINGS:
        if not wanted.names or each.name in wanted.names:
            print(record(each, peer))


if __name__ == "__main__":
    main()
