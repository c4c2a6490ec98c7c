"""`vllmwatch up` as its users run it: a real Prometheus scrapes a real exporter, and everything ends together."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest
import requests

from tests.real.places import ROOT, free_port
from vllmwatch.catalog.alerts import ALERTS
from vllmwatch.catalog.recordings import RECORDINGS
from vllmwatch.stack.prometheus import Prometheus

pytestmark = pytest.mark.real_prometheus

LAST_LINE = "Ctrl-C stops everything."


class Up:
    """One `vllmwatch up` in a folder of its own, with what it said so far."""

    def __init__(self, folder: Path, program: Prometheus, *arguments: str, stdin: int = subprocess.DEVNULL) -> None:
        self.state = folder / "state"
        self.prometheus = f"http://127.0.0.1:{(port := free_port())}"
        self.exporter = f"http://127.0.0.1:{(exporter_port := free_port())}"
        command = [sys.executable, "-m", "vllmwatch", "up", "--state", str(self.state), "--no-discover"]
        ports = ["--listen", f"127.0.0.1:{exporter_port}", "--prometheus-port", str(port)]
        inherited = {key: text for key, text in os.environ.items() if not key.startswith("VLLMWATCH_")}
        path = f"{program.path.parent}:{inherited['PATH']}"
        self.process = subprocess.Popen(
            [*command, *ports, *arguments],
            cwd=folder,
            env={**inherited, "PATH": path, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.said: list[str] = []

    def wait_started(self) -> None:
        """Read what it says until everything is up."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(line.rstrip())
            if line.rstrip().endswith(LAST_LINE):
                return
        raise AssertionError(f"it ended with {self.process.wait()}:\n" + "\n".join(self.said))

    def children(self) -> dict[str, psutil.Process]:
        """Return its children by what they are."""
        found = psutil.Process(self.process.pid).children()
        return {"prometheus" if "prometheus" in Path(child.cmdline()[0]).name else "exporter": child for child in found}

    def finish(self) -> int:
        """Read the rest of what it says and return its exit status."""
        rest, _ = self.process.communicate(timeout=60)
        self.said += rest.splitlines()
        return self.process.returncode


@contextmanager
def ended(up: Up) -> Iterator[Up]:
    """See to it that nothing of it is left."""
    try:
        yield up
    finally:
        if up.process.poll() is None:
            up.process.terminate()
            up.finish()
        if up.process.stdout is not None:
            up.process.stdout.close()


StartUp = Callable[..., Up]


@pytest.fixture
def start_up(newest_prometheus: Prometheus, tmp_path: Path) -> Iterator[StartUp]:
    """Return a function that starts `vllmwatch up` with the newest Prometheus on PATH."""
    with ExitStack() as stack:

        def start(*arguments: str) -> Up:
            up = stack.enter_context(ended(Up(tmp_path, newest_prometheus, *arguments)))
            up.wait_started()
            return up

        yield start


def test_prometheus_scrapes_the_exporter_and_both_end_at_the_request(start_up: StartUp) -> None:
    up = start_up()
    assert f"Exporter:   {up.exporter}/metrics" in up.said
    # The packages of the newest release have no page.
    assert requests.get(f"{up.prometheus}/", timeout=5).status_code == 404
    assert not any(line.startswith(f"Prometheus: {up.prometheus}") for line in up.said)
    assert f"  curl '{up.prometheus}/api/v1/query?query=vllmwatch_target_up'" in up.said
    assert "vLLM servers: none" in up.said
    assert f"Other commands ask it after: export VLLMWATCH_PROMETHEUS_URL={up.prometheus}" in up.said
    deadline = time.monotonic() + 40
    while True:
        query = {"query": 'vllmwatch_nvml_up{job="vllmwatch"}'}
        found = requests.get(f"{up.prometheus}/api/v1/query", params=query, timeout=5).json()["data"]["result"]
        if found:
            break
        assert time.monotonic() < deadline, "Prometheus did not scrape the exporter"
        time.sleep(0.5)
    children = list(up.children().values())
    assert len(children) == 2
    up.process.send_signal(signal.SIGTERM)
    assert up.finish() == 0
    assert up.said[-1] == "Stopping"
    assert not any(child.is_running() for child in children)


@pytest.mark.parametrize("victim", ["exporter", "prometheus"])
def test_child_that_dies_is_reported_and_takes_the_rest_with_it(start_up: StartUp, victim: str) -> None:
    up = start_up()
    children = up.children()
    children[victim].kill()
    assert up.finish() == 1
    said = "\n".join(up.said)
    assert f"{victim} ended by itself (signal SIGKILL)" in said
    assert str(up.state / "up" / "logs" / f"{victim}.log") in said
    assert "Traceback" not in said
    assert not any(child.is_running() for child in children.values())


