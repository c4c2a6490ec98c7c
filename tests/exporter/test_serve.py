"""The exporter as a process: its address, its signals, its end."""

import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests

from tests.exporter.vllm.pages import RECORDED
from tests.real.exporter_process import ExporterProcess
from tests.real.pages import value
from tests.servers import serving, vllm
from vllmwatch.exporter.serve import _listen

PAGE = (RECORDED / "vllm_0.32.0_idle.prom").read_bytes()


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {key: text for key, text in os.environ.items() if not key.startswith("VLLMWATCH_")}
    command = [sys.executable, "-m", "vllmwatch", "exporter", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_process_that_is_asked_to_end_ends_well(tmp_path: Path, number: signal.Signals) -> None:
    exporter = ExporterProcess(tmp_path, ("--no-discover",))
    exporter.start()
    os.kill(exporter.pid, number)
    deadline = time.monotonic() + 15
    while exporter.running() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert exporter.stop() == 0


def test_a_taken_address_is_one_clear_line(tmp_path: Path) -> None:
    with serving(vllm(PAGE)) as other:
        result = run(tmp_path, "--listen", f"127.0.0.1:{other.port}", "--no-discover")
    assert result.returncode == 1
    assert f"cannot listen on 127.0.0.1:{other.port}: Address already in use\nhint: " in result.stderr
    assert "Traceback" not in result.stderr


def test_every_address_includes_those_of_ipv4() -> None:
    with _listen("::", 0) as listening, socket.create_connection(("127.0.0.1", listening.getsockname()[1]), 5):
        pass
    with _listen("127.0.0.1", 0) as listening:
        assert listening.getsockname()[0] == "127.0.0.1"


def test_a_signal_reads_the_configuration_anew_and_a_bad_one_is_refused(tmp_path: Path) -> None:
    config = tmp_path / "vllmwatch.yml"
    with serving(vllm(PAGE)) as one, serving(vllm(PAGE)) as other:
        config.write_text(f"node: box\ndiscover: false\ntargets: ['{one.url()}']\n")
        exporter = ExporterProcess(tmp_path)
        exporter.start()
        try:
            assert value(exporter.page(), "vllmwatch_target_up", server=f"box:{one.port}") == 1
            config.write_text(f"node: box\ndiscover: false\ntragets: ['{other.url()}']\n")
            os.kill(exporter.pid, signal.SIGHUP)
            wait_until(exporter, "vllmwatch_config_last_reload_successful", 0)
            assert value(exporter.page(), "vllmwatch_target_up", server=f"box:{one.port}") == 1
            assert "did you mean 'targets'" in exporter.log.read_text()
            config.write_text(f"node: box\ndiscover: false\ntargets: ['{other.url()}']\n")
            os.kill(exporter.pid, signal.SIGHUP)
            wait_until(exporter, "vllmwatch_config_last_reload_successful", 1)
            page = exporter.page()
            assert value(page, "vllmwatch_target_up", server=f"box:{other.port}") == 1
            assert value(page, "vllmwatch_target_up", server=f"box:{one.port}") is None
        finally:
            exporter.stop()


def wait_until(exporter: ExporterProcess, name: str, wanted: float) -> None:
    deadline = time.monotonic() + 15
    while value(exporter.page(), name) != wanted:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_many_scrapers_at_once_all_get_a_page(tmp_path: Path) -> None:
    with serving(vllm(PAGE)) as server:
        exporter = ExporterProcess(tmp_path, ("--no-discover", "--target", server.url()))
        exporter.start()
        try:
            with ThreadPoolExecutor(20) as pool:
                answers = list(pool.map(lambda _: requests.get(f"{exporter.url}/metrics", timeout=30), range(60)))
            assert {answer.status_code for answer in answers} == {200}
            assert all("vllm:num_requests_running{" in answer.text for answer in answers)
            scraped = sum(request.startswith(b"GET /metrics") for request in server.requests)
            assert scraped < len(answers)
        finally:
            exporter.stop()
