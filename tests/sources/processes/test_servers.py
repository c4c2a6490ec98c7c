"""Tables of processes go in, servers with all their processes come out."""

from tests.sources.processes.tables import (
    DATA_PARALLEL,
    ONE_SERVER,
    PYTHON,
    SERVE,
    SUPERVISED,
    processes,
    trees,
)
from vllmwatch.sources.processes.roles import Role
from vllmwatch.sources.processes.servers import PublishedPort, find_servers, published_ports
from vllmwatch.sources.processes.table import Process


def test_a_server_owns_the_processes_below_it() -> None:
    (tree,) = trees(*ONE_SERVER)
    assert tree.root.pid == 5037
    assert tree.pids() == (5037, 5195, 5196, 5231)
    assert tree.pids(Role.ENGINE) == (5196,)
    assert tree.pids(Role.WORKER) == (5231,)
    assert tree.arguments == ("org/tiny", "--host", "127.0.0.1", "--port", "8100")


def test_data_parallel_ranks_and_api_servers_are_one_server() -> None:
    (tree,) = trees(*DATA_PARALLEL)
    assert tree.root.pid == 8146
    assert tree.pids(Role.API_SERVER) == (8204, 8205)
    assert tree.pids(Role.ENGINE, Role.WORKER) == (8202, 8203, 8232, 8241)
    assert tree.pids(Role.COORDINATOR) == (8164,)


def test_supervised_ranks_are_one_server() -> None:
    (tree,) = trees(*SUPERVISED)
    assert tree.pids() == (300, 310, 311, 320, 321)


def test_two_servers_under_one_shell_are_two() -> None:
    found = trees(
        (10, 1, ("bash",)),
        (20, 10, (*SERVE, "--port", "8000")),
        (21, 20, ("VLLM::EngineCore",)),
        (30, 10, (*SERVE, "--port", "8001")),
        (31, 30, ("VLLM::EngineCore",)),
    )
    assert [(tree.root.pid, tree.pids(Role.ENGINE)) for tree in found] == [(20, (21,)), (30, (31,))]


def test_a_wrapper_above_and_a_fork_below_make_no_second_server() -> None:
    (tree,) = trees(
        (10, 1, ("sh", "-c", "vllm serve org/tiny")),
        (20, 10, SERVE),
        (21, 20, SERVE),
        (22, 21, ("VLLM::EngineCore",)),
    )
    assert tree.root.pid == 20
    assert tree.pids() == (20, 21, 22)


def test_engines_without_a_server_above_are_no_server() -> None:
    assert trees((10, 1, ("VLLM::EngineCore",)), (11, 10, ("VLLM::Worker_TP0",))) == ()
    assert trees((10, 1, ("ray::ServeReplica:app",)), (11, 10, ("VLLM::EngineCore",))) == ()


def test_a_server_with_a_title_has_no_arguments() -> None:
    (tree,) = trees((10, 1, ("VLLM::APIServer",)), (11, 10, ("VLLM::EngineCore",)))
    assert tree.arguments is None
    assert tree.pids() == (10, 11)


def test_a_parent_younger_than_its_child_is_another_process() -> None:
    child = Process(900, 20, 50.0, ("VLLM::Worker",))
    reused = Process(20, 1, 60.0, SERVE)
    (tree,) = find_servers((child, reused))
    assert tree.pids() == (20,)


def test_a_table_that_goes_in_circles_ends() -> None:
    ring = (Process(2, 3, 1.0, SERVE), Process(3, 2, 1.0, (PYTHON,)))
    assert [tree.root.pid for tree in find_servers(ring)] == [2]


def test_docker_proxy_publishes_tcp_ports_and_is_no_server() -> None:
    proxy = ("/usr/bin/docker-proxy", "-proto", "tcp", "-host-ip", "0.0.0.0", "-host-port", "8080")
    to = ("-container-ip", "172.18.0.5", "-container-port", "8000")
    table = processes(
        (
            (10, 1, (*proxy, *to)),
            (11, 1, (proxy[0], "-proto", "udp", *proxy[3:], *to)),
            (12, 1, (*proxy, "-container-port", "8000")),
            (
                13,
                1,
                (
                    proxy[0],
                    "--proto=tcp",
                    "--host-ip=::",
                    "--host-port=81",
                    "--container-ip=fd00::5",
                    "--container-port=80",
                ),
            ),
        )
    )
    assert find_servers(table) == ()
    assert published_ports(table) == (
        PublishedPort("0.0.0.0", 8080, "172.18.0.5", 8000),
        PublishedPort("::", 81, "fd00::5", 80),
    )
