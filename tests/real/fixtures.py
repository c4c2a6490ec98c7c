"""Fixtures of the real peers. What cannot be had is skipped with its reason; tests/required_peers.py judges skips."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

import pytest

from tests.real import alertmanager_programs, prometheus_programs, vllm_environment
from tests.real.board_world import BoardWorld, make_board_world
from tests.real.exporter_process import ExporterProcess
from tests.real.places import PeerUnavailableError
from tests.real.prometheus_server import PrometheusServer, Scrape
from tests.real.vllm_server import VllmServer
from vllmwatch.stack.prometheus import Prometheus


class StartVllm(Protocol):
    """Starts a real vLLM server that lasts as long as the test; waits until it answers unless `wait` is False."""

    def __call__(
        self,
        *arguments: str,
        port: int | None = None,
        environment: Mapping[str, str] | None = None,
        wait: bool = True,
    ) -> VllmServer: ...


class StartExporter(Protocol):
    """Starts the exporter as a process that lasts as long as the test."""

    def __call__(self, *arguments: str, environment: Mapping[str, str] | None = None) -> ExporterProcess: ...


StartPrometheus = Callable[[Prometheus, Sequence[Scrape]], PrometheusServer]


@pytest.fixture(scope="session")
def vllm_program() -> Path:
    """Return the `vllm` command of the real vLLM."""
    try:
        return vllm_environment.find()
    except PeerUnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def vllm_server(vllm_program: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[VllmServer]:
    """Return a running server (one engine) that all tests share: leave it running, and as idle as it was."""
    server = VllmServer(tmp_path_factory.mktemp("vllm"), program=vllm_program)
    try:
        server.start()
        yield server
    finally:
        server.stop()


@pytest.fixture
def start_vllm(vllm_program: Path, tmp_path: Path) -> Iterator[StartVllm]:
    """Return a function that starts a server of the test's own."""
    with ExitStack() as stack:

        def start(
            *arguments: str,
            port: int | None = None,
            environment: Mapping[str, str] | None = None,
            wait: bool = True,
        ) -> VllmServer:
            server = VllmServer(tmp_path, port=port, arguments=arguments, environment=environment, program=vllm_program)
            stack.callback(server.stop)
            server.launch()
            if wait:
                server.wait_ready()
            return server

        yield start


@pytest.fixture
def start_exporter(tmp_path: Path) -> Iterator[StartExporter]:
    """Return a function that starts an exporter."""
    with ExitStack() as stack:

        def start(*arguments: str, environment: Mapping[str, str] | None = None) -> ExporterProcess:
            exporter = ExporterProcess(tmp_path, arguments, environment)
            exporter.start()
            stack.callback(exporter.stop)
            return exporter

        yield start


@pytest.fixture(scope="session", params=sorted(prometheus_programs.SUITES))
def prometheus_program(request: pytest.FixtureRequest) -> Prometheus:
    """Return each supported Prometheus in turn: the newest and the oldest."""
    try:
        return prometheus_programs.find(str(request.param))
    except PeerUnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def newest_prometheus() -> Prometheus:
    """Return the newest Prometheus, whose `promtool` lies beside it."""
    try:
        return prometheus_programs.find("newest")
    except PeerUnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session", params=sorted(alertmanager_programs.SUITES))
def alertmanager_program(request: pytest.FixtureRequest) -> Path:
    """Return each supported Alertmanager in turn: the newest and the oldest; `amtool` lies beside it."""
    try:
        return alertmanager_programs.find(str(request.param))
    except PeerUnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture
def start_prometheus(tmp_path: Path) -> Iterator[StartPrometheus]:
    """Return a function that starts a Prometheus with the pages it shall scrape."""
    with ExitStack() as stack:

        def start(program: Prometheus, scrapes: Sequence[Scrape]) -> PrometheusServer:
            server = PrometheusServer(program, tmp_path, scrapes)
            stack.callback(server.stop)
            server.start()
            return server

        yield start


@pytest.fixture(scope="session")
def board_world(
    newest_prometheus: Prometheus,
    fake_nvml_folder: Path,
    vllm_server: VllmServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[BoardWorld]:
    """Return the world in which boards are tried, once it has been; only its Prometheus still runs."""
    try:
        alertmanager = alertmanager_programs.find("newest")
    except PeerUnavailableError as error:
        pytest.skip(str(error))
    with ExitStack() as running:
        yield make_board_world(
            tmp_path_factory.mktemp("board-world"),
            newest_prometheus,
            alertmanager,
            fake_nvml_folder,
            vllm_server,
            running,
        )