def test_hangup_makes_the_exporter_read_its_configuration_again(start_up: StartUp) -> None:
    up = start_up("--no-prometheus")
    exporter = up.children()["exporter"]
    assert f"New settings are read after: kill -HUP {exporter.pid}" in up.said
    (up.state.parent / "vllmwatch.yml").write_text("targets: ['later.invalid:8000']\n")
    assert 'server="later.invalid:8000"' not in requests.get(f"{up.exporter}/metrics", timeout=20).text
    up.process.send_signal(signal.SIGHUP)
    deadline = time.monotonic() + 30
    while 'server="later.invalid:8000"' not in requests.get(f"{up.exporter}/metrics", timeout=20).text:
        assert time.monotonic() < deadline, "the exporter did not read its configuration again"
        time.sleep(0.2)
    assert up.children() == {"exporter": exporter}
    up.process.send_signal(signal.SIGTERM)
    assert up.finish() == 0


def rules(up: Up) -> dict[str, str]:
    """Return the rules that Prometheus has, by name: the query of each."""
    groups = requests.get(f"{up.prometheus}/api/v1/rules", timeout=10).json()["data"]["groups"]
    return {rule["name"]: rule["query"] for group in groups for rule in group["rules"]}


def runbook(up: Up, alert: str) -> str:
    """Return where the link to the runbook of an alert leads."""
    groups = requests.get(f"{up.prometheus}/api/v1/rules", timeout=10).json()["data"]["groups"]
    found = (rule for group in groups for rule in group["rules"] if rule["name"] == alert)
    return str(next(found)["annotations"]["runbook_url"])


def test_prometheus_has_the_rules_and_takes_new_thresholds_up(start_up: StartUp) -> None:
    up = start_up()
    loaded = rules(up)
    assert {recording.name for group in RECORDINGS for recording in group.recordings} <= loaded.keys()
    assert {alert.name for alert in ALERTS} <= loaded.keys()
    assert loaded["KvCacheUsageHigh"].endswith("> 0.9")
    # Links lead to the exporter that runs, which is not on its usual port.
    assert urlsplit(runbook(up, "GpuLost")).port == urlsplit(up.exporter).port
    assert requests.get(runbook(up, "GpuLost"), timeout=10).text.startswith("# GpuLost\n")
    (up.state.parent / "vllmwatch.yml").write_text("kv_cache_usage_ratio: 0.8\n")
    up.process.send_signal(signal.SIGHUP)
    deadline = time.monotonic() + 30
    while not rules(up)["KvCacheUsageHigh"].endswith("> 0.8"):
        assert time.monotonic() < deadline, "Prometheus did not read its rules again"
        time.sleep(0.2)
    up.process.send_signal(signal.SIGTERM)
    assert up.finish() == 0


@pytest.mark.usefixtures("hangup_as_usual")
def test_hangup_of_the_terminal_ends_it(tmp_path: Path, newest_prometheus: Prometheus) -> None:
    keyboard, terminal = os.openpty()
    try:
        with ended(Up(tmp_path, newest_prometheus, "--no-prometheus", stdin=terminal)) as up:
            up.wait_started()
            children = list(up.children().values())
            up.process.send_signal(signal.SIGHUP)
            assert up.finish() == 0
            assert [child for child in children if child.is_running()] == []
    finally:
        os.close(keyboard)
        os.close(terminal)


def test_second_up_on_the_same_folder_is_refused(start_up: StartUp, newest_prometheus: Prometheus) -> None:
    first = start_up("--no-prometheus")
    second = Up(first.state.parent, newest_prometheus)
    assert second.finish() == 1
    assert f"already runs on {first.state} (process {first.process.pid})" in "\n".join(second.said)
    assert first.process.poll() is None


def test_no_prometheus_starts_the_exporter_alone(start_up: StartUp) -> None:
    up = start_up("--no-prometheus")
    assert list(up.children()) == ["exporter"]
    assert not any(line.startswith("Prometheus") for line in up.said)


def test_taken_port_of_prometheus_moves_to_the_next(start_up: StartUp) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        up = start_up("--prometheus-port", str(port))
        assert any(line.startswith(f"127.0.0.1:{port} is taken: Prometheus listens on 127.0.0.1:") for line in up.said)


def test_taken_port_that_was_asked_for_is_an_error(tmp_path: Path, newest_prometheus: Prometheus) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with ended(Up(tmp_path, newest_prometheus, "--listen", address)) as up:
            assert up.finish() == 1
            assert f"the exporter cannot listen on {address}: it is taken" in "\n".join(up.said)


def test_fault_in_the_configuration_is_said_before_anything_starts(
    tmp_path: Path, newest_prometheus: Prometheus
) -> None:
    (tmp_path / "vllmwatch.yml").write_text("lisen: 127.0.0.1:1\n")
    with ended(Up(tmp_path, newest_prometheus)) as up:
        assert up.finish() != 0
        assert "'listen'" in "\n".join(up.said)
        assert not up.state.exists()
