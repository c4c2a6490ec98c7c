"""The world in which boards are tried: real Prometheus, Alertmanager, exporters and vLLM, and all that can go wrong.

The rules are those that ship, with intervals, holds, offsets and steps of seconds, since nobody waits for hours.
"""

import json
import math
import os
import re
import signal
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import requests

from tests.fake_nvml import presets
from tests.fake_nvml.plugin import child_environment
from tests.fake_nvml.state import State
from tests.real.alertmanager_server import AlertmanagerServer
from tests.real.board_gpus import Gpus, KernelLog, gpus
from tests.real.board_servers import Servers
from tests.real.exporter_process import ExporterProcess
from tests.real.load import Load
from tests.real.prometheus_server import PrometheusServer, Scrape
from tests.real.receiver import Receiver
from tests.real.vllm_server import VllmServer
from vllmwatch.catalog.receivers import RECEIVER_KINDS
from vllmwatch.render.alert_rules import AlertSettings
from vllmwatch.render.alertmanager import Routing
from vllmwatch.render.rule_set import Sources, rule_set
from vllmwatch.spec.receiver import Receiver as Configured
from vllmwatch.spec.receiver import Team
from vllmwatch.stack.prometheus import Prometheus

SCRAPE_SECONDS = 2
NODE, SECOND_NODE = "gpu-1", "gpu-2"
REAL_SERVER = f"{NODE}:real"
LASTS_SECONDS = 85.0
# Two exporters, Alertmanager and Prometheus itself.
PAGES = 4
_TICK_SECONDS = 2.0
_STEP_SECONDS = 5

Labels = dict[str, str]


def quick(text: str) -> str:
    """Return rules or routes whose times are seconds: what they say is the same, over a life of a minute."""
    text = re.sub(r"^( +interval:) .*$", rf"\1 {SCRAPE_SECONDS}s", text, flags=re.MULTILINE)
    text = re.sub(r"^( +for:) .*$", r"\1 2s", text, flags=re.MULTILINE)
    text = re.sub(r" offset [0-9]+[smhd]", " offset 20s", text)
    text = re.sub(r"\[[0-9]+[smhd]:[0-9]+[smhd]\]", "[10m:10s]", text)
    return re.sub(r"^( +(?:group_wait|group_interval):) .*$", r"\1 2s", text, flags=re.MULTILINE)


class BoardWorld:
    """A world that has been, and can be asked about.

    `prometheus` has all that was scraped and recorded from `begun` to `ended` (seconds since the epoch); nothing is
    added to it any more.
    """

    def __init__(self, prometheus: PrometheusServer, begun: float, ended: float) -> None:
        self.prometheus = prometheus
        self.begun = begun
        self.ended = ended

    def names(self) -> set[str]:
        """Return the names of all series that were there at any time."""
        return set(self.prometheus.get("/api/v1/label/__name__/values"))

    def query(self, expression: str, at: float | None = None) -> list[tuple[Labels, float]]:
        """Return labels and value of each sample at a moment, the last one unless it is given.

        A scalar is one sample without labels. Fails where the expression is none.
        """
        data = self.prometheus.get("/api/v1/query", query=expression, time=str(self.ended if at is None else at))
        if data["resultType"] == "scalar":
            return [({}, float(data["result"][1]))]
        assert data["resultType"] == "vector", f"{expression}: a {data['resultType']} is nothing to draw"
        return [(sample["metric"], float(sample["value"][1])) for sample in data["result"]]

    def series(self, expression: str) -> list[tuple[Labels, list[tuple[float, float]]]]:
        """Return labels, and times with values every few seconds, of each series over the whole time."""
        data = self.prometheus.get(
            "/api/v1/query_range",
            query=expression,
            start=str(self.begun),
            end=str(self.ended),
            step=f"{_STEP_SECONDS}s",
        )
        return [
            (found["metric"], [(float(when), float(value)) for when, value in found["values"]])
            for found in data["result"]
        ]

    def shows(self, expression: str) -> bool:
        """Tell whether an expression gives a sample that is a number at any moment."""
        if any(not math.isnan(value) for _, value in self.query(expression)):
            return True
        return any(not math.isnan(value) for _, points in self.series(expression) for _, value in points)

    def fired(self) -> set[str]:
        """Return the names of the alerts that fired at any time."""
        found = self.query('count by (alertname) (last_over_time(ALERTS{alertstate="firing"}[1h]))')
        return {labels["alertname"] for labels, _ in found}


