"""A real Prometheus under a test: it scrapes what it is told to, and is asked over its API."""

import json
import re
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests

from tests.real.places import free_port, last_lines
from vllmwatch.stack.prometheus import Prometheus

START_SECONDS = 60.0
_OWN_SAMPLE = re.compile(r"^(?P<series>[a-z_:]+(?:\{[^}]*\})?) (?P<value>\S+)$")


@dataclass(frozen=True, slots=True)
class Scrape:
    """One page to scrape, as a job of its own, at this interval."""

    job: str
    url: str
    interval_seconds: float = 0.5
    honor_labels: bool = True

    def config(self) -> dict[str, Any]:
        """Return the entry of `scrape_configs`."""
        parts = urlsplit(self.url)
        milliseconds = f"{self.interval_seconds * 1000:.0f}ms"
        return {
            "job_name": self.job,
            "scheme": parts.scheme,
            "metrics_path": parts.path or "/metrics",
            "honor_labels": self.honor_labels,
            "scrape_interval": milliseconds,
            "scrape_timeout": milliseconds,
            "static_configs": [{"targets": [parts.netloc]}],
        }


class PrometheusServer:
    """One Prometheus process on 127.0.0.1 with its data under `folder`.

    It loads the rules in the folder `rules`, and tells the Alertmanager at the address `alertmanager`.

    It logs at level debug, where Prometheus tells of pages that it could not read.
    """

    def __init__(
        self,
        program: Prometheus,
        folder: Path,
        scrapes: Sequence[Scrape],
        rules: Path | None = None,
        alertmanager: str | None = None,
    ) -> None:
        self.program = program
        self.url = f"http://127.0.0.1:{free_port()}"
        self.log = folder / f"prometheus-{program.version}.log"
        self._config = folder / f"prometheus-{program.version}.yml"
        self._data = folder / f"prometheus-{program.version}-data"
        config: dict[str, Any] = {"scrape_configs": [scrape.config() for scrape in scrapes]}
        if rules is not None:
            config["rule_files"] = [str(rules / "*.yml")]
        if alertmanager is not None:
            targets = {"targets": [urlsplit(alertmanager).netloc]}
            config["alerting"] = {"alertmanagers": [{"static_configs": [targets]}]}
        # JSON is YAML.
        self._config.write_text(json.dumps(config))
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start Prometheus and wait until it answers."""
        command = [
            str(self.program.path),
            f"--config.file={self._config}",
            f"--storage.tsdb.path={self._data}",
            f"--web.listen-address={urlsplit(self.url).netloc}",
            "--log.level=debug",
        ]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, cwd=self.log.parent
            )
        deadline = time.monotonic() + START_SECONDS
        while not self._ready():
            assert self._process.poll() is None, f"Prometheus ended:\n{last_lines(self.log)}"
            assert time.monotonic() < deadline, f"Prometheus is not ready:\n{last_lines(self.log)}"
            time.sleep(0.1)

    def stop(self) -> None:
        """Ask Prometheus to end; kill it after 20 s."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def get(self, path: str, **parameters: str) -> Any:
        """Return the data of an API call that must succeed (`/api/v1/…`)."""
        answer = requests.get(self.url + path, params=parameters, timeout=10).json()
        assert answer["status"] == "success", answer
        return answer["data"]

    def query(self, expression: str) -> list[tuple[dict[str, str], float]]:
        """Return the instant vector of an expression: labels and value of each sample."""
        data = self.get("/api/v1/query", query=expression)
        assert data["resultType"] == "vector", data
        return [(sample["metric"], float(sample["value"][1])) for sample in data["result"]]

    def value(self, expression: str) -> float:
        """Return the value of an expression that gives exactly one sample."""
        result = self.query(expression)
        assert len(result) == 1, f"{expression}: {result}"
        return result[0][1]

    def wait_for_scrapes(self, job: str, count: int, timeout: float = 120) -> None:
        """Wait until a job was scraped this often, whether it answered or not."""
        deadline = time.monotonic() + timeout
        while sum(value for _, value in self.query(f'count_over_time(up{{job="{job}"}}[1h])')) < count:
            assert time.monotonic() < deadline, f"{job}: fewer than {count} scrapes in {timeout:.0f} s"
            time.sleep(0.5)

    def own_samples(self) -> dict[str, float]:
        """Return the samples of Prometheus' own page, by series as it is written."""
        page = requests.get(f"{self.url}/metrics", timeout=10).text
        found = (_OWN_SAMPLE.match(line) for line in page.splitlines())
        return {match["series"]: float(match["value"]) for match in found if match}

    def complaints(self) -> list[str]:
        """Return the lines of the log that warn, report an error, or tell of a page that was not taken whole."""
        wrong = re.compile(r"level=(warn|error)|append failed|error on ingesting|scrape failed", re.IGNORECASE)
        return [line for line in self.log.read_text(errors="replace").splitlines() if wrong.search(line)]

    def _ready(self) -> bool:
        try:
            return requests.get(f"{self.url}/-/ready", timeout=2).status_code == 200
        except requests.RequestException:
            return False
