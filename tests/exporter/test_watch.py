"""One target over time, on real sockets."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from tests.exporter.vllm.pages import translator
from tests.servers import Server, answering, closing_after, response, serving, vllm
from vllmwatch.exporter import watch as watch_module
from vllmwatch.exporter.threads import DaemonPool
from vllmwatch.exporter.watch import Facts, TargetSample, Watch
from vllmwatch.sources.target import Origin, Target
from vllmwatch.sources.vllm.fetch import Fetcher, Limits
from vllmwatch.spec.reason import Reason

PAGE = b'# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{engine="0",model_name="org/m"} 1.0\n'


@contextmanager
def watching(server: Server, path: str = "/metrics", *, loading: bool = False) -> Iterator[Watch]:
    target = Target(server.url(path), "box:8000", "box", Origin.STATIC, loading=loading)
    pool = DaemonPool(8, "test")
    watch = Watch(target, lambda: Fetcher(target, Limits()), translator(), pool)
    yield watch
    watch.close()
    pool.close()


def sample(watch: Watch, seconds: float = 5.0) -> TargetSample:
    return watch.begin(time.monotonic() + seconds).result(30)


def until(condition: Callable[[], bool]) -> None:
    """Wait for what goes on beside the scrapes."""
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_server_is_known_by_its_page_and_its_version() -> None:
    with serving(vllm(PAGE)) as server, watching(server, "/vllm/metrics") as watch:
        assert sample(watch).up
        until(lambda: watch.facts.version != "")
        seen = sample(watch)
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
        until(lambda: watch.facts.version != "")
        assert sum(b"/version" in request for request in server.requests) == 1
        down.set()
        assert sample(watch).reason is Reason.HTTP_STATUS
        down.clear()
        sample(watch)
        until(lambda: sum(b"/version" in request for request in server.requests) == 2)


def test_facts_outlive_a_failed_scrape() -> None:
    with serving(vllm(PAGE)) as server, watching(server) as watch:
        sample(watch)
        until(lambda: watch.facts.version != "")
        before = watch.facts
        server.close()
        after = sample(watch)
        assert after.reason in {Reason.REFUSED, Reason.CLOSED}
        assert after.facts == before
        assert after.page is None


@pytest.mark.parametrize(
    ("answer", "version"),
    [
        (b"not json", ""),
        (b"[1]", ""),
        (b'{"version": 5}', ""),
        (b"{}", ""),
        (b"[" * 200_000, ""),
        (b'{"version": "\\ud800"}', "?"),
        (b'{"version": "0.33.0"}', "0.33.0"),
    ],
)
def test_a_version_is_taken_only_where_it_is_one(answer: bytes, version: str) -> None:
    def handle(connection: socket.socket, request: bytes) -> None:
        connection.sendall(response(answer if b"/version" in request else PAGE))

    with serving(handle) as server, watching(server) as watch:
        assert sample(watch).up
        until(lambda: any(b"/version" in request for request in server.requests))
        until(lambda: watch.facts.version == version)
        assert sample(watch).up


def test_a_server_that_is_slow_to_say_its_version_loses_no_page() -> None:
    release = threading.Event()

    def handle(connection: socket.socket, request: bytes) -> None:
        if b"/version" in request:
            release.wait(10)
        connection.sendall(response(PAGE))

    with serving(handle) as server, watching(server) as watch:
        assert [sample(watch).up for _ in range(3)] == [True] * 3
        release.set()


def test_a_version_that_is_known_outlives_a_server_that_says_none() -> None:
    answers = iter([response(b'{"version": "0.32.0"}'), b"HTTP/1.1 404 N\r\ncontent-length: 0\r\n\r\n"])

    def handle(connection: socket.socket, request: bytes) -> None:
        connection.sendall(next(answers) if b"/version" in request else response(PAGE))

    with serving(handle) as server, watching(server) as watch:
        sample(watch)
        until(lambda: watch.facts.version == "0.32.0")
        watch.was_up = False
        sample(watch)
        until(lambda: sum(b"/version" in request for request in server.requests) == 2)
        assert sample(watch).facts.version == "0.32.0"


def test_a_process_without_its_port_is_loading_until_it_answers() -> None:
    with serving(vllm(PAGE)) as server, watching(server, loading=True) as watch:
        assert sample(watch).up
        server.close()
        assert sample(watch).reason in {Reason.LOADING, Reason.CLOSED}
        assert sample(watch).reason is Reason.LOADING


def test_those_who_ask_while_a_fetch_is_under_way_share_it() -> None:
    release = threading.Event()

    def handle(connection: socket.socket, _request: bytes) -> None:
        release.wait(5)
        connection.sendall(response(PAGE))

    with serving(handle) as server, watching(server) as watch:
        futures = [watch.begin(time.monotonic() + 5) for _ in range(3)]
        until(lambda: bool(server.requests))
        sample_for_the_hurried, given_up = watch.overdue()
        assert (sample_for_the_hurried.reason, given_up) == (Reason.TIMEOUT, False)
        release.set()
        assert [future.result(5).up for future in futures] == [True] * 3
        assert sum(request.startswith(b"GET /metrics") for request in server.requests) == 1


def test_a_fetch_past_its_deadline_is_given_up_and_the_next_works() -> None:
    hang = threading.Event()
    hang.set()

    def handle(connection: socket.socket, _request: bytes) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nx-slow: ")
        while hang.is_set():
            connection.sendall(b"a")
            time.sleep(0.02)

    with serving(handle) as server, watching(server) as watch:
        future = watch.begin(time.monotonic() + 0.2)
        until(lambda: watch.overdue()[1])
        assert future.result(5).reason is Reason.TIMEOUT
        hang.clear()
    with serving(vllm(PAGE)) as server, watching(server) as watch:
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
        pool = DaemonPool(2, "test")
        watch = Watch(target, lambda: Fetcher(target, Limits()), translator(), pool, facts=Facts(version="0.31.0"))
        assert sample(watch).facts.version == "0.31.0"
        watch.close()
        pool.close()


def test_a_version_that_drips_is_given_up_and_asked_once_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch_module, "_VERSION_TIMEOUT_SECONDS", 0.3)

    def handle(connection: socket.socket, request: bytes) -> None:
        if b"/version" not in request:
            connection.sendall(response(PAGE))
            return
        connection.sendall(b"HTTP/1.1 200 OK\r\nx-slow: ")
        for _ in range(200):
            connection.sendall(b"a")
            time.sleep(0.05)

    with serving(handle) as server, watching(server) as watch:
        before = threading.active_count()
        for _ in range(10):
            watch.was_up = False
            assert sample(watch).up
        assert sum(b"/version" in request for request in server.requests) <= 1
        assert threading.active_count() < before + 8
        until(lambda: sample(watch).up and watch._version_deadline is None)
