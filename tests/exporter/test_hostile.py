"""The exporter among hostile targets: its page stays valid, the others complete, its memory bounded."""

import gzip
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

from tests.exporter.vllm.pages import RECORDED, samples_of, translate
from tests.real.exporter_process import ExporterProcess
from tests.servers import Handler, answering, closing_after, response, serving, vllm

GOOD = (RECORDED / "vllm_0.32.0_loaded.prom").read_bytes()
CONFLICTING = b"# TYPE vllm:kv_cache_usage_perc counter\nvllm:kv_cache_usage_perc 1\n"
ODD_ONE = b"# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running 1\n# TYPE odd gauge\nodd 1\n"
ODD_OTHER = b"# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running 2\n# TYPE odd histogram\nodd_sum 1\n"
MEBIBYTE = 1 << 20
BODY_LIMIT_BYTES = 8 * MEBIBYTE


def endless(connection: socket.socket, _request: bytes) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")
    for number in range(1_000_000):
        connection.sendall(b'vllm:x{n="%d"} 1\n' % number * 100)


def dripping(connection: socket.socket, _request: bytes) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
    for _ in range(20):
        connection.sendall(b"v")
        time.sleep(1)


def many_series(connection: socket.socket, _request: bytes) -> None:
    body = b"a 1\n" * 2_000_000
    connection.sendall(response(body[: BODY_LIMIT_BYTES - 8]))


REASONS: dict[str, tuple[Handler, str]] = {
    "endless": (endless, "too_large"),
    "dripping": (dripping, "timeout"),
    "bomb": (
        answering(response(gzip.compress(bytes(256 * MEBIBYTE)), extra="content-encoding: gzip\r\n")),
        "too_large",
    ),
    "loop": (answering(b"HTTP/1.1 302 F\r\nlocation: /metrics\r\ncontent-length: 0\r\n\r\n"), "redirect"),
    "many": (many_series, "too_many_series"),
    "binary": (answering(response(bytes(range(256)) * 4000)), "not_metrics"),
    "html": (answering(response(b"<html></html>")), "html"),
    "empty": (answering(response(b"")), "empty"),
    "halfway": (closing_after(b"HTTP/1.1 200 OK\r\ncontent-length: 90000\r\n\r\n" + GOOD[:20000]), "truncated"),
    "charset": (
        answering(response(GOOD.decode().encode("utf-16"), content_type="text/plain; charset=latin-1")),
        "not_metrics",
    ),
}
UP: dict[str, Handler] = {
    "good": vllm(GOOD),
    "conflicting": answering(response(CONFLICTING + ODD_ONE)),
    "odd": answering(response(ODD_OTHER)),
    "doubled": answering(response(GOOD + GOOD)),
}


@pytest.fixture
def exporter(tmp_path: Path) -> Iterator[tuple[ExporterProcess, dict[str, str]]]:
    """An exporter among good and hostile targets, and the name of the server that each is to it."""
    with ExitStack() as stack:
        handlers = UP | {name: handler for name, (handler, _) in REASONS.items()}
        servers = {name: stack.enter_context(serving(handler)) for name, handler in handlers.items()}
        options = [part for server in servers.values() for part in ("--target", server.url())]
        config = tmp_path / "limits.yml"
        config.write_text(
            f"body_limit_bytes: {BODY_LIMIT_BYTES}\nscrape_timeout_seconds: 3\nnode: box\ndiscover: false\n"
        )
        process = ExporterProcess(tmp_path, (*options, "--config", str(config)))
        process.start()
        stack.callback(process.stop)
        yield process, {name: f"box:{server.port}" for name, server in servers.items()}


def test_hostile_targets_cost_themselves_alone(exporter: tuple[ExporterProcess, dict[str, str]]) -> None:
    process, names = exporter
    memory = []
    for _ in range(6):
        text = process.page()
        memory.append(psutil.Process(process.pid).memory_info().rss)
        samples = samples_of(text)
        for name, (_, reason) in REASONS.items():
            who = (("node", "box"), ("server", names[name]))
            assert samples["vllmwatch_target_up", who] == 0, name
            assert samples["vllmwatch_target_error", tuple(sorted((*who, ("reason", reason))))] == 1, name
        for name in UP:
            assert samples["vllmwatch_target_up", (("node", "box"), ("server", names[name]))] == 1, name
        of_good = {key: value for key, value in samples.items() if ("server", names["good"]) in key[1]}
        upstream = translate(GOOD, server=names["good"], node="box")
        assert sum(not name.startswith("vllmwatch_") for name, _ in of_good) == upstream.plan.facts.samples
    assert max(memory) < 400 * MEBIBYTE
    # Each thread that held a body of 8 MiB keeps some of it for the next.
    assert memory[-1] < memory[2] + 64 * MEBIBYTE
