"""Values on our page equal the real server's own, sample by sample, whatever the server goes through."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread

import pytest
import requests

from tests.real.exporter_process import ExporterProcess
from tests.real.fixtures import StartExporter, StartVllm
from tests.real.load import Load
from tests.real.pages import expected, of_server, value
from tests.real.relay import Relay, relaying
from tests.real.vllm_server import MODEL_NAME, VllmServer

pytestmark = pytest.mark.real_vllm

NODE = "box"


def compare(exporter: ExporterProcess, relay: Relay) -> int:
    """Scrape once and compare with the very page that the server gave; returns the number of samples."""
    server = f"{NODE}:{relay.port}"
    got = of_server(exporter.page(), server)
    # The exporter samples by itself too, so the page that we were given need not be of the last fetch.
    wanted = [expected(*page, server, NODE) for page in relay.pages[-3:]]
    assert got in wanted, got.items() ^ wanted[-1].items()
    return len(got)


@contextmanager
def load_of(load: Load) -> Iterator[None]:
    """Keep a server under load: whole and streamed requests, aborted and wrong ones."""
    threads = [Thread(target=lambda: load.many(30, max_tokens=64)), Thread(target=lambda: misbehave(load))]
    for thread in threads:
        thread.start()
    yield
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()


def misbehave(load: Load) -> None:
    for _ in range(5):
        load.abort(max_tokens=200)
        assert load.wrong_model() == 404
        assert load.wrong_max_tokens() == 400


def wait_for(condition: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.3)


def test_under_load_every_sample_is_the_servers_own(vllm_server: VllmServer, start_exporter: StartExporter) -> None:
    with relaying(vllm_server.url) as relay:
        exporter = start_exporter("--target", relay.url(), "--no-discover", "--node", NODE)
        before = exporter.page()
        with load_of(Load(vllm_server.url)):
            for _ in range(10):
                assert compare(exporter, relay) > 350
                time.sleep(0.5)
        after = exporter.page()
        server = f"{NODE}:{relay.port}"
        grown = "vllm:generation_tokens_total"
        assert (value(after, grown, server=server) or 0) > (value(before, grown, server=server) or 0)
        version = requests.get(f"{vllm_server.url}/version", timeout=10).json()["version"]
        assert value(after, "vllmwatch_target_info", server=server, model_name=MODEL_NAME, version=version) == 1
        # What clients abort is in no request_success of vLLM's, and wrong requests are in http_requests alone.
        assert (
            value(after, "http_requests_total", server=server, status="4xx", handler="/v1/completions")
            == (value(before, "http_requests_total", server=server, status="4xx", handler="/v1/completions") or 0) + 10
        )


def test_openmetrics_gives_the_same_names_and_values(vllm_server: VllmServer, start_exporter: StartExporter) -> None:
    """The Accept header alone makes `/metrics/` answer in OpenMetrics; both paths are one server's."""
    with relaying(vllm_server.url) as relay:
        exporter = start_exporter(
            *("--target", relay.url("/metrics/"), "--no-discover", "--node", NODE),
        )
        compare(exporter, relay)
        names = {name for name, _ in of_server(exporter.page(), f"{NODE}:{relay.port}")}
    with relaying(vllm_server.url) as relay:
        exporter = start_exporter("--target", relay.url(), "--no-discover", "--node", NODE)
        compare(exporter, relay)
        assert names == {name for name, _ in of_server(exporter.page(), f"{NODE}:{relay.port}")}


def test_servers_are_found_with_their_engines_and_watched_through_death_and_restart(
    vllm_server: VllmServer, start_vllm: StartVllm, start_exporter: StartExporter
) -> None:
    """Two servers at once, found without configuration; one has two engines, an API key, and a violent end."""
    key = (("Authorization", "Bearer a-key"),)
    other = start_vllm("--data-parallel-size", "2", "--api-server-count", "1", "--api-key", "a-key", wait=False)
    exporter = start_exporter("--node", NODE)
    name = f"{NODE}:{other.port}"
    wait_for(lambda: value(exporter.page(), "vllmwatch_target_error", server=name, reason="loading") == 1)
    other.wait_ready()
    wait_for(lambda: value(exporter.page(), "vllmwatch_target_up", server=name) == 1, 90)
    page = exporter.page()
    assert value(page, "vllmwatch_target_up", server=f"{NODE}:{vllm_server.port}") == 1
    assert Load(other.url).complete() == 401

    with relaying(other.url) as relay:
        watcher = start_exporter("--target", relay.url(), "--no-discover", "--node", NODE)
        with load_of(Load(other.url, headers=key)):
            for _ in range(5):
                compare(watcher, relay)
                time.sleep(0.5)
        engines = {
            dict(labels)["engine"]
            for series, labels in of_server(watcher.page(), f"{NODE}:{relay.port}")
            if series == "vllm:num_requests_running"
        }
        assert engines == {"0", "1"}

    hang_and_death(other, exporter, name)
    back = start_vllm(port=other.port, wait=False)
    back.wait_ready()
    wait_for(lambda: value(exporter.page(), "vllmwatch_target_up", server=name) == 1, 90)
    page = exporter.page()
    assert value(page, "vllm:generation_tokens_total", server=name, engine="0") == 0
    assert value(page, "vllm:generation_tokens_total", server=name, engine="1") is None


def hang_and_death(server: VllmServer, exporter: ExporterProcess, name: str) -> None:
    """Stop a server's API process, so that it listens and does not answer, then kill all of it."""
    known = value(exporter.page(), "vllmwatch_target_info", server=name, model_name=MODEL_NAME)
    assert known == 1
    os.kill(server.pid, signal.SIGSTOP)
    assert value(exporter.page(), "vllmwatch_target_error", server=name, reason="timeout") == 1
    os.kill(server.pid, signal.SIGCONT)
    wait_for(lambda: value(exporter.page(), "vllmwatch_target_up", server=name) == 1)
    server.kill()
    page = exporter.page()
    assert value(page, "vllmwatch_target_up", server=name) == 0
    assert value(page, "vllmwatch_target_info", server=name, model_name=MODEL_NAME) == 1
    assert not of_server(page, name)
    wait_for(lambda: value(exporter.page(), "vllmwatch_target_error", server=name, reason="gone") == 1)


def test_two_api_servers_give_one_truth(start_vllm: StartVllm, start_exporter: StartExporter) -> None:
    server = start_vllm("--api-server-count", "2")
    with relaying(server.url) as relay:
        exporter = start_exporter("--target", relay.url(), "--no-discover", "--node", NODE)
        with load_of(Load(server.url)):
            for _ in range(5):
                compare(exporter, relay)
                time.sleep(0.5)
        name = f"{NODE}:{relay.port}"
        assert value(exporter.page(), "vllmwatch_target_up", server=name) == 1
        assert value(exporter.page(), "process_start_time_seconds", server=name) is None
