"""The setting `servers`: which GPUs carry a server, and what is said of what is wrong in it."""

import json
from pathlib import Path

import pytest

from vllmwatch.config import load_config
from vllmwatch.errors import ConfigError
from vllmwatch.sources.target import ServerGpus


def load(text: str | None, tmp_path: Path, **environment: str) -> tuple[ServerGpus, ...]:
    file = tmp_path / "w.yml"
    if text is not None:
        file.write_text(text)
    given = file if text is not None else None
    return load_config({}, environment, file=given, hostname="here", directory=tmp_path).servers


def fault(text: str | None, tmp_path: Path, **environment: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(text, tmp_path, **environment)
    assert caught.value.hint
    return caught.value.message.replace(f"{tmp_path}/w.yml", "FILE").splitlines()


def test_devices_keep_their_order_and_their_words(tmp_path: Path) -> None:
    text = """\
servers:
  - url: localhost:8000
    gpus: [3, "0000:18:00.0", GPU-7c4e1b9a, MIG-GPU-1/2/0, " 1 ", 00000000:C1:00.0]
  - url: https://gpu2/v1
    gpus: [0]
"""
    assert load(text, tmp_path) == (
        ServerGpus(
            "http://localhost:8000/metrics",
            "here:8000",
            ("3", "0000:18:00.0", "GPU-7c4e1b9a", "MIG-GPU-1/2/0", "1", "00000000:C1:00.0"),
        ),
        ServerGpus("https://gpu2:443/v1/metrics", "gpu2:443/v1", ("0",)),
    )


def test_without_the_setting_there_is_no_mapping(tmp_path: Path) -> None:
    assert load(None, tmp_path) == ()
    assert load("servers: []\n", tmp_path) == ()


def test_the_environment_gives_mappings_as_json(tmp_path: Path) -> None:
    given = json.dumps([{"url": "127.0.0.1:8000", "gpus": ["GPU-1", 2]}])
    assert load(None, tmp_path, VLLMWATCH_SERVERS=given) == (
        ServerGpus("http://127.0.0.1:8000/metrics", "here:8000", ("GPU-1", "2")),
    )


@pytest.mark.parametrize(
    ("servers", "said"),
    [
        ("5", "FILE:1: servers: a list of mappings with the keys url and gpus is asked for, not 5"),
        ("gpu1:8000", "FILE:1: servers: a list of mappings with the keys url and gpus is asked for, not 'gpu1:8000'"),
        ("{url: a, gpus: [0]}", "FILE:1: servers: a list of mappings with the keys url and gpus is asked for, not "),
        ("[gpu1:8000]", "FILE:1: servers[0]: a mapping with the keys url and gpus is asked for, not 'gpu1:8000'"),
        ("[{gpus: [0]}]", "FILE:1: servers[0]: the key url is missing"),
        ("[{url: gpu1:8000}]", "FILE:1: servers[0]: the key gpus is missing"),
        ("[{url: gpu1:8000, gpu: [0]}]", "FILE:1: servers[0]: unknown key 'gpu'; did you mean 'gpus'?"),
        ("[{url: gpu1:8000, gpus: [0], 7: 8}]", "FILE:1: servers[0]: unknown key '7'"),
        ("[{url: 8000, gpus: [0]}]", "FILE:1: servers[0]: url: an address is asked for, not 8000"),
        ("[{url: 'gpu1:99999', gpus: [0]}]", "FILE:1: servers[0]: 'gpu1:99999' is no address: its port is greater"),
        ("[{url: gpu1:8000, gpus: 0}]", "FILE:1: servers[0]: gpus: a list of UUIDs, indexes or PCI addresses"),
        ("[{url: gpu1:8000, gpus: []}]", "FILE:1: servers[0]: gpus: a list of UUIDs, indexes or PCI addresses"),
        ("[{url: gpu1:8000, gpus: [-1]}]", "FILE:1: servers[0]: gpus: a UUID, an index or a PCI address is asked for"),
        ("[{url: gpu1:8000, gpus: [true]}]", "FILE:1: servers[0]: gpus: a UUID, an index or a PCI address is asked"),
        ("[{url: gpu1:8000, gpus: ['']}]", "FILE:1: servers[0]: gpus: a UUID, an index or a PCI address is asked for"),
        ("[{url: gpu1:8000, gpus: [null]}]", "FILE:1: servers[0]: gpus: a UUID, an index or a PCI address is asked"),
        ("[{url: gpu1:8000, gpus: [[0]]}]", "FILE:1: servers[0]: gpus: a UUID, an index or a PCI address is asked for"),
        ("[{url: gpu1:8000, gpus: [0, '0']}]", "FILE:1: servers[0]: gpus: one stands twice"),
        (
            "[{url: gpu1:8000, gpus: [0]}, {url: 'http://gpu1:8000/', gpus: [1]}]",
            "FILE:1: servers: 'gpu1:8000' stands twice",
        ),
    ],
)
def test_each_fault_is_one_line_with_its_place(servers: str, said: str, tmp_path: Path) -> None:
    (line,) = fault(f"servers: {servers}\n", tmp_path)
    assert line.startswith(said), line


def test_faults_are_told_together_each_on_its_own_line(tmp_path: Path) -> None:
    text = "node: box\nservers:\n  - url: gpu1:8000\n  - gpus: [1]\n  - {url: gpu2:8000, gpus: [x, x]}\n"
    assert fault(text, tmp_path) == [
        "FILE:3: servers[0]: the key gpus is missing",
        "FILE:4: servers[1]: the key url is missing",
        "FILE:5: servers[2]: gpus: one stands twice",
    ]


@pytest.mark.parametrize("written", ["0000:01:00.0", "01:00.0", "18:00", "1000:01:00"])
def test_a_place_on_the_bus_that_yaml_reads_as_a_number_is_to_be_quoted(written: str, tmp_path: Path) -> None:
    """YAML 1.1 has numbers to the base of 60, and 0000:01:00.0 is one."""
    (line,) = fault(f"servers: [{{url: gpu1:8000, gpus: [{written}]}}]\n", tmp_path)
    assert line.endswith("; put a PCI address in quotes")


def test_a_fault_in_the_environment_names_the_variable(tmp_path: Path) -> None:
    (line,) = fault(None, tmp_path, VLLMWATCH_SERVERS='[{"url": "gpu1:8000"}]')
    assert line == "VLLMWATCH_SERVERS: servers[0]: the key gpus is missing"
    (line,) = fault(None, tmp_path, VLLMWATCH_SERVERS='[{"url": ')
    assert line.startswith("VLLMWATCH_SERVERS: servers: a list in JSON begins there, and it is broken")
    (line,) = fault(None, tmp_path, VLLMWATCH_SERVERS='{"url": "gpu1:8000", "gpus": [0]}')
    assert "put it in brackets" in line


def test_no_fault_shows_a_secret(tmp_path: Path) -> None:
    for entry in (
        "'http://me:s3cret@gpu1:8000'",
        "{url: 'http://me:s3cret@gpu1:99999', gpus: [0]}",
        "{'http://me:s3cret@gpu1': 1}",
    ):
        assert "s3cret" not in "\n".join(fault(f"servers: [{entry}]\n", tmp_path))
