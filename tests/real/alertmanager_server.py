"""A real Alertmanager under a test."""

import subprocess
import time
from pathlib import Path

import requests

from tests.real.alertmanager_programs import command
from tests.real.places import free_port, last_lines

START_SECONDS = 60.0


class AlertmanagerServer:
    """One Alertmanager process on 127.0.0.1 with its data under `folder`, by a configuration file."""

    def __init__(self, program: Path, folder: Path, config: Path, port: int | None = None) -> None:
        self.address = f"127.0.0.1:{port or free_port()}"
        self.url = f"http://{self.address}"
        self.log = folder / "alertmanager.log"
        self._command = [
            *command(program),
            f"--config.file={config}",
            f"--storage.path={folder / 'alertmanager-data'}",
            f"--web.listen-address={self.address}",
            # A lone one; by default it listens for others.
            "--cluster.listen-address=",
        ]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it is ready."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log)
        deadline = time.monotonic() + START_SECONDS
        while not self._is_ready():
            assert self._process.poll() is None, last_lines(self.log)
            assert time.monotonic() < deadline, last_lines(self.log)
            time.sleep(0.1)

    def stop(self) -> None:
        """End it."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(timeout=20)

    def _is_ready(self) -> bool:
        try:
            return requests.get(f"{self.url}/-/ready", timeout=2).ok
        except requests.RequestException:
            return False
