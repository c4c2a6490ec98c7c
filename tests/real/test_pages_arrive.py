"""From a hot GPU and a full KV cache to a page: real vLLM, real Prometheus, real Alertmanager, the shipped rules.

The rules are those that ship, with shorter holds and intervals, since nobody waits ten minutes for a test.
"""

import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
import requests

from tests.fake_nvml import presets
from tests.fake_nvml.cards import processes
from tests.fake_nvml.plugin import child_environment
from tests.fake_nvml.state import State
from tests.real.alertmanager_server import AlertmanagerServer
from tests.real.exporter_process import ExporterProcess
from tests.real.fixtures import StartVllm
from tests.real.load import Load
from tests.real.prometheus_server import PrometheusServer, Scrape
from tests.real.receiver import Receiver
from tests.real.vllm_server import MODEL_NAME, VllmServer
from vllmwatch.catalog.alerts import ALERTS
from vllmwatch.catalog.receivers import RECEIVER_KINDS
from vllmwatch.render.alert_rules import AlertSettings
from vllmwatch.render.alertmanager import Routing
from vllmwatch.render.rule_set import Sources, rule_set
from vllmwatch.spec.receiver import Receiver as Configured
from vllmwatch.spec.receiver import Team
from vllmwatch.stack.prometheus import Prometheus

pytestmark = [
    pytest.mark.real_vllm,
    pytest.mark.real_prometheus,
    pytest.mark.real_alertmanager,
    pytest.mark.fake_nvml,
    pytest.mark.timeout(900),
]
HOT, COOL = 91, 60
GIB = 1 << 30
WAIT_SECONDS = 180.0
# A KV cache of 5,120 tokens: a dozen requests of 1,500 tokens fill it.
SMALL_CACHE = ("--num-gpu-blocks-override", "40")


@dataclass
class Stack:
    """All that runs, and what the receiver was told."""

    vllm: VllmServer
    nvml: State
    exporter: ExporterProcess
    prometheus: PrometheusServer
    alertmanager: AlertmanagerServer
    receiver: Receiver

    def told(self, name: str, status: str) -> list[dict[str, Any]]:
        """Return each alert of a name that the receiver was told of with a status, once however often it was told."""
        found = {
            str(sorted(alert["labels"].items())): alert
            for message in list(self.receiver.messages)
            for alert in message["alerts"]
            if (alert["labels"]["alertname"], alert["status"]) == (name, status)
        }
        return list(found.values())

    def wait_told(self, name: str, status: str = "firing") -> dict[str, Any]:
        """Wait until the receiver was told, and return the one alert."""
        wait_until(lambda: bool(self.told(name, status)), f"{name} did not arrive as {status}")
        (alert,) = self.told(name, status)
        return alert

    def muted(self) -> set[str]:
        """Return the names of alerts that fire and are muted by others."""
        alerts = requests.get(f"{self.alertmanager.url}/api/v2/alerts", timeout=5).json()
        return {alert["labels"]["alertname"] for alert in alerts if alert["status"]["inhibitedBy"]}