class _Making:
    """The world while it is being made. `running` ends what `live` started."""

    def __init__(
        self,
        folder: Path,
        running: ExitStack,
        programs: tuple[Prometheus, Path],
        fake_nvml_folder: Path,
        vllm: VllmServer,
    ) -> None:
        self._folder = folder
        self._vllm = vllm
        self._running = running
        self._nvml_folder = fake_nvml_folder
        self._servers = Servers(running)
        self._gpus = Gpus(folder / "gpu-1.state", gpus(self._engine_pid()))
        self._second_gpus = State(folder / "gpu-2.state", presets.h100_host(2))
        self._kernel_log = KernelLog(folder / "kmsg")
        self._receiver = Receiver()
        running.callback(self._receiver.close)
        self._write_rules()
        self._first = self._exporter(NODE, self._gpus.state)
        self._second = self._exporter(SECOND_NODE, self._second_gpus)
        self._alertmanager = AlertmanagerServer(programs[1], folder, folder / "alertmanager.yml")
        self.prometheus = self._prometheus(programs[0])

    def _engine_pid(self) -> int:
        """Return the pid of the process of the real server that would use a GPU."""
        (engine,) = self._vllm.engine_processes()
        workers = [child for child in engine.children() if "Worker" in " ".join(child.cmdline())]
        return (workers or [engine])[0].pid

    def _write_rules(self) -> None:
        (webhook,) = [kind for kind in RECEIVER_KINDS if kind.word == "webhook"]
        nobody = Configured("nobody", webhook, {"url": "http://127.0.0.1:9/hook"})
        hook = Configured("hook", webhook, {"url": self._receiver.url})
        routing = Routing((hook, nobody), Team("", ("hook",), ("nobody",)), heartbeat=None)
        (self._folder / "rules").mkdir()
        for name, text in rule_set(AlertSettings(), routing, Sources()).items():
            (self._folder / name).write_text(quick(text))

    def _exporter(self, node: str, state: State) -> ExporterProcess:
        broken = self._folder / "broken.json"
        broken.write_text("{")
        real = [{"url": self._vllm.url, "server": REAL_SERVER}] if node == NODE else []
        settings: dict[str, Any] = {
            "node": node,
            "discover": False,
            "discover_interval_seconds": 5,
            "targets": [*real, *self._servers.targets(node)],
            "target_files": [str(broken)],
            "servers": self._servers.mappings(node),
            "kernel_log": str(self._kernel_log.path) if node == NODE else "",
            "price_per_gpu_hour": 3.6,
            "price_per_kilowatt_hour": 0.3,
        }
        path = self._folder / f"{node}.yml"
        path.write_text(json.dumps(settings))
        environment = child_environment(self._nvml_folder, state.path)
        return ExporterProcess(self._folder, ("--config", str(path)), environment)

    def _prometheus(self, program: Prometheus) -> PrometheusServer:
        """Return a Prometheus that scrapes all others, and itself."""
        pages = {NODE: self._first.url, SECOND_NODE: self._second.url, "alertmanager": self._alertmanager.url}
        scrapes = [Scrape(job, f"{url}/metrics", SCRAPE_SECONDS) for job, url in pages.items()]
        server = PrometheusServer(program, self._folder, scrapes, self._folder / "rules", self._alertmanager.url)
        config = json.loads(server._config.read_text())
        config["scrape_configs"].append(Scrape("prometheus", f"{server.url}/metrics", SCRAPE_SECONDS).config())
        for scrape in config["scrape_configs"]:
            if scrape["job_name"] in {NODE, SECOND_NODE}:
                scrape["relabel_configs"] = [{"target_label": "job", "replacement": "vllmwatch"}]
        server._config.write_text(json.dumps(config))
        return server

    def live(self) -> BoardWorld:
        """Let the world go on for its time, and return what is left of it."""
        self._alertmanager.start()
        self._running.callback(self._alertmanager.stop)
        for exporter in (self._first, self._second):
            exporter.start()
            self._running.callback(exporter.stop)
        self.prometheus.start()
        begun = time.time()
        over = threading.Event()
        busy = threading.Thread(target=self._keep_busy, args=(over,), daemon=True)
        busy.start()
        try:
            self._happen()
            ended = self._well()
        finally:
            over.set()
            busy.join(60)
        self._freeze()
        return BoardWorld(self.prometheus, begun, ended)

    def _well(self) -> float:
        """Return a moment at which all pages had been scraped, which takes a slow machine more than one try."""
        deadline = time.monotonic() + 60
        while True:
            now = time.time()
            # A scrape bears the time at which it began: those under way now are of this moment too, if they end well.
            time.sleep(SCRAPE_SECONDS + 1)
            found = self.prometheus.get("/api/v1/query", query="up", time=str(now))["result"]
            if len(found) == PAGES and all(sample["value"][1] == "1" for sample in found):
                return now
            assert time.monotonic() < deadline, f"not all is up: {found}"

    def _keep_busy(self, over: threading.Event) -> None:
        """Send the real server a few requests at a time, some of which have a beginning in common."""
        load = Load(self._vllm.url)
        common = "from os import path " * 100
        while not over.is_set():
            load.many(4, at_once=2, max_tokens=24)
            load.complete(common, max_tokens=8, stream=True)
            load.abort(max_tokens=200)
            load.wrong_model()
            over.wait(1)

    def _happen(self) -> None:
        """Let things happen, each at its time in seconds after the start."""
        events = {
            15: (self._gpus.worsen, self._kernel_log.tell, self._servers.leave, self._second_gpus.lose_driver),
            25: (self._servers.restart, self._second_gpus.restore_driver),
            35: (self._servers.restart, self._kernel_log.tell, self._second.stop),
            47: (self._servers.restart, self._lose_one_gpu, self._second.start),
            57: (self._servers.restart, self._misconfigure),
        }
        started = time.monotonic()
        while (seconds := time.monotonic() - started) < LASTS_SECONDS:
            self._gpus.tick(seconds)
            for due in [each for each in events if each <= seconds]:
                for event in events.pop(due):
                    event()
            time.sleep(_TICK_SECONDS)

    def _lose_one_gpu(self) -> None:
        """Have the second node come back with one GPU less, of which its exporter knows nothing."""
        self._second_gpus.replace(presets.h100_host(1))

    def _misconfigure(self) -> None:
        """Give the second exporter a configuration that it refuses."""
        (self._folder / f"{SECOND_NODE}.yml").write_text("lisen: 127.0.0.1:1\n")
        os.kill(self._second.pid, signal.SIGHUP)

    def _freeze(self) -> None:
        """Have Prometheus neither scrape nor evaluate any more, so that it costs nothing while it is asked."""
        self.prometheus._config.write_text("{}")
        assert self.prometheus._process is not None
        os.kill(self.prometheus._process.pid, signal.SIGHUP)
        deadline = time.monotonic() + 30
        while self.prometheus.get("/api/v1/rules")["groups"] or self._scrapes():
            assert time.monotonic() < deadline, "Prometheus did not take its new configuration"
            time.sleep(0.2)

    def _scrapes(self) -> bool:
        answer = requests.get(f"{self.prometheus.url}/api/v1/targets", timeout=10).json()
        return bool(answer["data"]["activeTargets"])


def make_board_world(
    folder: Path,
    prometheus: Prometheus,
    alertmanager: Path,
    fake_nvml_folder: Path,
    vllm: VllmServer,
    running: ExitStack,
) -> BoardWorld:
    """Make a world, which takes about a minute and a half, and return it; `running` ends what is left of it.

    All but Prometheus has ended when this returns, `vllm` aside, which is left running.
    """
    with ExitStack() as ending:
        making = _Making(folder, ending, (prometheus, alertmanager), fake_nvml_folder, vllm)
        running.callback(making.prometheus.stop)
        return making.live()
