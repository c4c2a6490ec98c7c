"""Logs that are to be followed are named as SERVER=PATH, and their state lies where the system wants it."""

from pathlib import Path

import pytest

from vllmwatch.config.logs import read_logs, state_file
from vllmwatch.sources.logs.origin import LogKind, LogOrigin, read_origin


@pytest.mark.parametrize(
    ("text", "server", "name"),
    [
        ("gpu1:8000=/var/log/vllm.log", "gpu1:8000", "/var/log/vllm.log"),
        ("/var/log/vllm.log", "", "/var/log/vllm.log"),
        ("/var/log/a=b.log", "", "/var/log/a=b.log"),
        ("gpu1:8000=logs/a=b.log", "gpu1:8000", "logs/a=b.log"),
    ],
)
def test_names(text: str, server: str, name: str) -> None:
    assert read_origin(LogKind.FILE, text) == LogOrigin(LogKind.FILE, name, server)


def test_what_names_none_is_refused() -> None:
    with pytest.raises(ValueError, match="SERVER=FILE or FILE is expected"):
        read_origin(LogKind.FILE, "gpu1:8000=")


def test_paths_are_from_where_they_are_written_and_named_once() -> None:
    found = read_logs(LogKind.FILE, ("a:1=x.log", "/y.log"), Path("/etc/vllmwatch"))
    assert [each.name for each in found] == ["/etc/vllmwatch/x.log", "/y.log"]
    assert read_logs(LogKind.UNIT, ("a:1=vllm.service",), Path("/etc"))[0].name == "vllm.service"
    with pytest.raises(ValueError, match=r"/y\.log is named twice"):
        read_logs(LogKind.FILE, ("/y.log", "a:1=/y.log"), Path("/"))


@pytest.mark.parametrize(
    ("environment", "is_root", "expected"),
    [
        ({"STATE_DIRECTORY": "/var/lib/x:/var/lib/y"}, False, "/var/lib/x/logs-9836.json"),
        ({}, True, "/var/lib/vllmwatch/logs-9836.json"),
        ({}, False, "/home/ada/.local/state/vllmwatch/logs-9836.json"),
        ({"XDG_STATE_HOME": "/s"}, False, "/s/vllmwatch/logs-9836.json"),
    ],
)
def test_state_file(environment: dict[str, str], is_root: bool, expected: str) -> None:
    assert str(state_file(9836, environment, Path("/home/ada"), is_root=is_root)) == expected
