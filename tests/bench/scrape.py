"""The exporter as its users run it, scraped over one kept-open connection."""

import contextlib
import http.client
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.bench.processes import MEASURED_CPU, OTHER_CPUS, cpu_seconds, python, started
from tests.fake_nvml.build import LOOK_VARIABLE, STATE_VARIABLE, build
from tests.fake_nvml.presets import h100_host
from tests.fake_nvml.state import State
from tests.real.places import free_port

_START_SECONDS = 60.0
_SETTLE_SECONDS = 0.005


@dataclass(frozen=True, slots=True)
class Cost:
    """What one scrape took: processor time of the process that was scraped, and time on the wall, in seconds."""

    cpu_seconds: float
    wall_seconds: float
    page: bytes


class Scraper:
    """Scrapes one process as Prometheus does."""

    def __init__(self, port: int, pid: int) -> None:
        self.pid = pid
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def scrape(self, *, gzip: bool = False, settle_seconds: float = _SETTLE_SECONDS) -> Cost:
        """Scrape once. The processor time holds what the process does until it has settled after its answer."""
        headers = {"Accept-Encoding": "gzip" if gzip else "identity"}
        before, begun = cpu_seconds(self.pid), time.perf_counter()
        self._connection.request("GET", "/metrics", headers=headers)
        answer = self._connection.getresponse()
        page = answer.read()
        ended = time.perf_counter()
        assert answer.status == 200, page
        time.sleep(settle_seconds)
        return Cost(cpu_seconds(self.pid) - before, ended - begun, page)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


@contextlib.contextmanager
def page_server(folder: Path, ports: int, *, slowest_milliseconds: float = 0) -> Iterator[list[str]]:
    """Serve that many pages; gives their addresses. The last one answers late where that is asked for."""
    command = python("tests.bench.page_server", str(ports), str(slowest_milliseconds))
    with started(command, folder / "page_server.log", cpus=OTHER_CPUS, answers=True) as process:
        assert process.stdout is not None
        yield [f"http://127.0.0.1:{port}/metrics" for port in process.stdout.readline().split()]


@contextlib.contextmanager
def exporter(folder: Path, targets: Sequence[str], *, gpus: bool = True) -> Iterator[Scraper]:
    """Run the exporter on the stand-in for eight H100 (or without GPUs) and on these targets."""
    port = free_port()
    options = [part for target in targets for part in ("--target", target)]
    command = python("vllmwatch", "exporter", "--listen", f"127.0.0.1:{port}", "--no-discover", *options)
    if not gpus:
        command.append("--no-nvml")
    environment = nvml_environment(folder) if gpus else None
    with started(command, folder / "exporter.log", cpus=MEASURED_CPU, environment=environment) as process:
        wait_until_answered(port, "/-/ready")
        scraper = Scraper(port, process.pid)
        try:
            yield scraper
        finally:
            scraper.close()


def nvml_environment(folder: Path) -> Mapping[str, str]:
    """Return an environment in which NVML is the stand-in with eight H100."""
    state = State(folder / "nvml.state", h100_host())
    kept = {name: text for name, text in os.environ.items() if not name.startswith("VLLMWATCH_")}
    return {**kept, "LD_LIBRARY_PATH": str(build()), STATE_VARIABLE: str(state.path), LOOK_VARIABLE: "200"}


def wait_until_answered(port: int, path: str) -> None:
    """Wait until a server answers 200."""
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        with (
            contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=5)) as connection,
            contextlib.suppress(OSError, http.client.HTTPException),
        ):
            connection.request("GET", path)
            with connection.getresponse() as answer:
                if answer.status == 200:
                    return
        time.sleep(0.1)
    raise TimeoutError(f"nothing answers on port {port} after {_START_SECONDS:.0f} s")
