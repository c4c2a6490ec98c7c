"""The flags that say where a server listens, in every way that vLLM's parser takes them."""

import pytest

from vllmwatch.sources.processes.finder import flag_file
from vllmwatch.sources.processes.flags import read_flags


@pytest.mark.parametrize(
    ("flags", "ports"),
    [
        ("", (8000,)),
        ("--port 8100", (8100,)),
        ("--port=8100", (8100,)),
        ("--por 8100", (8100,)),
        ("--model m --port 8100 --port 8200", (8200,)),
        ("--port -1", (8000,)),
        ("--port", (8000,)),
        ("--pipeline-parallel-size 2", (8000,)),
        ("-p 9000 -pp 2", (8000,)),
        ("--served-model-name port --data-parallel-size 4", (8000,)),
        ("--data-parallel-supervisor-port 9000", (8000,)),
        ("--port 8100 -dp 4 -dpm", (8100, 8101, 8102, 8103)),
        ("--port 8100 -dp=4 -dpl 2 --data_parallel_multi_port_external_lb", (8100, 8101)),
        ("--port 65536", (8000,)),
        ("--port 65534 -dp 4 -dpm", (65534, 65535)),
        (f"--port {'9' * 5000}", (8000,)),
        ("--port 8100 -dp 999999999 -dpm", tuple(range(8100, 8164))),
        ("--data-parallel-m --data-parallel-size-local=2 --data-parallel-size 8", (8000, 8001)),
    ],
)
def test_ports(flags: str, ports: tuple[int, ...]) -> None:
    assert read_flags(tuple(flags.split())).ports == ports


def test_the_other_flags_are_read_in_full_and_short() -> None:
    flags = read_flags(("--ho", "10.0.0.5", "--ssl-k", "key.pem", "--ud", "/run/vllm.sock", "--hea", "--grpc"))
    assert (flags.host, flags.uds, flags.tls, flags.headless, flags.grpc) == (
        "10.0.0.5",
        "/run/vllm.sock",
        True,
        True,
        True,
    )
    assert read_flags(("--ssl_certfile=c.pem",)).tls is True
    assert read_flags(("--ssl-cert-reqs", "1", "--ssl-c")).tls is False


def test_a_value_that_looks_like_a_flag_is_a_value() -> None:
    assert read_flags(("--uds", "--port", "--port", "8100")).port == 8100
    assert read_flags(("--uds", "--port", "8100")).port is None


def test_the_file_of_config_loses_against_the_command_line() -> None:
    values = flag_file("port: 9000\nhost: 0.0.0.0\ndata_parallel_size: 2\nheadless: false\nuds:\n")
    from_file = read_flags(("--config", "a.yml"), values)
    assert (from_file.port, from_file.host, from_file.headless, from_file.uds) == (9000, "0.0.0.0", False, None)
    assert read_flags(("--config", "a.yml", "--port", "8100"), values).port == 8100


@pytest.mark.parametrize("text", ["", "- a\n", "port: [", "5", "a: 2026-99-99", "a: !!bool x", "[" * 2000])
def test_a_file_of_config_that_is_none_says_nothing(text: str) -> None:
    assert flag_file(text) == {}
