"""The exporter as its users run it: a process of its own."""

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import requests

from tests.real.places import ROOT, free_port, last_lines

START_SECONDS = 60.0


class ExporterProcess:
    """One `python -m vllmwatch exporter` on 127.0.0.1, without any configuration of this machine.

    `arguments` follow `--listen`; `environment` is the whole environment (that of this process where it is None),
    from which settings of vllmwatch are taken out. `before` are the words of a program that starts it.
    """

    def __init__(
        self,
        folder: Path,
        arguments: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        before: Sequence[str] = (),
    ) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = folder / f"exporter-{self.port}.log"
        self._folder = folder
        self._command = [
            *before,
            sys.executable,
            "-m",
            "vllmwatch",
            "exporter",
            "--listen",
            f"127.0.0.1:{self.port}",
            *arguments,
        ]
        inherited = dict(os.environ if environment is None else environment)
        kept = {key: text for key, text in inherited.items() if key.startswith("VLLMWATCH_FAKE_")}
        self._environment = {
            **{key: text for key, text in inherited.items() if not key.startswith("VLLMWATCH_")},
            **kept,
            "PYTHONPATH": str(ROOT),
            "PYTHONUNBUFFERED": "1",
        }
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """The process id."""
        assert self._process is not None, "not started"
        return self._process.pid

    def start(self) -> None:
        """Start the exporter and wait until it has a first sample (/-/ready answers 200)."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                env=self._environment,
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        deadline = time.monotonic() + START_SECONDS
        while not self._ready():
            assert self._process.poll() is None, f"the exporter ended:\n{last_lines(self.log)}"
            assert time.monotonic() < deadline, f"the exporter is not ready:\n{last_lines(self.log)}"
            time.sleep(0.1)

    def page(self, path: str = "/metrics") -> str:
        """Return the text of a page that must answer 200."""
        answer = requests.get(self.url + path, timeout=20)
        assert answer.status_code == 200, answer.text
        return answer.text

    def running(self) -> bool:
        """Tell whether the process is there."""
        assert self._process is not None, "not started"
        return self._process.poll() is None

    def stop(self) -> int:
        """Ask the exporter to end (SIGTERM); kill it after 15 s; returns its exit status."""
        assert self._process is not None, "not started"
        self._process.terminate()
        try:
            return self._process.wait(15)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def _ready(self) -> bool:
        try:
            return requests.get(f"{self.url}/-/ready", timeout=5).status_code == 200
        except requests.RequestException:
            return False
