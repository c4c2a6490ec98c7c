"""Collections, and the end of a collector whose place another took."""

import socket
import threading
import time

import pytest

from tests.exporter.services import target
from tests.exporter.vllm.pages import RECORDED
from tests.servers import response, serving, vllm
from vllmwatch.exporter.collector import Collection, Collector
from vllmwatch.exporter.options import ExporterOptions
from vllmwatch.sources.discovery import StaticTargets

PAGE = (RECORDED / "vllm_0.32.0_idle.prom").read_bytes()


def test_a_retired_collector_still_finishes_what_was_begun() -> None:
    release = threading.Event()

    def handle(connection: socket.socket, _request: bytes) -> None:
        release.wait(10)
        connection.sendall(response(PAGE))

    with serving(handle) as server:
        collector = Collector(ExporterOptions(node="box"), StaticTargets([target(server.url())]), None)
        found: list[Collection] = []
        collector.hold()
        thread = threading.Thread(target=lambda: found.append(collector.collect(10)))
        thread.start()
        while not server.requests:
            time.sleep(0.01)
        collector.retire()
        release.set()
        thread.join(10)
        collector.release()
        assert found[0].targets[0].up
        with pytest.raises(RuntimeError, match="closed"):
            collector.collect(1)


def test_collections_at_once_ask_a_target_once() -> None:
    release = threading.Event()
    ordinary = vllm(PAGE)

    def handle(connection: socket.socket, request: bytes) -> None:
        release.wait(10)
        ordinary(connection, request)

    with serving(handle) as server:
        collector = Collector(ExporterOptions(node="box"), StaticTargets([target(server.url())]), None)
        found: list[Collection] = []
        threads = [threading.Thread(target=lambda: found.append(collector.collect(10))) for _ in range(4)]
        for thread in threads:
            thread.start()
        while not server.requests:
            time.sleep(0.01)
        time.sleep(0.1)
        release.set()
        for thread in threads:
            thread.join(10)
        assert [collection.targets[0].up for collection in found] == [True] * 4
        assert sum(request.startswith(b"GET /metrics") for request in server.requests) == 1
        collector.close()
