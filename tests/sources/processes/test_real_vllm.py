"""Real vLLM servers found among the processes of this machine."""

import pytest

from tests.real.fixtures import StartVllm
from tests.real.vllm_server import VllmServer
from tests.sources.processes.stand_in import wait_until
from vllmwatch.sources.processes import FoundServer, Role, ServerFinder

pytestmark = pytest.mark.real_vllm


def find(finder: ServerFinder, server: VllmServer) -> FoundServer | None:
    return next((found for found in finder.find().servers if found.tree.root.pid == server.pid), None)


def test_a_server_is_found_with_its_engine_and_its_address(vllm_server: VllmServer) -> None:
    found = find(ServerFinder("node1"), vllm_server)
    assert found is not None
    (target,) = found.targets
    assert (target.server, target.loading) == (f"node1:{vllm_server.port}", False)
    assert target.url == f"http://127.0.0.1:{vllm_server.port}/metrics"
    assert len(found.tree.pids(Role.ENGINE)) == 1
    assert len(found.tree.pids(Role.WORKER)) == 1


@pytest.mark.timeout(600)
def test_two_ranks_and_two_api_servers_are_one_server_that_loads_and_then_answers(start_vllm: StartVllm) -> None:
    server = start_vllm("--data-parallel-size", "2", "--api-server-count", "2", wait=False)
    finder = ServerFinder("node1")
    wait_until(lambda: find(finder, server) is not None)
    before = find(finder, server)
    assert before is not None
    assert [(target.server, target.loading) for target in before.targets] == [(f"node1:{server.port}", True)]
    server.wait_ready()
    after = find(finder, server)
    assert after is not None
    assert [(target.server, target.loading) for target in after.targets] == [(f"node1:{server.port}", False)]
    assert len(after.tree.pids(Role.ENGINE)) == 2
    assert len(after.tree.pids(Role.API_SERVER)) == 2
    assert len(after.tree.pids(Role.COORDINATOR)) == 1
