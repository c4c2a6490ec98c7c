"""Servers found among the real processes of this machine."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.sources.processes.stand_in import StandIn
from vllmwatch.sources.processes import FoundServer, ServerFinder
from vllmwatch.sources.processes.sockets import Namespace, SocketReader

Starter = Callable[..., StandIn]
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="another user or another network needs root")


@pytest.fixture
def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Starter]:
    running: list[StandIn] = []

    def starter(port: int, *arguments: str, before: Sequence[str] = (), bind: str = "127.0.0.1") -> StandIn:
        running.append(StandIn(tmp_path, port, arguments, before, bind))
        return running[-1]

    yield starter
    for server in running:
        server.stop()


def find(pid: int) -> FoundServer:
    (found,) = [server for server in ServerFinder("node1").find().servers if server.tree.root.pid == pid]
    return found


def test_a_server_is_found_with_its_address(start: Starter, free_port: int) -> None:
    server = start(free_port, "--port", str(free_port))
    (target,) = find(server.pid).targets
    assert (target.url, target.server) == (f"http://127.0.0.1:{free_port}/metrics", f"node1:{free_port}")
    assert (target.pid, target.loading) == (server.pid, False)


def test_a_server_that_is_bound_and_does_not_listen_is_loading(start: Starter, free_port: int) -> None:
    (target,) = find(start(free_port, "--port", str(free_port), "--quiet").pid).targets
    assert (target.url, target.loading) == (f"http://127.0.0.1:{free_port}/metrics", True)


def test_a_server_that_stops_listening_is_not_loading_again(start: Starter, free_port: int) -> None:
    finder = ServerFinder("node1")
    server = start(free_port, "--port", str(free_port))

    def loading(finder: ServerFinder) -> list[bool]:
        found = [entry for entry in finder.find().servers if entry.tree.root.pid == server.pid]
        return [target.loading for entry in found for target in entry.targets]

    assert loading(finder) == [False]
    server.stop_listening()
    assert loading(finder) == [False]
    assert loading(ServerFinder("node1")) == [True]


def test_a_server_that_has_ended_is_not_found_again(start: Starter, free_port: int) -> None:
    finder = ServerFinder("node1")
    server = start(free_port, "--port", str(free_port))
    pids = [found.tree.root.pid for found in finder.find().servers]
    assert server.pid in pids
    server.process.kill()
    server.process.wait()
    assert server.pid not in [found.tree.root.pid for found in finder.find().servers]


def test_the_port_may_stand_in_the_file_of_config(start: Starter, free_port: int, tmp_path: Path) -> None:
    file = tmp_path / "serve.yml"
    file.write_text(f"port: {free_port}\n")
    (target,) = find(start(free_port, "--config", str(file)).pid).targets
    assert (target.url, target.loading) == (f"http://127.0.0.1:{free_port}/metrics", False)


def in_own_network(address: str) -> list[str]:
    """Return the words that start a program in a network namespace of its own, with one address beside loopback."""
    return ["unshare", "--net", "sh", "-c", f'ip addr add {address}/32 dev lo && ip link set lo up && exec "$@"', "sh"]


def seen_by_nobody(pid: int) -> str:
    """Return the addresses of a server's targets as a user without rights finds them."""
    look = (
        "import os; from vllmwatch.sources.processes import ServerFinder\n"
        "os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        f"found = [s for s in ServerFinder('node1').find().servers if s.tree.root.pid == {pid}]\n"
        "print([(t.url, t.loading) for t in found[0].targets])\n"
    )
    seen = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True, cwd="/")
    return seen.stdout.strip()


@needs_root
def test_a_server_of_another_user_is_found_by_its_port(start: Starter, free_port: int) -> None:
    server = start(free_port, "--port", str(free_port))
    assert seen_by_nobody(server.pid) == str([(f"http://127.0.0.1:{free_port}/metrics", False)])


@needs_root
def test_a_server_of_another_user_in_another_network_is_found_there(start: Starter) -> None:
    server = start(8000, "--port", "8000", before=in_own_network("10.214.0.2"), bind="0.0.0.0")
    assert seen_by_nobody(server.pid) == str([("http://10.214.0.2:8000/metrics", False)])


def test_a_network_with_several_servers_is_read_once_a_round(start: Starter, free_port: int) -> None:
    read: list[int | None] = []

    class Counting(SocketReader):
        def namespace_of(self, pid: int) -> Namespace | None:
            read.append(self.network_of(pid))
            return super().namespace_of(pid)

    servers = [start(free_port, "--port", str(free_port)), start(0, "--port", "0")]
    finder = ServerFinder("node1", sockets=Counting())
    found = {entry.tree.root.pid for entry in finder.find().servers}
    assert found >= {server.pid for server in servers}
    ours = Path("/proc/self/ns/net").stat().st_ino
    assert read.count(ours) == 1
    finder.find()
    assert read.count(ours) == 2


@needs_root
def test_a_server_in_another_network_is_found_by_the_address_there(start: Starter) -> None:
    server = start(8000, "--port", "8000", before=in_own_network("10.214.0.2"), bind="0.0.0.0")
    (target,) = find(server.pid).targets
    assert (target.url, target.server) == ("http://10.214.0.2:8000/metrics", "node1/10.214.0.2:8000")
    assert target.loading is False


@needs_root
def test_a_published_port_names_a_server_in_another_network(start: Starter) -> None:
    server = start(8000, "--port", "8000", before=in_own_network("10.214.0.2"), bind="0.0.0.0")
    flags = "-proto tcp -host-ip 0.0.0.0 -host-port 18080 -container-ip 10.214.0.2 -container-port 8000"
    proxy = subprocess.Popen(
        ["/usr/bin/docker-proxy", "-c", "import time; print('up', flush=True); time.sleep(60)", *flags.split()],
        executable=sys.executable,
        stdout=subprocess.PIPE,
    )
    try:
        assert proxy.stdout is not None
        assert proxy.stdout.readline() == b"up\n"
        (target,) = find(server.pid).targets
        assert (target.url, target.server) == ("http://127.0.0.1:18080/metrics", "node1:18080")
    finally:
        proxy.kill()
        proxy.communicate()


@needs_root
def test_a_server_that_another_network_keeps_to_itself_is_a_problem(start: Starter) -> None:
    server = start(8000, "--port", "8000", before=in_own_network("10.214.0.2"), bind="127.0.0.1")
    found = ServerFinder("node1").find()
    assert [entry.targets for entry in found.servers if entry.tree.root.pid == server.pid] == [()]
    assert [line for line in found.problems if f"process {server.pid}:" in line and "--host 0.0.0.0" in line]
