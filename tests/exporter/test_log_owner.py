"""A log that nobody named belongs to the server that writes it, or to the only one that there is."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.exporter.services import target
from vllmwatch.exporter.log_owner import log_owner
from vllmwatch.sources.discovery import Discovered
from vllmwatch.sources.processes.finder import Found, FoundServer
from vllmwatch.sources.processes.outputs import writers_of
from vllmwatch.sources.processes.servers import ServerTree, find_servers
from vllmwatch.sources.processes.table import Process


class _Found:
    def __init__(self, found: Discovered) -> None:
        self._found = found

    def discover(self) -> Discovered:
        return self._found


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    with (tmp_path / "vllm.log").open("wb") as log:
        process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], stdout=log)
    yield process
    process.kill()
    process.wait()


def _identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino


def test_writers_are_found_by_their_outputs(writer: subprocess.Popen[bytes], tmp_path: Path) -> None:
    log = _identity(tmp_path / "vllm.log")
    assert writers_of(log, [1, writer.pid, 2**22 + 1]) == {writer.pid}
    assert writers_of((0, 0), [writer.pid]) == frozenset()


def test_log_is_of_the_server_whose_process_writes_it(writer: subprocess.Popen[bytes], tmp_path: Path) -> None:
    servers = [
        FoundServer(_tree(pid), (target(f"http://127.0.0.1:{port}/metrics", f"box:{port}"),))
        for pid, port in ((1, 8000), (writer.pid, 8001))
    ]
    targets = tuple(server.targets[0] for server in servers)
    owner = log_owner(_Found(Discovered(targets, (), Found(tuple(servers), ()))))
    assert owner(_identity(tmp_path / "vllm.log")) == "box:8001"
    assert owner((0, 0)) == "", "one of two, and nobody knows which"


def test_log_is_of_the_only_server_where_no_writer_is_seen() -> None:
    only = target("http://127.0.0.1:8000/metrics")
    assert log_owner(_Found(Discovered((only,))))((0, 0)) == only.server
    assert log_owner(_Found(Discovered(())))((0, 0)) == ""


def _tree(pid: int) -> ServerTree:
    [tree] = find_servers([Process(pid, 0, 1.0, ("vllm", "serve", "m"))])
    return tree
