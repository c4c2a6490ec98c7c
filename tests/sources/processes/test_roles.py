"""Command lines and titles, and the part of vLLM that each is."""

import pytest

from vllmwatch.sources.processes.roles import Ranks, Role, role_of, server_arguments, title_ranks


@pytest.mark.parametrize(
    "arguments",
    [
        "vllm serve m",
        "/opt/venv/bin/vllm serve m",
        "/opt/venv/bin/python3 /opt/venv/bin/vllm serve m",
        "python3.11 -u /usr/local/bin/vllm serve m",
        "python -X dev -W error vllm serve m",
        "python -m vllm.entrypoints.openai.api_server m",
        "python3 -u -m vllm.entrypoints.openai.api_server m",
        "python3 -mvllm.entrypoints.openai.api_server m",
        "python3 -m vllm.entrypoints.cli.main serve m",
        "python3 -m vllm serve m",
        "python3 /src/vllm/entrypoints/openai/api_server.py m",
    ],
)
def test_a_server_is_known_by_its_command_line(arguments: str) -> None:
    words = tuple(arguments.split())
    assert role_of(words) is Role.SERVER
    assert server_arguments(words) == ("m",)


@pytest.mark.parametrize(
    "arguments",
    [
        ("sh", "-c", "vllm serve m"),
        ("bash", "-c", "exec python -m vllm.entrypoints.openai.api_server"),
        ("sudo", "vllm", "serve", "m"),
        ("uv", "run", "vllm", "serve", "m"),
        ("timeout", "60", "vllm", "serve", "m"),
        ("docker", "run", "image", "vllm", "serve", "m"),
        ("grep", "vllm", "serve"),
        ("vim", "vllm", "serve"),
        ("vllm", "bench", "serve"),
        ("vllm", "run-batch", "-i", "serve"),
        ("vllm",),
        ("python3", "-c", "import vllm"),
        ("python3", "-c", "serve", "vllm"),
        ("python3", "client.py", "vllm", "serve"),
        ("python3", "-m", "vllm.entrypoints.api_server_client"),
        ("python3", "-m"),
        ("python3",),
        ("/usr/bin/docker-proxy", "-proto", "tcp", "-host-port", "8000"),
        ("ray::ServeReplica:vllm:serve",),
        ("VLLM::EngineCore", "serve"),
        (),
    ],
)
def test_what_merely_speaks_of_a_server_is_none(arguments: tuple[str, ...]) -> None:
    assert role_of(arguments) in {None, Role.RAY}
    assert server_arguments(arguments) is None


@pytest.mark.parametrize(
    ("title", "role", "engine", "worker"),
    [
        ("VLLM::APIServer", Role.API_SERVER, None, ""),
        ("VLLM::APIServer_1", Role.API_SERVER, None, ""),
        ("VLLM::APIServer_DP3", Role.API_SERVER, 3, ""),
        ("VLLM::DPSupervisor", Role.SERVER, None, ""),
        ("VLLM::EngineCore", Role.ENGINE, None, ""),
        ("VLLM::EngineCore_DP12", Role.ENGINE, 12, ""),
        ("VLLM::Worker", Role.WORKER, None, ""),
        ("VLLM::Worker_DP1_PP0_TP3_EP2", Role.WORKER, 1, "PP0_TP3"),
        ("VLLM::Worker_PP1_PCP1_TP0_DCP0", Role.WORKER, None, "PP1_PCP1_TP0"),
        ("VLLM::Worker_TP1", Role.WORKER, None, "TP1"),
        ("VLLM::DPCoordinator", Role.COORDINATOR, None, ""),
        ("chat::EngineCore_DP0", Role.ENGINE, 0, ""),
        ("ray::RayWorkerWrapper.execute_method", Role.RAY, None, ""),
        ("VLLM::SomethingNew_DP1", None, None, ""),
    ],
)
def test_a_title_names_role_and_ranks(title: str, role: Role | None, engine: int | None, worker: str) -> None:
    assert role_of((title,)) is role
    assert title_ranks((title,)) == Ranks(engine, worker)


def test_a_command_line_names_no_rank() -> None:
    assert title_ranks(("VLLM::Worker_TP1", "--flag")) == Ranks()
