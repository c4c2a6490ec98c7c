"""A real vLLM server under a test: started, asked, stopped, killed."""

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil
import requests

from tests.real.places import TINY_MODEL, VLLM_ENVIRONMENT, free_port, last_lines
from tests.real.vllm_environment import offline_environment

MODEL_NAME = "org/tiny"
START_SECONDS = 280.0
STOP_SECONDS = 40.0


class VllmServer:
    """One `vllm serve` process of the tiny model on 127.0.0.1, with its engine processes.

    `arguments` are added to the command line, `environment` to the environment. The log is `folder/vllm-PORT.log`.
    """

    def __init__(
        self,
        folder: Path,
        *,
        port: int | None = None,
        arguments: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        program: Path = VLLM_ENVIRONMENT / "bin" / "vllm",
        model: Path = TINY_MODEL,
    ) -> None:
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = folder / f"vllm-{self.port}.log"
        self._environment = {**offline_environment(), **(environment or {})}
        self._command = [
            *(str(program), "serve", str(model), "--served-model-name", MODEL_NAME),
            *("--host", "127.0.0.1", "--port", str(self.port), "--max-model-len", "2048", "--enforce-eager"),
            # vLLM refuses to start unless this share of the machine's memory is free, and by default it wants 0.92 of
            # it: two servers would never stand side by side.
            *("--gpu-memory-utilization", "0.25"),
            *arguments,
        ]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """The process id of the API server."""
        assert self._process is not None, "not started"
        return self._process.pid

    def launch(self) -> None:
        """Start the process and return at once: it listens about 70 s later."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                env=self._environment,
                cwd=self.log.parent,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait_ready(self, timeout: float = START_SECONDS) -> None:
        """Wait until /health answers 200; a server that ends or is late fails with the end of its log."""
        assert self._process is not None, "not started"
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise AssertionError(f"vLLM ended with {self._process.returncode}:\n{last_lines(self.log)}")
            if self.healthy():
                return
            time.sleep(0.5)
        raise AssertionError(f"vLLM is not ready after {timeout:.0f} s:\n{last_lines(self.log)}")

    def start(self) -> None:
        """Start the server and wait until it answers."""
        self.launch()
        self.wait_ready()

    def healthy(self) -> bool:
        """Tell whether /health answers 200 within 2 s."""
        try:
            return requests.get(f"{self.url}/health", timeout=2).status_code == 200
        except requests.RequestException:
            return False

    def page(self, path: str = "/metrics", headers: Mapping[str, str] | None = None) -> str:
        """Return the text of the metrics page."""
        answer = requests.get(self.url + path, headers=headers, timeout=10)
        answer.raise_for_status()
        return answer.text

    def processes(self) -> list[psutil.Process]:
        """Return the server's own process and everything below it."""
        if self._process is None or self._process.poll() is not None:
            return []
        try:
            root = psutil.Process(self._process.pid)
            return [root, *root.children(recursive=True)]
        except psutil.NoSuchProcess:
            return []

    def engine_processes(self) -> list[psutil.Process]:
        """Return the EngineCore processes (vLLM names them by their titles)."""
        return [process for process in self.processes()[1:] if "EngineCore" in " ".join(process.cmdline())]

    def stop(self) -> None:
        """Ask the server to end as an operator would (SIGTERM), and see to it that nothing is left."""
        family = self.processes()
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
        self._reap(family)

    def kill(self) -> None:
        """End the server and its engines at once (SIGKILL), as the kernel's out-of-memory killer would."""
        family = self.processes()
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._reap(family)

    def _reap(self, family: Sequence[psutil.Process]) -> None:
        _, alive = psutil.wait_procs(family, timeout=5)
        for process in alive:
            process.kill()
        psutil.wait_procs(alive, timeout=10)
        if self._process is not None:
            self._process.wait(10)