def wait_until(condition: Callable[[], bool], fault: str, seconds: float = WAIT_SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, fault
        time.sleep(0.5)


def quick(text: str) -> str:
    """Return rules or routes whose times are seconds."""
    text = re.sub(r"^( +interval:) .*$", r"\1 5s", text, flags=re.MULTILINE)
    text = re.sub(r"^( +for:) .*$", r"\1 5s", text, flags=re.MULTILINE)
    text = re.sub(r"^ +keep_firing_for:.*\n", "", text, flags=re.MULTILINE)
    return re.sub(r"^( +(?:group_wait|group_interval):) .*$", r"\1 2s", text, flags=re.MULTILINE)


def hot_host(pid: int) -> dict[str, str]:
    """Return a host with one L4 on which a process has a model."""
    lines = {key: text for key, text in presets.l4_host().items() if not key.startswith("process.")}
    return lines | {"gpu.0.nvmlDeviceGetTemperature.0": str(COOL)} | processes(("gpu.0", "compute", pid, 12 * GIB))


@pytest.fixture
def stack(
    start_vllm: StartVllm,
    newest_prometheus: Prometheus,
    alertmanager_program: Path,
    fake_nvml_folder: Path,
    tmp_path: Path,
) -> Iterator[Stack]:
    with ExitStack() as running:
        vllm = start_vllm(*SMALL_CACHE)
        worker = next(
            child
            for child in psutil.Process(vllm.pid).children(recursive=True)
            if child.cmdline()[:1] and child.cmdline()[0].startswith(("VLLM::Worker", "VLLM::EngineCore"))
        )
        nvml = State(tmp_path / "nvml.state", hot_host(worker.pid))
        receiver = Receiver()
        running.callback(receiver.close)
        (webhook,) = [kind for kind in RECEIVER_KINDS if kind.word == "webhook"]
        routing = Routing(
            (Configured("hook", webhook, {"url": receiver.url}),), Team("", ("hook",), ("hook",)), heartbeat=None
        )
        for name, text in rule_set(AlertSettings(), routing, Sources()).items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(quick(text))
        exporter = ExporterProcess(
            tmp_path, ("--target", vllm.url), child_environment(fake_nvml_folder, tmp_path / "nvml.state")
        )
        exporter.start()
        running.callback(exporter.stop)
        alertmanager = AlertmanagerServer(alertmanager_program, tmp_path, tmp_path / "alertmanager.yml")
        alertmanager.start()
        running.callback(alertmanager.stop)
        prometheus = PrometheusServer(
            newest_prometheus,
            tmp_path,
            [Scrape("vllmwatch", f"{exporter.url}/metrics", 2.0)],
            tmp_path / "rules",
            alertmanager.url,
        )
        prometheus.start()
        running.callback(prometheus.stop)
        yield Stack(vllm, nvml, exporter, prometheus, alertmanager, receiver)


def keep_busy(url: str, until: threading.Event) -> None:
    """Send requests until told to stop: many small ones first, then more long ones than the KV cache holds."""
    load = Load(url)
    load.many(120, at_once=4, max_tokens=2)
    with ThreadPoolExecutor(14) as pool:

        def long_requests() -> None:
            while not until.is_set():
                try:
                    load.complete("count to a million", max_tokens=1500)
                except requests.RequestException:
                    return

        for _ in range(14):
            pool.submit(long_requests)


@pytest.mark.long
def test_each_fault_is_told_once_and_over_when_it_is_over(stack: Stack) -> None:
    known = {alert.name: alert for alert in ALERTS}
    over = threading.Event()
    busy = threading.Thread(target=keep_busy, args=(stack.vllm.url, over), daemon=True)
    busy.start()
    stack.nvml.set("gpu.0.nvmlDeviceGetTemperature.0", HOT)

    hot = stack.wait_told("GpuTemperatureHigh")
    assert hot["labels"]["severity"] == "ticket"
    assert hot["labels"]["uuid"].startswith("GPU-")
    full = stack.wait_told("KvCacheUsageHigh") if not stack.muted() & {"KvCacheUsageHigh"} else None
    slow = stack.wait_told("RequestLatencyP99High")
    assert slow["labels"]["model_name"] == MODEL_NAME
    for alert in filter(None, (hot, full, slow)):
        name = alert["labels"]["alertname"]
        assert alert["annotations"]["runbook_url"].endswith(f"/runbooks/{known[name].slug}")
        assert f"/d/{known[name].board}" in alert["annotations"]["dashboard_url"]
        assert "<no value>" not in str(alert["annotations"])
        assert len(alert["annotations"]["summary"]) < 80

    over.set()
    stack.vllm.kill()
    down = stack.wait_told("VllmServerDown")
    assert (down["labels"]["severity"], down["labels"]["model_name"]) == ("page", MODEL_NAME)
    wait_until(lambda: "RequestLatencyP99High" in stack.muted(), "the effect of the dead server was not muted")

    stack.nvml.set("gpu.0.nvmlDeviceGetTemperature.0", COOL)
    stack.wait_told("GpuTemperatureHigh", "resolved")
    stack.vllm.launch()
    stack.vllm.wait_ready()
    stack.wait_told("VllmServerDown", "resolved")
    for name in ("GpuTemperatureHigh", "RequestLatencyP99High", "VllmServerDown"):
        assert len(stack.told(name, "firing")) == 1, name
