"""Tables of processes, as they were seen on real hosts, for the pure parts."""

from vllmwatch.sources.processes.servers import ServerTree, find_servers
from vllmwatch.sources.processes.table import Process

PYTHON = "/opt/venv/bin/python3"
SERVE = (PYTHON, "/opt/venv/bin/vllm", "serve", "org/tiny")
TRACKER = (PYTHON, "-B", "-c", "from multiprocessing.resource_tracker import main;main(11)")

Row = tuple[int, int, tuple[str, ...]]

# vLLM 0.32, CPU build: vllm serve … --port 8100.
ONE_SERVER: tuple[Row, ...] = (
    (1, 0, ("/sbin/init",)),
    (40, 1, ("-bash",)),
    (5037, 40, (*SERVE, "--host", "127.0.0.1", "--port", "8100")),
    (5195, 5037, TRACKER),
    (5196, 5037, ("VLLM::EngineCore",)),
    (5231, 5196, ("VLLM::Worker",)),
)

# vLLM 0.32, CPU build: vllm serve … --port 8120 --data-parallel-size 2 --api-server-count 2, started through nice.
DATA_PARALLEL: tuple[Row, ...] = (
    (1, 0, ("/sbin/init",)),
    (8144, 1, ("bash", "/dev/fd/3")),
    (8146, 8144, (*SERVE, "--port", "8120", "--data-parallel-size", "2", "--api-server-count", "2")),
    (8163, 8146, TRACKER),
    (8164, 8146, ("VLLM::DPCoordinator",)),
    (8202, 8146, ("VLLM::EngineCore_DP0",)),
    (8203, 8146, ("VLLM::EngineCore_DP1",)),
    (8204, 8146, ("VLLM::APIServer_0",)),
    (8205, 8146, ("VLLM::APIServer_1",)),
    (8232, 8202, ("VLLM::Worker",)),
    (8241, 8203, ("VLLM::Worker",)),
)

# By the source of 0.32 (entrypoints/launchers/dp_supervisor.py): one API server a rank, below a supervisor that keeps
# its command line and has an HTTP server of its own without metrics.
SUPERVISED: tuple[Row, ...] = (
    (1, 0, ("/sbin/init",)),
    (
        300,
        1,
        (
            *SERVE,
            "--port=8130",
            "-dp",
            "4",
            "--data-parallel-size-local",
            "2",
            "--data-parallel-multi-port-external-lb",
        ),
    ),
    (310, 300, ("VLLM::APIServer_DP0",)),
    (311, 300, ("VLLM::APIServer_DP1",)),
    (320, 310, ("VLLM::EngineCore",)),
    (321, 311, ("VLLM::EngineCore",)),
)


def processes(rows: tuple[Row, ...]) -> tuple[Process, ...]:
    """Make the table; a process is created as many seconds after the epoch as its pid says."""
    return tuple(Process(pid, parent, float(pid), arguments) for pid, parent, arguments in rows)


def trees(*rows: Row) -> tuple[ServerTree, ...]:
    return find_servers(processes(rows))


def tree_of(*flags: str) -> ServerTree:
    (tree,) = trees((500, 1, (*SERVE, *flags)))
    return tree
