"""The join by the whole exporter: the stand-in NVML names the pids of process trees that really run and listen."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import psutil
import pytest
import yaml

from tests.exporter.join.page import debug, held, holding, links, needs_hosts_pids, on, samples, unmapped
from tests.exporter.server_trees import DATA_PARALLEL, IDLE, script, server_environment, serving_tree
from tests.fake_nvml.cards import GIB, uuid_of
from tests.fake_nvml.plugin import child_environment
from tests.fake_nvml.presets import h100_host, mig_host
from tests.fake_nvml.state import State
from tests.real.exporter_process import ExporterProcess
from tests.real.places import free_port
from tests.sources.processes.stand_in import wait_until

pytestmark = [pytest.mark.fake_nvml, needs_hosts_pids]
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="namespaces need root")

OWN_PIDS = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")
WIDE = {f"VLLM::EngineCore_DP{rank}": [f"VLLM::Worker_DP{rank}_TP{at}" for at in range(4)] for rank in range(2)}
StartExporter = Callable[..., ExporterProcess]


@pytest.fixture
def state(tmp_path: Path) -> State:
    return State(tmp_path / "nvml.state", h100_host(2))


@pytest.fixture
def start(fake_nvml_folder: Path, state: State, tmp_path: Path) -> Iterator[StartExporter]:
    with contextlib.ExitStack() as stack:

        def starter(*arguments: str, before: Sequence[str] = ()) -> ExporterProcess:
            environment = child_environment(fake_nvml_folder, state.path)
            words = ("--node", "box", "--discover-interval-seconds", "1", *arguments)
            exporter = ExporterProcess(tmp_path, words, environment, before)
            exporter.start()
            stack.callback(exporter.stop)
            if before:
                # unshare passes no signal on, and ends with its child.
                stack.callback(kill_children, exporter.pid)
            return exporter

        yield starter


def kill_children(pid: int) -> None:
    for child in psutil.Process(pid).children():
        child.kill()


def test_two_engines_of_four_workers_on_eight_gpus(start: StartExporter, state: State, tmp_path: Path) -> None:
    port = free_port()
    with serving_tree(tmp_path, port, WIDE, page=DATA_PARALLEL, flags=("-dp", "2", "-tp", "4")) as server:
        workers = [server.pids[title] for below in WIDE.values() for title in below]
        state.replace(holding(h100_host(), *(on(7 - at, pid) for at, pid in enumerate(workers))))
        exporter = start()
        name = f"box:{port}"
        assert links(exporter, port) == [
            *((name, "0", f"TP{at}", 7 - at) for at in range(4)),
            *((name, "1", f"TP{at}", 3 - at) for at in range(4)),
        ]
        assert held(exporter) == {(gpu, "server", name): 70 * GIB for gpu in range(8)}
        assert unmapped(exporter) == {}
        assert len(debug(exporter)["links"]) == 8


def test_a_server_that_is_written_down_is_joined_without_discovery(
    start: StartExporter, state: State, tmp_path: Path
) -> None:
    port, other = free_port(), free_port()
    with serving_tree(tmp_path, port) as server, serving_tree(tmp_path, other) as stranger:
        pids = server.pids["VLLM::Worker"], stranger.pids["VLLM::Worker"]
        state.replace(holding(h100_host(2), on(0, pids[0]), on(1, pids[1])))
        exporter = start("--no-discover", "--target", f"http://localhost:{port}")
        assert links(exporter, port, other) == [(f"box:{port}", "0", "TP0", 0)]
        assert unmapped(exporter) == {1: {"no_target"}}


def test_two_servers_share_a_gpu(start: StartExporter, state: State, tmp_path: Path) -> None:
    first, second = free_port(), free_port()
    with serving_tree(tmp_path, first) as one, serving_tree(tmp_path, second) as two:
        shares = (on(0, one.pids["VLLM::Worker"], 30 * GIB), on(0, two.pids["VLLM::Worker"], 20 * GIB))
        state.replace(holding(h100_host(2), *shares))
        exporter = start()
        assert links(exporter, first, second) == sorted(
            [(f"box:{first}", "0", "TP0", 0), (f"box:{second}", "0", "TP0", 0)]
        )
        assert held(exporter) == {(0, "server", f"box:{first}"): 30 * GIB, (0, "server", f"box:{second}"): 20 * GIB}
        assert unmapped(exporter) == {1: {"empty_process_list"}}


def test_two_servers_on_instances_of_one_gpu(start: StartExporter, state: State, tmp_path: Path) -> None:
    first, second = free_port(), free_port()
    with serving_tree(tmp_path, first) as one, serving_tree(tmp_path, second) as two:
        lines = holding(mig_host())
        for at, (server, numbers) in enumerate(((one, "2,0"), (two, "5,0"))):
            lines |= {
                f"process.{at}": f"gpu.0.mig.{at},compute,{server.pids['VLLM::Worker']},{(at + 1) * GIB},{numbers}"
            }
        state.replace(lines)
        exporter = start()
        found = {labels["server"]: labels for labels, _ in samples(exporter, "engine_gpu_info")}
        assert found[f"box:{first}"]["uuid"] == "MIG-1f3a0c52-6a11-5c0e-9d0b-5b8e1a7c0001"
        assert found[f"box:{second}"]["uuid"] == "MIG-1f3a0c52-6a11-5c0e-9d0b-5b8e1a7c0002"
        assert {labels["parent_uuid"] for labels in found.values()} == {uuid_of(0)}
        assert held(exporter) == {(0, "server", f"box:{first}"): GIB, (0, "server", f"box:{second}"): 2 * GIB}


def test_a_worker_that_dies_leaves_memory_of_the_dead_and_then_nothing(
    start: StartExporter, state: State, tmp_path: Path
) -> None:
    port = free_port()
    tree = {"VLLM::EngineCore": ("VLLM::Worker_TP0", "VLLM::Worker_TP1")}
    with serving_tree(tmp_path, port, tree, flags=("-tp", "2")) as server:
        both = [on(at, server.pids[f"VLLM::Worker_TP{at}"]) for at in range(2)]
        state.replace(holding(h100_host(2), *both))
        exporter = start()
        assert [gpu for *_, gpu in links(exporter, port)] == [0, 1]
        server.kill("VLLM::Worker_TP1")
        wait_until(lambda: (1, "dead", "") in held(exporter))
        assert held(exporter) == {(0, "server", f"box:{port}"): 70 * GIB, (1, "dead", ""): 70 * GIB}
        assert [gpu for *_, gpu in links(exporter, port)] == [0]
        state.replace(holding(h100_host(2), both[0]) | {"gpu.1.nvmlDeviceGetUtilizationRates": "0,0"})
        assert held(exporter) == {(0, "server", f"box:{port}"): 70 * GIB}


def test_workers_whose_server_was_killed_are_orphans(start: StartExporter, state: State, tmp_path: Path) -> None:
    port = free_port()
    with serving_tree(tmp_path, port) as server:
        state.replace(holding(h100_host(1), on(0, server.pids["VLLM::Worker"])))
        exporter = start()
        assert unmapped(exporter) == {}
        server.kill_root()
        wait_until(lambda: unmapped(exporter) == {0: {"orphaned"}})
        assert links(exporter, port) == []
        assert held(exporter) == {(0, "other", ""): 70 * GIB}
        assert [entry["meaning"] for entry in debug(exporter)["unmapped"]] == [
            "vLLM processes whose server is gone still hold the GPU"
        ]


def test_a_lost_gpu_keeps_its_engine_over_a_reload(start: StartExporter, state: State, tmp_path: Path) -> None:
    port = free_port()
    with serving_tree(tmp_path, port) as server:
        state.replace(holding(h100_host(2), on(1, server.pids["VLLM::Worker"])))
        exporter = start()
        carried = [(f"box:{port}", "0", "TP0", 1)]
        assert links(exporter, port) == carried
        state.lose_gpu(1)
        assert links(exporter, port) == carried
        assert {labels["gpu"]: value for labels, value in samples(exporter, "gpu_up")} == {"0": 1, "1": 0}
        before = samples(exporter, "config_last_reload_success_timestamp_seconds")
        os.kill(exporter.pid, 1)
        wait_until(lambda: samples(exporter, "config_last_reload_success_timestamp_seconds") != before)
        assert links(exporter, port) == carried


@needs_root
def test_a_program_that_holds_a_device_is_somebody_else_and_one_that_does_not_is_no_user(
    start: StartExporter, state: State
) -> None:
    """The first has a folder of devices of its own, as in a container, with a file that stands for a GPU's."""
    make = "mount -t tmpfs none /dev && : > /dev/nvidia0 && exec 3< /dev/nvidia0 && echo up && exec cat"
    user = subprocess.Popen(["unshare", "--mount", "sh", "-c", make], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    stranger = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    try:
        assert user.stdout is not None
        assert user.stdout.readline() == b"up\n"
        state.replace(holding(h100_host(2), on(0, user.pid, GIB), on(1, stranger.pid, GIB)))
        exporter = start()
        assert held(exporter) == {(0, "other", ""): GIB, (1, "dead", ""): GIB}
        assert unmapped(exporter) == {}
    finally:
        for child in (user, stranger):
            child.kill()
            child.communicate()


# Answers on the host and asks in the network of a container, as docker-proxy does: only the threads go over.
RELAY = """
import ctypes, os, socket, sys, threading
container = dict(zip(sys.argv[1::2], sys.argv[2::2]))
listening = socket.create_server(("127.0.0.1", int(container["-host-port"])))
def pump(source, sink):
    while data := source.recv(65536):
        sink.sendall(data)
    sink.close()
def serve():
    namespace = os.open(os.environ["NETWORK"], os.O_RDONLY)
    assert ctypes.CDLL(None, use_errno=True).setns(namespace, 0) == 0
    print("up", flush=True)
    while True:
        here, _ = listening.accept()
        there = socket.create_connection((container["-container-ip"], int(container["-container-port"])))
        threading.Thread(target=pump, args=(here, there), daemon=True).start()
        threading.Thread(target=pump, args=(there, here), daemon=True).start()
threading.Thread(target=serve, daemon=True).start()
threading.Event().wait(120)
"""


@contextlib.contextmanager
def published(pid: int, host_port: int, address: str) -> Iterator[None]:
    """Publish port 8000 of a container's address on the host; `pid` is of a process in the container's network."""
    flags = f"-proto tcp -host-ip 127.0.0.1 -host-port {host_port} -container-ip {address} -container-port 8000"
    proxy = subprocess.Popen(
        ["/usr/bin/docker-proxy", "-c", RELAY, *flags.split()],
        executable=sys.executable,
        stdout=subprocess.PIPE,
        # A name that is no path leads the interpreter to no library.
        env={**os.environ, "NETWORK": f"/proc/{pid}/ns/net", "PYTHONHOME": sys.base_prefix},
    )
    try:
        assert proxy.stdout is not None
        assert proxy.stdout.readline() == b"up\n"
        yield
    finally:
        proxy.kill()
        proxy.communicate()


@needs_root
def test_a_server_in_a_container_is_seen_from_the_host(start: StartExporter, state: State, tmp_path: Path) -> None:
    port = free_port()
    network = 'ip link set lo up && ip addr add 10.214.0.2/32 dev lo && exec "$@"'
    container = (*OWN_PIDS, "--net", "sh", "-c", network, "sh")
    with serving_tree(tmp_path, 8000, before=container, bind="0.0.0.0") as server:
        worker = server.pids["VLLM::Worker"]
        assert Path(f"/proc/{worker}/status").read_text().count(f"NSpid:\t{worker}\t") == 1
        state.replace(holding(h100_host(2), on(1, worker)))
        with published(worker, port, "10.214.0.2"):
            exporter = start()
            assert links(exporter, port) == [(f"box:{port}", "0", "TP0", 1)]
            up = {labels["server"]: value for labels, value in samples(exporter, "target_up")}
            assert up[f"box:{port}"] == 1


FOREIGN = (on(0, 4_000_001), on(1, 4_000_002))


@needs_root
def test_in_a_container_of_its_own_the_exporter_says_so_and_believes_no_number(
    start: StartExporter, state: State, tmp_path: Path
) -> None:
    """One of the host's numbers is that of the exporter here, another that of nobody."""
    port = free_port()
    with serving_tree(tmp_path, port):
        state.replace(holding(h100_host(3), on(0, 4_000_001), on(1, 1), on(2, 2)))
        exporter = start("--target", f"http://127.0.0.1:{port}", before=OWN_PIDS)
        assert links(exporter, port) == []
        assert unmapped(exporter) == {gpu: {"pid_namespace"} for gpu in range(3)}
        assert held(exporter) == {(gpu, "unseen", ""): 70 * GIB for gpu in range(3)}
        told = debug(exporter)["unmapped"]
        assert [entry["reason"] for entry in told] == ["pid_namespace"] * 3
        assert "run it with the host's" in told[0]["meaning"]


@needs_root
def test_in_a_container_of_its_own_a_mapping_fills_in(start: StartExporter, state: State, tmp_path: Path) -> None:
    port = free_port()
    mapping = [{"url": f"http://localhost:{port}", "gpus": [uuid_of(1)]}]
    (tmp_path / "vllmwatch.yml").write_text(yaml.safe_dump({"servers": mapping}))
    with serving_tree(tmp_path, port):
        state.replace(holding(h100_host(2), *FOREIGN))
        exporter = start("--target", f"http://127.0.0.1:{port}", before=OWN_PIDS)
        assert links(exporter, port) == [(f"box:{port}", "0", "", 1)]
        assert unmapped(exporter) == {0: {"pid_namespace"}}


@needs_root
def test_in_a_container_with_its_server_the_environment_fills_in(
    start: StartExporter, state: State, tmp_path: Path
) -> None:
    port = free_port()
    server = [sys.executable, str(script(tmp_path)), "serve", "org/tiny", "--port", str(port), "-tp", "2"]
    environment = server_environment(port, {}, IDLE) | {"CUDA_VISIBLE_DEVICES": f"2,{uuid_of(0)}"}
    told = [f"{key}={environment[key]}" for key in ("TREE", "PAGE", "PORT", "BIND", "CUDA_VISIBLE_DEVICES")]
    words = " ".join(f"'{word}'" for word in ("env", *told, *server))
    state.replace(holding(h100_host(3), *FOREIGN, on(2, 4_000_003)))
    exporter = start(before=(*OWN_PIDS, "sh", "-c", f'{words} & exec "$@"', "sh"))
    wait_until(lambda: links(exporter, port) != [])
    assert links(exporter, port) == [(f"box:{port}", "0", "TP0", 2), (f"box:{port}", "0", "TP1", 0)]
    assert unmapped(exporter) == {1: {"pid_namespace"}}


def test_a_mapping_against_the_processes_is_told_to_people(start: StartExporter, state: State, tmp_path: Path) -> None:
    port = free_port()
    mapping = [{"url": f"http://localhost:{port}", "gpus": [0]}]
    (tmp_path / "vllmwatch.yml").write_text(yaml.safe_dump({"servers": mapping}))
    with serving_tree(tmp_path, port) as server:
        state.replace(holding(h100_host(2), on(1, server.pids["VLLM::Worker"])))
        exporter = start()
        assert links(exporter, port) == [(f"box:{port}", "0", "TP0", 1)]
        (note,) = debug(exporter)["notes"]
        assert f"it is on {uuid_of(1)} by its processes, not on {uuid_of(0)}" in note


def test_a_program_that_runs_an_engine_by_itself_is_offline(start: StartExporter, state: State) -> None:
    engine_below = "if os.fork() == 0: os.execv('/bin/cat', ['VLLM::EngineCore'])"
    code = f"import os\n{engine_below}\nprint('up', flush=True); input()"
    program = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert program.stdout is not None
        assert program.stdout.readline() == b"up\n"
        (engine,) = psutil.Process(program.pid).children()
        wait_until(lambda: engine.cmdline() == ["VLLM::EngineCore"])
        state.replace(holding(h100_host(1), on(0, engine.pid)))
        assert unmapped(start()) == {0: {"offline"}}
    finally:
        for child in psutil.Process(program.pid).children():
            child.kill()
        program.kill()
        program.communicate()
