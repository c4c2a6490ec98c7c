"""One target over time, on real sockets."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.exporter.vllm.pages import translator
from tests.servers import Server, answering, closing_after, response, serving, vllm
from vllmwatch.exporter.watch import Facts, TargetSample, Watch
from vllmwatch.sources.target import Origin, Target
from vllmwatch.sources.vllm.fetch import Fetcher, Limits
from vllmwatch.spec.reason import Reason

PAGE = b'# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{engine="0",model_name="org/m"} 1.0\n'


@contextmanager
def watching(server: Server, path: str = "/metrics", *, loading: bool = False) -> Iterator[Watch]:
    target = Target(server.url(path), "box:8000", "box", Origin.STATIC, loading=loading)
    watch = Watch(target, Fetcher(target, Limits()), translator())
    yield watch
    watch.close()


def sample(watch: Watch, seconds: float = 5.0) -> TargetSample:
    return watch.sample(time.monotonic() + seconds)


def test_a_server_is_known_by_its_page_and_its_version() -> None:
    with serving(vllm(PAGE)) as server, watching(server, "/vllm/metrics") as watch:
        seen = sample(watch)
        assert seen.up
        assert (seen.facts.role, seen.facts.model_name, seen.facts.version) == ("server", "org/m", "0.32.0")
        assert seen.facts.engines == ("0",)
        assert any(request.startswith(b"GET /vllm/version ") for request in server.requests)


def test_the_version_is_asked_once_and_again_after_an_outage() -> None:
    down = threading.Event()
    ordinary = vllm(PAGE)

    def handle(connection: socket.socket, request: bytes) -> None:
        if down.is_set():
            connection.sendall(b"HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n")
        else:
            ordinary(connection, request)

    with serving(handle) as server, watching(server) as watch:
        for _ in range(3):
            sample(watch)
        assert sum(b"/version" in request for request in server.requests) == 1
        down.set()
        assert sample(watch).reason is Reason.HTTP_STATUS
        down.clear()
        sample(watch)
        assert sum(b"/version" in request for request in server.requests) == 2


def test_facts_outlive_a_failed_scrape() -> None:
    with serving(vllm(PAGE)) as server, watching(server) as watch:
        before = sample(watch).facts
        server.close()
        after = sample(watch)
        assert after.reason in {Reason.REFUSED, Reason.CLOSED}
        assert after.facts == before
        assert after.page is None


@pytest.mark.parametrize("answer", [b"not json", b"[1]", b'{"version": 5}', b"{}"])
def test_a_version_that_is_none_stays_unknown(answer: bytes) -> None:
    def handle(connection: socket.socket, request: bytes) -> None:
        connection.sendall(response(answer if b"/version" in request else PAGE))

    with serving(handle) as server, watching(server) as watch:
        seen = sample(watch)
        assert seen.up
        assert seen.facts.version == ""


def test_a_process_without_its_port_is_loading_until_it_answers() -> None:
    with serving(vllm(PAGE)) as server, watching(server, loading=True) as watch:
        assert sample(watch).up
        server.close()
        assert sample(watch).reason in {Reason.LOADING, Reason.CLOSED}
        assert sample(watch).reason is Reason.LOADING


def test_one_fetch_at_a_time() -> None:
    release = threading.Event()

    def handle(connection: socket.socket, _request: bytes) -> None:
        release.wait(5)
        connection.sendall(response(PAGE))

    with serving(handle) as server, watching(server) as watch:
        first: list[TargetSample] = []
        thread = threading.Thread(target=lambda: first.append(sample(watch)))
        thread.start()
        while not server.requests:
            time.sleep(0.01)
        assert sample(watch).reason is Reason.TIMEOUT
        assert len(server.requests) == 1
        release.set()
        thread.join()
        assert first[0].up


def test_an_aborted_fetch_ends_soon_and_the_next_works() -> None:
    hang = threading.Event()
    hang.set()

    def handle(connection: socket.socket, _request: bytes) -> None:
        while hang.is_set():
            time.sleep(0.01)
        connection.sendall(response(PAGE))

    with serving(handle) as server, watching(server) as watch:
        results: list[TargetSample] = []
        thread = threading.Thread(target=lambda: results.append(sample(watch, 30)))
        thread.start()
        while not server.requests:
            time.sleep(0.01)
        assert watch.abort().reason is Reason.TIMEOUT
        thread.join(5)
        assert not thread.is_alive()
        assert results[0].reason is Reason.TIMEOUT
        hang.clear()
        assert sample(watch).up


def test_what_came_instead_of_a_page_is_shown_to_people() -> None:
    page = response(b"<html>Login please</html>", content_type="text/html")
    with serving(answering(page)) as server, watching(server) as watch:
        seen = sample(watch)
    assert (seen.reason, seen.detail) == (Reason.HTML, "<html>Login please</html>")


def test_a_page_that_ends_early_keeps_its_whole_families() -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n"
    begun = b"# TYPE vllm:num_requests_waiting gauge\nvllm:num_requests_waiting 1"
    with serving(closing_after(head + PAGE + begun)) as server, watching(server) as watch:
        seen = sample(watch)
    assert seen.reason is Reason.TRUNCATED
    assert seen.page is not None
    assert [family.name for family in seen.page.plan.families] == ["vllm:num_requests_running"]


def test_facts_can_be_handed_on() -> None:
    with serving(closing_after(b"")) as server:
        target = Target(server.url(), "box:8000", "box", Origin.STATIC)
        watch = Watch(target, Fetcher(target, Limits()), translator(), facts=Facts(version="0.31.0"))
        assert sample(watch).facts.version == "0.31.0"
        watch.close()
