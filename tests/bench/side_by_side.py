"""The exporter beside others that do the same work, each at one scrape a second, on one processor."""

import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

from tests.bench.figures import Figure, Section, compare
from tests.bench.peers import nvitop_exporter, vmagent
from tests.bench.processes import MEASURED_CPU, cpu_seconds, resident_bytes, started
from tests.bench.scrape import Scraper, exporter, nvml_environment, page_server, wait_until_answered
from tests.bench.whole import SERVERS
from tests.real.places import PeerUnavailableError, free_port

WINDOW_SECONDS = 10
_WARM_UP_SECONDS = 5.0


@dataclass(slots=True)
class Peer:
    """A process whose processor time is measured; scraped every second where it has a scraper."""

    name: str
    pid: int
    scraper: Scraper | None = None
    seconds: list[float] = field(default_factory=list)
    """Processor seconds per second, window by window."""


@contextlib.contextmanager
def running_vmagent(folder: Path, program: Path, urls: Sequence[str]) -> Iterator[int]:
    """Run vmagent on these pages; what it reads goes to the server of the pages, which takes it. Gives its pid."""
    hosts = [urlsplit(url).netloc for url in urls]
    config = folder / "vmagent.yml"
    config.write_text(
        "global: {scrape_interval: 1s, scrape_timeout: 900ms}\n"
        f"scrape_configs: [{{job_name: vllm, static_configs: [{{targets: {hosts!r}}}]}}]\n"
    )
    port = free_port()
    command = [
        str(program),
        f"-promscrape.config={config}",
        f"-remoteWrite.url=http://{hosts[0]}/api/v1/write",
        f"-remoteWrite.tmpDataPath={folder / 'vmagent'}",
        f"-httpListenAddr=127.0.0.1:{port}",
    ]
    with started(command, folder / "vmagent.log", cpus=MEASURED_CPU) as process:
        wait_until_answered(port, "/health")
        yield process.pid


@contextlib.contextmanager
def running_nvitop(folder: Path, program: Path) -> Iterator[Scraper]:
    """Run nvitop-exporter on the stand-in for eight H100; it reads once a second by itself."""
    port = free_port()
    command = [str(program), "--bind-address", "127.0.0.1", "--port", str(port), "--interval", "1"]
    environment = nvml_environment(folder)
    with started(command, folder / "nvitop.log", cpus=MEASURED_CPU, environment=environment) as process:
        wait_until_answered(port, "/metrics")
        yield Scraper(port, process.pid)


def section(folder: Path, windows: int) -> Section:
    """Return processor time per scrape of all, measured at the same time."""
    notes = []
    with contextlib.ExitStack() as stack:
        urls = stack.enter_context(page_server(folder, SERVERS))
        whole = stack.enter_context(exporter(folder, urls))
        pages = stack.enter_context(exporter(folder, urls, gpus=False))
        peers = {"whole": Peer("8 GPUs and 8 pages", whole.pid, whole), "pages": Peer("8 pages", pages.pid, pages)}
        try:
            peers["vmagent"] = Peer("vmagent", stack.enter_context(running_vmagent(folder, vmagent(), urls)))
        except PeerUnavailableError as error:
            notes.append(f"left out: {error}")
        try:
            nvitop = stack.enter_context(running_nvitop(folder, nvitop_exporter()))
            peers["nvitop"] = Peer("nvitop-exporter", nvitop.pid, nvitop)
        except PeerUnavailableError as error:
            notes.append(f"left out: {error}")
        _measure(list(peers.values()), windows)
        notes += [
            f"{peer.name}: {median(peer.seconds) * 1e3:.2f} ms a second, {resident_bytes(peer.pid) / (1 << 20):.0f} MiB"
            for peer in peers.values()
        ]
    title = f"Side by side, one scrape a second in gzip, {windows} windows of {WINDOW_SECONDS} s"
    return Section(title, tuple(_figures(peers)), tuple(notes))


def _figures(peers: dict[str, Peer]) -> Iterator[Figure]:
    if "vmagent" in peers:
        other = peers["vmagent"].seconds
        yield compare("8 pages / vmagent on the same pages", peers["pages"].seconds, other, most=0.5)
        yield compare("8 GPUs and 8 pages / vmagent on the pages alone", peers["whole"].seconds, other)
    if "nvitop" in peers:
        other = peers["nvitop"].seconds
        yield compare("8 GPUs and 8 pages / nvitop-exporter on the GPUs alone", peers["whole"].seconds, other)


def _measure(peers: Sequence[Peer], windows: int) -> None:
    _keep_scraping(peers, _WARM_UP_SECONDS)
    for _ in range(windows):
        before, begun = [cpu_seconds(peer.pid) for peer in peers], time.monotonic()
        _keep_scraping(peers, WINDOW_SECONDS)
        lasted = time.monotonic() - begun
        for peer, used in zip(peers, before, strict=True):
            peer.seconds.append((cpu_seconds(peer.pid) - used) / lasted)


def _keep_scraping(peers: Sequence[Peer], seconds: float) -> None:
    begun = time.monotonic()
    for second in range(1, int(seconds) + 1):
        for peer in peers:
            if peer.scraper is not None:
                peer.scraper.scrape(gzip=True)
        time.sleep(max(begun + second - time.monotonic(), 0))
